"""Acronyms that a text introduces itself.

The long form of "polycystic ovary syndrome (PCOS)" is looked for in the words before the bracket, as many as Schwartz and Hearst
do (2003, Pacific Symposium on Biocomputing, p. 451), but of one noun phrase: each of its words gives the acronym its first
letter, and perhaps further ones. Small words ("quality of life") may give none, and so may one other, if no form does without.
Words joined by hyphens are one. A long form crosses no bracket, comma or stop: of "women control (WC) and trained (WCT)", the
second acronym stays as it is.
"""

from __future__ import annotations

import re
from functools import lru_cache

from counterpoint.retrieval.core.characters import unify_characters

_DEFINED = re.compile(r"\(([A-Z][A-Za-z0-9-]{1,9})\)")
_BREAK = re.compile(r"[()\[\],;:.!?](?=\s|$)|[()\[\]]")
"""Where a noun phrase ends."""
_SMALL = frozenset("a an and de for in of or the".split())
_LINKS = frozenset("is are was were be been has have had that which who to with by on at as from than versus vs".split())
"""Words of a noun phrase that an acronym may leave out, and words that are in none."""
_EXTRA = 5
"""Words that a long form may have beyond the letters of its acronym; it has at most twice as many."""


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
            return " ".join(spelt[0] if spare else max(spelt, key=lambda form: sum(word.lower() not in _SMALL for word in form)))
    return ""


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
