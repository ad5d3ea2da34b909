"""Whether a few words state something or are keywords: by their verb, its form and the words beside it.

"Zinc shortens colds" is a statement; "lung cancer causes" and "exercise induced asthma" are not. Neither capitals nor a full stop
matter.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from generation.grammar import load_irregular, load_words, make_past, make_third_person
from retrieval.core.characters import unify_characters
from retrieval.core.word_list import read_sections

_FILE = Path(__file__).with_name("verbs.txt")
FEW = 8
"""In more words, any form of a verb counts, and so does an article: keywords are few, or have neither."""
_MADE = re.compile(r".{3}(?:[iy][sz]es|ifies)$")
"""The endings of verbs that no list has all of: "hospitalises"."""
_JOINED = 6
"""In fewer words, some participles join nouns: "exercise induced asthma"."""
_PREFIX = re.compile(r"\b(up|down|over|under|re|co|de|auto|cross)-(?=\w)", re.IGNORECASE)
_COMPOUND = re.compile(r"\b\w+(?:[-‐–]\w+)+")
_WORD = re.compile(r"[^\W_]+(?:['.][^\W_]+)*|[,;:()–—-]")


def is_statement(text: str) -> bool:
    """Whether a text has a verb that makes it a statement; keywords and titles have none."""
    return bool(find_verb(text))


def find_verb(text: str) -> str:
    """The first word, in lower case, that makes a text a statement: a verb, in a long text also an article; "" if none does."""
    # A part of a compound is no verb: "antibiotic-associated diarrhoea".
    words = _WORD.findall(_COMPOUND.sub("compound", _PREFIX.sub(r"\1", unify_characters(text))).lower())
    places = range(1, len(words))
    if sum(word[0].isalnum() for word in words) <= FEW:
        return next((words[place] for place in places if _states(words, place)), "")
    forms = _load("auxiliaries") | _load("articles") | _load_forms("s") | _load_forms("base") | _load_forms("ed")
    return next((words[place] for place in places if words[place] in forms), "")


def _states(words: list[str], place: int) -> bool:
    """Whether the word at a place is a verb that states something."""
    word, before = words[place], words[place - 1]
    behind = words[place + 1] if place + 1 < len(words) else ""
    if word in _load("auxiliaries") or word.endswith("n't"):
        return True
    if before in _load("no verb behind"):
        return False
    # "lung cancer causes", "screening benefits and harms", "drug use in pregnancy"
    has_object = bool(behind) and behind not in _load("no object")
    if word in _load_forms("s") or _MADE.search(word):
        falls_in = word in _load("intransitive") and behind in _load("with verb before")
        return has_object or falls_in or word not in _load("plurals")
    if word in _load_forms("base"):
        if word not in load_words("also nouns") and word not in _load("also nouns"):
            return True
        return behind in _load("articles") or (_is_plural(before) and (has_object or len(words) == 2))
    return word in _load_forms("ed") and not (word in _load("joined") and len(words) < _JOINED and has_object)


def _is_plural(word: str) -> bool:
    return word in _load("people") or (word.endswith("s") and not word.endswith(("ss", "us", "is")))


@cache
def _load_forms(ending: str) -> frozenset[str]:
    verbs = load_words("verbs") | _load("verbs")
    if ending == "base":
        return verbs
    if ending == "s":
        return frozenset(map(make_third_person, verbs))
    return frozenset((*map(make_past, verbs), *(form for forms in load_irregular().values() for form in forms[1:])))


@cache
def _load(section: str) -> frozenset[str]:
    return frozenset(word for line in read_sections(_FILE)[section] for word in line.split())
