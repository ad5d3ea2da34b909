"""Acronyms that a text introduces itself: "polycystic ovary syndrome (PCOS)".

The long form is looked for as Schwartz and Hearst do (2003, Pacific Symposium on Biocomputing, p. 451): the letters of the
acronym, from the last to the first, in the words before the bracket, its first letter at the beginning of a word; words joined
by hyphens are one. A long form has no brackets of its own: of "women control (WC) and trained (WCT)", the second acronym stays
as it is.
"""

from __future__ import annotations

import re
from functools import lru_cache

from retrieval.core.characters import unify_characters

_DEFINED = re.compile(r"\(([A-Z][A-Za-z0-9-]{1,9})\)")
_BRACKET = re.compile(r"[()\[\]]")
_EXTRA = 5
"""Words that a long form may have beyond the letters of its acronym; it has at most twice as many."""


def spell_out(text: str, passage: str) -> str:
    """The text with the long form added after each acronym that the passage introduces."""
    for acronym, words in find_acronyms(passage):
        # Not as a template: an abstract may contain backslashes.
        text = f"{acronym} {words}".join(re.split(rf"\b{re.escape(acronym)}s?\b", text))
    return text


@lru_cache(maxsize=512)
def find_acronyms(passage: str) -> tuple[tuple[str, str], ...]:
    """Each acronym that a text introduces in brackets, with its long form."""
    passage, found = unify_characters(passage), dict[str, str]()
    for place in _DEFINED.finditer(passage):
        acronym, before = place.group(1), passage[: place.start()].split()
        if sum(letter.isupper() for letter in acronym) > 1:
            words = _find_long_form(acronym, " ".join(before[-min(len(acronym) + _EXTRA, 2 * len(acronym)) :]))
            if words:
                found.setdefault(acronym, words)
    return tuple(found.items())


def _find_long_form(acronym: str, before: str) -> str:
    letters = [letter.lower() for letter in acronym if letter.isalnum()]
    low, at = before.lower(), len(before)
    for number, letter in reversed(list(enumerate(letters))):
        at -= 1
        while at >= 0 and (low[at] != letter or (number == 0 and at > 0 and (low[at - 1].isalnum() or low[at - 1] == "-"))):
            at -= 1
        if at < 0:
            return ""
    words = before[at:]
    return "" if _BRACKET.search(words) else words
