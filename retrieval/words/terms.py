"""The terms of a text, how rare each is, and how many of a query's rare ones another text contains.

A reranker sees a query and texts, not the collection, so the inverse document frequencies come from a fixed table, made once
from PubMed abstracts and trial reports (retrieval/training/frequencies.py). Words are stemmed lightly and hashed into the
table: at 131,072 places two words of one text rarely meet.

A ranking shows which text is best, not whether the best is any good: if a collection has nothing on a subject, its best matches
still share the common words. The share of a query's rare words does not depend on the other hits, so it tells both cases apart.

Patients and papers have different words for the same thing: a paper on myocardial infarction matches a question about heart
attacks. The groups of such words are data (synonyms.txt). A group applies only if a question contains one of its names in full;
then a text that contains another of them, or a member of the class that it names, counts as containing the first one's words
too.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from counterpoint.retrieval.core.characters import fold_accents
from counterpoint.retrieval.core.errors import ModelUnusable
from counterpoint.retrieval.core.word_list import read_sections, read_word_list
from counterpoint.retrieval.words.forms import americanise, join_symbols

RARITY = Path(__file__).parent.parent / "models" / "relevance" / "rarity.npz"
PLACES = 1 << 17
MEAN_LENGTH = 165.0
"""Terms in a usual abstract, title included: BM25's mean document length (measured on SciFact's 5,183 abstracts)."""
_K1, _B = 0.9, 0.4
_WORD = re.compile(r"[a-z0-9]+")
_STOP = frozenset(
    "a an and are as at be but by for if in into is it of on or such that the their then there these they this to was "
    "will with".split()
)
_ASKING = Path(__file__).with_name("asking.txt")


def split_terms(text: str) -> list[str]:
    """Lower-case words, no stop words, no accents, in American spelling, Greek letters by name, plural and verb endings cut."""
    found = []
    for word in _WORD.findall(fold_accents(join_symbols(text)).lower()):
        if word in _STOP:
            continue
        word = americanise(word)
        for ending in ("ing", "ed", "es", "s"):
            if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
                word = word[: -len(ending)]
                break
        found.append(word[:-1] if word.endswith("e") and len(word) > 4 else word)
    return found


# Some 20 kB for an abstract: enough for the documents and sentences of a claim, and no more than 10 MB of a service.
@lru_cache(maxsize=512)
def find_terms(text: str) -> frozenset[str]:
    """A text's terms. Queries of one topic come back to the same texts: their words are found once."""
    return frozenset(split_terms(text))


def find_rare_words(query: str) -> dict[str, float]:
    """The query's terms, each with its inverse document frequency."""
    rarity = load_shipped_rarity()
    return {term: float(rarity[locate_term(term)]) for term in dict.fromkeys(split_terms(query))}


def find_subject(question: str) -> dict[str, float]:
    """The terms of a question that show what it is about, with their rarity: those that merely phrase a question are left out."""
    return {term: weight for term, weight in find_rare_words(question).items() if term not in _load_asking_terms()}


@cache
def _load_asking_terms() -> frozenset[str]:
    """Terms that say nothing about a subject: "What is the best treatment for …", "The patient would like to know …"."""
    return frozenset(term for line in read_word_list(_ASKING) for term in split_terms(line))


def weigh_share(wanted: dict[str, float], held: frozenset[str]) -> float:
    """The weight of the wanted words that are in `held`, over the weight of all: 0 to 1, and 0 if nothing is wanted."""
    whole = sum(wanted.values())
    # In the query's order, so that another process gets the same sum to the last digit.
    return sum(weight for term, weight in wanted.items() if term in held) / whole if whole else 0.0


def measure_aboutness(query: str, text: str) -> float:
    """The share of the query's rare words that the text contains, 0 to 1."""
    return weigh_share(find_rare_words(query), find_terms(text))


def score_lexically(query: str, texts: Sequence[str], idf: NDArray[np.float32]) -> NDArray[np.float64]:
    """[texts]: BM25 of each text divided by the query's maximum possible BM25, so 0 to 1 whatever the query's length.

    Robertson and Zaragoza 2009 (doi:10.1561/1500000019), k1 0.9 and b 0.4; `idf` is [PLACES].
    """
    wanted = {term: float(idf[locate_term(term)]) for term in set(split_terms(query))}
    most = sum(wanted.values()) or 1.0
    scores = np.zeros(len(texts))
    for row, text in enumerate(texts):
        words = split_terms(text)
        counts = Counter(words)
        norm = _K1 * (1 - _B + _B * len(words) / MEAN_LENGTH)
        scores[row] = sum(weight * counts[term] / (counts[term] + norm) for term, weight in wanted.items()) / most
    return scores


def locate_term(term: str) -> int:
    """The term's place in the table of weights."""
    return zlib.crc32(term.encode()) % PLACES


@cache
def load_shipped_rarity() -> NDArray[np.float32]:
    """[PLACES]: the word weights that ship with the relevance model."""
    return read_rarity_tables(RARITY)[1]


def read_rarity_tables(path: Path) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Inverse document frequencies of word pieces [vocabulary] and of words [PLACES].

    Raises `ModelUnusable` where the file is missing or damaged.
    """
    try:
        with np.load(path) as tables:
            return tables["pieces"].astype(np.float32), tables["words"].astype(np.float32)
    except (OSError, ValueError, KeyError) as error:
        raise ModelUnusable(f"{path} cannot be read ({error}); reinstall the package.") from error


_SYNONYMS = Path(__file__).with_name("synonyms.txt")
_GENUS = re.compile(r"\b[A-Z]\.\s*(?=[a-z])")
"""The first letter of a genus, as in "H. pylori"."""
Phrase = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """A line of the list: names of one thing, the members of its class, and which of these are treatments of that class.

    `same` says that one name may be read for another.
    """

    same: bool
    names: tuple[str, ...]
    members: tuple[str, ...] = ()
    treatments: tuple[str, ...] = ()


@cache
def _load_groups() -> Mapping[str, Sequence[tuple[Phrase, Group]]]:
    """Each name with its group; by the name's first term, in the file's order."""
    found: dict[str, list[tuple[Phrase, Group]]] = defaultdict(list)
    for heading, lines in read_sections(_SYNONYMS).items():
        for line in lines:
            left, mark, right = re.split(r" (>>?) ", line, maxsplit=1) if " >" in line else (line, "", "")
            members = tuple(right.split(" / ")) if mark else ()
            group = Group(heading == "names", tuple(left.split(" / ")), members, members if mark == ">>" else ())
            for name in _split_phrases(group.names):
                found[name[0]].append((name, group))
    return found


def _split_phrases(names: Sequence[str]) -> tuple[Phrase, ...]:
    return tuple(dict.fromkeys(terms for name in names if (terms := tuple(split_terms(name)))))


@lru_cache(maxsize=256)
def find_groups(text: str) -> Mapping[Phrase, Sequence[Group]]:
    """Each name of a group that the text holds, as terms, with its groups; in the text's order."""
    words = split_terms(text)
    found: dict[Phrase, list[Group]] = {}
    for at, term in enumerate(words):
        for phrase, group in _load_groups().get(term, ()):
            if tuple(words[at : at + len(phrase)]) == phrase and group not in found.setdefault(phrase, []):
                found[phrase].append(group)
    return found


@lru_cache(maxsize=256)
def find_synonyms(text: str) -> tuple[tuple[Phrase, tuple[Phrase, ...]], ...]:
    """Each name of a group that the text holds, with the other names and the members of its groups."""
    return tuple(
        (phrase, tuple(dict.fromkeys(other for group in groups for other in _list_others(group) if other != phrase)))
        for phrase, groups in find_groups(text).items()
    )


@cache
def _list_others(group: Group) -> tuple[Phrase, ...]:
    return _split_phrases((*group.names, *group.members))


def find_shared_terms(query: str, text: str) -> frozenset[str]:
    """The terms that a text contains, and those of the query that it expresses in other words.

    A letter or digit belongs to the word before it, unless it stands for a genus ("H. pylori"): a text on vitamin C does not
    match vitamin E. A name of several words is expressed as a whole or not at all: a text on cancer of the colon does not
    match half of "stomach cancer".
    """
    expressed = _express(query, text)
    missing = [name for name, _ in find_synonyms(query) if len(name) > 1 and not expressed.issuperset(name)]
    return expressed - {term for name in missing for term in name}


def _express(query: str, text: str) -> frozenset[str]:
    terms = find_terms(text)
    if pairs := [pair for pair in pairwise(split_terms(_GENUS.sub("", query))) if len(pair[1]) == 1 and pair[1] != "s"]:
        words = split_terms(text)
        terms -= {term for pair in pairs if not _contains_phrase(pair, words) for term in pair}
    return terms | {term for name, others in find_synonyms(query) for other in others if terms.issuperset(other) for term in name}


def weigh_shared_terms(query: str, wanted: dict[str, float], text: str) -> float:
    """The weight of the wanted query terms that a text contains in the same or other words, over the weight of all."""
    return weigh_share(wanted, find_shared_terms(query, text))


def _contains_phrase(phrase: Phrase, words: Sequence[str]) -> bool:
    return any(tuple(words[at : at + len(phrase)]) == phrase for at in range(len(words) - len(phrase) + 1))
