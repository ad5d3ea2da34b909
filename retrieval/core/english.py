"""The grammar of the sentences that the program writes: counts with their nouns, verbs that agree with them, lists of words."""

from __future__ import annotations

from collections.abc import Sequence


def choose_form(count: int, one: str, more: str) -> str:
    """The word or phrase that goes with so many: "is" or "are", "reply was" or "replies were"."""
    return one if count == 1 else more


def format_count(count: int, noun: str, plural: str = "") -> str:
    """A count with its noun: "1 document", "2,000 documents"; `plural` where it is not the noun with an s."""
    return f"{count:,} {choose_form(count, noun, plural or f'{noun}s')}"


def list_words(words: Sequence[str], link: str = "and") -> str:
    """Words as a list in a sentence: "a", "a and b", "a, b and c"; "" if there are none."""
    return f" {link} ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))
