"""What a claim names, and a paper on that claim names too: the drug, exposure, disease or group of people that was studied.

A paper on dipyridamole shares nearly every word with a claim on aspirin, and neither a ranking nor a reader is sure to notice.
The names are data (names.txt, made by retrieval/training/words/names.py): words that stand in titles often, and that the paper of
a claim rarely lacks where the claim contains them.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection
from functools import cache
from pathlib import Path

from retrieval.core.characters import unify_characters
from retrieval.core.word_list import read_word_list
from retrieval.words.abbreviations import WORD, expand
from retrieval.words.synonyms import find_shared_terms
from retrieval.words.terms import find_terms, split_terms

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
    return frozenset(term for term in names if term not in held and not _contains_form(term, terms))


def fold_accents(text: str) -> str:
    """The text in one form of characters, without accents: "Sjögren" as "Sjogren"."""
    parts = unicodedata.normalize("NFD", unify_characters(text))
    return unicodedata.normalize("NFC", "".join(letter for letter in parts if not unicodedata.combining(letter)))


def _contains_form(term: str, terms: Collection[str]) -> bool:
    beginning = term[: max(_SAME, len(term) - _ENDING)]
    return len(term) >= _SAME and any(other.startswith(beginning) for other in terms)


def _list_missing_parts(whole: str, missing: Collection[str]) -> list[str]:
    """The parts of a word with hyphens that hold a missing term; if none does, the whole word if it does."""
    for words in (whole.split("-"), [whole]):
        if held := [word for word in words if any(term in missing for term in split_terms(fold_accents(word)))]:
            return held
    return []


@cache
def _load_names() -> frozenset[str]:
    return frozenset(read_word_list(NAMES_FILE))
