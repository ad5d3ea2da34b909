"""The words of medical questions (grammar.txt) and the forms of their verbs."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from retrieval.core.word_list import read_sections

_FILE = Path(__file__).with_name("grammar.txt")
_VOWEL = "aeiou"


def inflect(verb: str, auxiliary: str) -> str:
    """The verb as it stands without its auxiliary."""
    low = verb.lower()
    if auxiliary == "do":
        return low
    if auxiliary == "does":
        return make_third_person(low)
    return make_past(low)


def make_third_person(verb: str) -> str:
    """ "lower" as "lowers", "carry" as "carries"."""
    if verb in {"have", "be"}:
        return {"have": "has", "be": "is"}[verb]
    if verb.endswith("y") and verb[-2:-1] not in _VOWEL:
        return f"{verb[:-1]}ies"
    return f"{verb}es" if verb.endswith(("s", "x", "z", "ch", "sh", "o")) else f"{verb}s"


def make_past(verb: str) -> str:
    """ "lower" as "lowered", "stop" as "stopped"."""
    if verb in load_irregular():
        return load_irregular()[verb][1]
    if verb.endswith("e"):
        return f"{verb}d"
    return f"{verb[:-1]}ied" if verb.endswith("y") and verb[-2:-1] not in _VOWEL else f"{verb}ed"


@cache
def load_words(name: str) -> frozenset[str]:
    """The words of a section of grammar.txt."""
    return frozenset(word for line in _load_sections()[name] for word in line.split())


@cache
def load_irregular() -> dict[str, tuple[str, str, str]]:
    """The irregular verbs, by base form: base, past and participle."""
    found = {}
    for forms in (part for line in _load_sections()["irregular"] for part in line.split("/")):
        base, was, been = forms.split()
        found[base] = (base, was, been)
    return found


@cache
def _load_sections() -> dict[str, list[str]]:
    return read_sections(_FILE)
