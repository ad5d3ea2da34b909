"""Abbreviations, acronyms, and what a claim names.

Abbreviations are those that patients and titles use (abbreviations.tsv), and acronyms that a text introduces itself.

The long form of "polycystic ovary syndrome (PCOS)" is looked for in the words before the bracket, as many as Schwartz and Hearst
do (2003, Pacific Symposium on Biocomputing, p. 451), but of one noun phrase: each of its words gives the acronym its first
letter, and perhaps further ones. Small words ("quality of life") may give none, and so may one other, if no form does without.
Words joined by hyphens are one. A long form crosses no bracket, comma or stop: of "women control (WC) and trained (WCT)", the
second acronym stays as it is.

A paper on a claim names what the claim names: the drug, exposure, disease or group of people that was studied. A paper
on dipyridamole shares nearly every word with a claim on aspirin, and neither a ranking nor a reader is sure to notice. The names
are data (names.txt, made by retrieval/training/words/names.py): words that stand in titles often, and that the paper of a claim
rarely lacks where the claim contains them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from functools import cache, lru_cache
from pathlib import Path

from retrieval.core.characters import fold_accents, unify_characters
from retrieval.core.errors import BadConfig
from retrieval.core.word_list import read_shipped, read_word_list
from retrieval.words.terms import find_shared_terms, find_terms, split_terms

_ABBREVIATIONS_FILE = Path(__file__).with_name("abbreviations.tsv")
WORD = re.compile(r"\w+(?:['’\-]\w+)*")
_DEFINED = re.compile(r"\(([A-Z][A-Za-z0-9-]{1,9})\)")
_BREAK = re.compile(r"[()\[\],;:.!?](?=\s|$)|[()\[\]]")
"""Where a noun phrase ends."""
_SMALL = frozenset("a an and de for in of or the".split())
_LINKS = frozenset("is are was were be been has have had that which who to with by on at as from than versus vs".split())
"""Words of a noun phrase that an acronym may leave out, and words that are in none."""
_EXTRA = 5
"""Words that a long form may have beyond the letters of its acronym; it has at most twice as many."""


@cache
def load_abbreviations() -> Mapping[str, str]:
    """The shipped table, by abbreviation as it is written."""
    return read_abbreviations(read_shipped(_ABBREVIATIONS_FILE))


def read_abbreviations(text: str) -> dict[str, str]:
    """Read a table with one abbreviation, tab and expansion per line; lines that begin with # state its source.

    Raises `BadConfig` for a wrong line.
    """
    table: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        short, _, long = (part.strip() for part in line.partition("\t"))
        if not (short and long) or short in table:
            raise BadConfig(f"Line {number} of the abbreviations should be a new abbreviation, a tab and what it stands for.")
        table[short] = long
    return table


def expand(text: str) -> str:
    """The text followed by the expansions of its abbreviations, once each."""
    known = load_abbreviations()
    found: dict[str, None] = {}
    for word in WORD.findall(unify_characters(text)):
        for form in (word, word.removesuffix("s")):
            if form in known:
                found[known[form]] = None
                break
    return " ".join([text, *found])


@lru_cache(maxsize=512)
def find_acronyms(passage: str) -> tuple[tuple[str, str], ...]:
    """Each acronym that a text introduces in brackets, with its long form."""
    passage, found = unify_characters(passage), dict[str, str]()
    for place in _DEFINED.finditer(passage):
        acronym, before = place.group(1), _BREAK.split(passage[: place.start()])[-1].split()
        if sum(letter.isupper() for letter in acronym) > 1:
            words = _find_long_form(acronym, before[-min(len(acronym) + _EXTRA, 2 * len(acronym)) :])
            if words:
                found.setdefault(acronym, words)
    return tuple(found.items())


def _find_long_form(acronym: str, before: list[str]) -> str:
    """Of the words before an acronym the last ones that spell it, best with a letter from each word; "" if none do."""
    letters = "".join(letter.lower() for letter in acronym if letter.isalnum())
    forms = [before[start:] for start in reversed(range(len(before))) if before[start][:1].lower() == letters[:1]]
    for spare in (0, 1) if len(letters) > 2 else (0,):
        spelt = [form for form in forms if _spells([word.lower() for word in form], letters, spare)]
        if spelt:
            # max() takes the first of equals, the shortest.
            return " ".join(spelt[0] if spare else max(spelt, key=_count_content))
    return ""


def _count_content(words: Iterable[str]) -> int:
    return sum(word.lower() not in _SMALL for word in words)


def _spells(words: list[str], letters: str, spare: int) -> bool:
    """Whether each word gives the acronym its first letter, and perhaps others in their order; small words may give none, and
    neither may so many `spare` words."""
    if not words or not letters:
        return not letters and (not words or (spare > 0 and len(words) == 1 and words[0] not in _LINKS))
    if words[0] in _SMALL and _spells(words[1:], letters, spare):
        return True
    if words[0][0] == letters[0]:
        at = 0
        for taken, letter in enumerate([*letters[1:], ""], 1):
            if _spells(words[1:], letters[taken:], spare):
                return True
            at = words[0].find(letter, at + 1)
            if at < 0:
                break
    return spare > 0 and words[0] not in _LINKS | _SMALL and _spells(words[1:], letters, spare - 1)


NAMES_FILE = Path(__file__).with_name("names.txt")
_SAME, _ENDING = 6, 2
"""A word is a form of a name if both begin alike: all but the name's last two letters, and at least six. Shorter names have no
other forms."""


def find_unnamed(claim: str, text: str) -> tuple[str, ...]:
    """The names in the claim, as it writes them, that a text contains in no form, spelling or synonym."""
    plain = fold_accents(claim)
    names = _load_names().intersection(split_terms(plain))
    missing = find_missing(names, plain, text) if names else frozenset[str]()
    return tuple(dict.fromkeys(word for whole in WORD.findall(claim) for word in _list_missing_parts(whole, missing)))


def find_missing(names: Collection[str], claim: str, text: str) -> frozenset[str]:
    """Those of the claim's terms `names` that a text contains in no form, spelling or synonym."""
    spelt_out = expand(fold_accents(text))
    terms = find_terms(spelt_out)
    held = terms | find_shared_terms(claim, spelt_out)
    beginnings = {term: term[: max(_SAME, len(term) - _ENDING)] for term in names if term not in held}
    return frozenset(
        term for term, start in beginnings.items() if len(term) < _SAME or not any(other.startswith(start) for other in terms)
    )


def _list_missing_parts(whole: str, missing: Collection[str]) -> list[str]:
    """The parts of a word with hyphens that hold a missing term; if none does, the whole word if it does."""
    for words in (whole.split("-"), [whole]):
        if held := [word for word in words if any(term in missing for term in split_terms(fold_accents(word)))]:
            return held
    return []


@cache
def _load_names() -> frozenset[str]:
    return frozenset(read_word_list(NAMES_FILE))
