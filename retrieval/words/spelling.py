"""British and American spellings: one form for comparing words, and the other form of a query's words for searching.

"Metabolism" begins as "metabolise" does, so what follows "is" is looked at as well: only verb endings count.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from pathlib import Path

from retrieval.core.errors import ModelUnusable

_LIST = Path(__file__).with_name("spelling.txt")
_WORD = re.compile(r"[A-Za-z]+")
_VERB = "(?=e$|ed$|es$|er$|ers$|ing$|able$|ation$|ations$)"
"""What may follow a stem in -is: "organised", but not "organism"."""


@cache
def _load_rules() -> tuple[re.Pattern[str], dict[str, str], tuple[tuple[re.Pattern[str], str], ...]]:
    """All British parts in one pattern, so that most words are passed over at once; the list; each part as a pattern."""
    try:
        lines = [line.split() for line in _LIST.read_text("utf-8").splitlines() if line and not line.startswith("#")]
        pairs = [(british, american) for british, american in lines if british.strip("^$") != american]
    except (OSError, ValueError) as error:
        raise ModelUnusable(f"The word list {_LIST} cannot be read ({error}); reinstall the package.") from error
    rules = tuple((re.compile(part + (_VERB if part.endswith("is") else "")), american) for part, american in pairs)
    return re.compile("|".join(part for part, _ in pairs)), dict(pairs), rules


@lru_cache(maxsize=65536)
def americanise(word: str) -> str:
    """The American form of one lower-case word; the word itself where there is none."""
    any_part, _, rules = _load_rules()
    if any_part.search(word):
        for pattern, form in rules:
            word = pattern.sub(form, word)
    return word


def americanise_text(text: str) -> str:
    """The text with every British word in its American form; a capital at its start stays."""

    def changed(match: re.Match[str]) -> str:
        word = match.group()
        low = word.lower()
        other = americanise(low)
        if other == low:
            return word
        return other.capitalize() if word[0].isupper() else other

    return _WORD.sub(changed, text)


@lru_cache(maxsize=4096)
def list_british_forms(word: str) -> tuple[str, ...]:
    """British forms of a lower-case word that are written back to it; empty where there is none."""
    found = []
    for part, form in _load_rules()[1].items():
        start, end = ("^" if part.startswith("^") else ""), ("$" if part.endswith("$") else "")
        pattern = re.compile(start + re.escape(form) + (_VERB if part.endswith("is") else "") + end)
        other = pattern.sub(part.strip("^$"), word)
        if other != word and americanise(other) == word:
            found.append(other)
    return tuple(dict.fromkeys(found))


def add_other_spellings(query: str) -> str:
    """The query with the other spelling of each of its words behind it, for a search that knows words by their letters."""
    words = dict.fromkeys(word.lower() for word in _WORD.findall(query))
    others = [
        other
        for word in words
        for other in (*_list_american_form(word), *list_british_forms(americanise(word)))
        if other not in words
    ]
    return " ".join([query, *dict.fromkeys(others)]) if others else query


def _list_american_form(word: str) -> tuple[str, ...]:
    other = americanise(word)
    return () if other == word else (other,)
