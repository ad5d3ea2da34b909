"""What a claim names, and a paper on that claim names too: the drug, exposure, disease or group of people that was studied.

A paper on dipyridamole shares nearly every word with a claim on aspirin, and neither a ranking nor a reader is sure to notice.
The names are data (names.txt, made by retrieval/training/names.py): words that stand in titles often, and that the paper of a
claim rarely lacks where the claim contains them.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache, lru_cache
from pathlib import Path

from retrieval.core.errors import ModelUnusable
from retrieval.words.aboutness import find_terms
from retrieval.words.lay import expand
from retrieval.words.lexical import split_terms
from retrieval.words.synonyms import find_shared_terms

NAMES = Path(__file__).with_name("names.txt")
_WORD = re.compile(r"\w+(?:[-'’]\w+)*")
_SHORTEST, _ENDING = 5, 3
"""Words are related if they have the same beginning: all but the last letters of the name, and at least the shortest."""


def find_unnamed(claim: str, text: str) -> tuple[str, ...]:
    """The names in the claim, as it writes them, that a text contains in no form, spelling or synonym."""
    names = find_names(claim)
    if not names:
        return ()
    spelt_out = expand(text)
    shared, terms = find_shared_terms(claim, spelt_out), find_terms(spelt_out)
    missing = frozenset(term for term in names if term not in shared and not contains_relative(term, terms))
    return tuple(dict.fromkeys(word for whole in _WORD.findall(claim) for word in _find_words(whole, missing)))


def _find_words(whole: str, missing: frozenset[str]) -> list[str]:
    """The parts of a word with hyphens that are among the missing terms, or the word if only as a whole it is."""
    parts = [part for part in whole.split("-") if not missing.isdisjoint(split_terms(part))]
    return parts or ([whole] if not missing.isdisjoint(split_terms(whole)) else [])


@lru_cache(maxsize=256)
def find_names(claim: str) -> frozenset[str]:
    """The terms of a claim that are names."""
    return _load_names().intersection(split_terms(claim))


def contains_relative(term: str, terms: Collection[str]) -> bool:
    """Whether one of the terms begins as this one does: "cirrhotic" stands for "cirrhosis"."""
    beginning = term[: max(_SHORTEST, len(term) - _ENDING)]
    return len(term) > _SHORTEST and any(other.startswith(beginning) for other in terms)


@cache
def _load_names() -> frozenset[str]:
    try:
        return frozenset(line for line in NAMES.read_text("utf-8").splitlines() if line and not line.startswith("#"))
    except OSError as error:
        raise ModelUnusable(f"The word list {NAMES} cannot be read ({error}); reinstall the package.") from error
