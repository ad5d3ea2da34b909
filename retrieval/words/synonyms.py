"""Patients' and papers' words for the same thing: a paper on myocardial infarction matches a question about heart attacks.

The groups are data (synonyms.txt). A group applies only if a question contains one of its names in full; then a text that
contains another of them, or a member of the class that it names, counts as containing the first one's words too.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path

from retrieval.core.word_list import read_sections
from retrieval.words.terms import find_terms, split_terms, weigh_share

_FILE = Path(__file__).with_name("synonyms.txt")
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
    for heading, lines in read_sections(_FILE).items():
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
    return expressed - {term for name in _list_missing(query, expressed) for term in name}


def _express(query: str, text: str) -> frozenset[str]:
    terms = find_terms(text)
    if pairs := [pair for pair in pairwise(split_terms(_GENUS.sub("", query))) if len(pair[1]) == 1 and pair[1] != "s"]:
        words = split_terms(text)
        terms -= {term for pair in pairs if not _contains_phrase(pair, words) for term in pair}
    return terms | {term for name, others in find_synonyms(query) for other in others if terms.issuperset(other) for term in name}


def _list_missing(query: str, expressed: frozenset[str]) -> list[Phrase]:
    return [name for name, _ in find_synonyms(query) if len(name) > 1 and not expressed.issuperset(name)]


def weigh_shared_terms(query: str, wanted: dict[str, float], text: str) -> float:
    """The weight of the wanted query terms that a text contains in the same or other words, over the weight of all."""
    return weigh_share(wanted, find_shared_terms(query, text))


def _contains_phrase(phrase: Phrase, words: Sequence[str]) -> bool:
    return any(tuple(words[at : at + len(phrase)]) == phrase for at in range(len(words) - len(phrase) + 1))
