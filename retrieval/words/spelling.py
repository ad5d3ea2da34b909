"""British and American spellings: one form for comparing words, and the other form of a query's words for searching.

"Metabolism" begins as "metabolise" does, so what follows "is" is looked at as well: only verb endings count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path

from retrieval.core.errors import ModelUnusable
from retrieval.core.word_list import read_word_list

_LIST = Path(__file__).with_name("spelling.txt")
_WORD = re.compile(r"[A-Za-z]+")
_PIECES = re.compile(r"([A-Za-z]+)")
_VERB = "(?=e$|ed$|es$|er$|ers$|ing$|able$|ability$|ation$|ations$)"
"""What may follow a stem in -is: "organised", but not "organism"."""
_Rule = tuple[re.Pattern[str], str]
"""What is looked for, and what is written in its place."""


@cache
def _read_pairs() -> tuple[tuple[str, str], ...]:
    """Each line's two forms: British and American, or with a hyphen and without."""
    try:
        return tuple((first, second) for first, second in map(str.split, read_word_list(_LIST)))
    except ValueError as error:
        raise ModelUnusable(f"The word list {_LIST} cannot be read ({error}); reinstall the package.") from error


@cache
def _load_rules() -> tuple[re.Pattern[str], tuple[_Rule, ...], tuple[_Rule, ...]]:
    """All British parts in one pattern, so that most words are passed over at once; what writes British, what American."""
    pairs = [(one, american) for one, american in _read_pairs() if one.strip("^$") != american and "-" not in one]
    american_to_british = tuple((_compile_back(part, american), part.strip("^$")) for part, american in pairs)
    british_to_american = tuple((re.compile(part + (_VERB if part.endswith("is") else "")), american) for part, american in pairs)
    return re.compile("|".join(part for part, _ in pairs)), american_to_british, british_to_american


@cache
def _load_hyphens() -> tuple[re.Pattern[str], dict[str, str]]:
    """The hyphens that join the parts of one word, and, by that word's part, how it is written with one."""
    joined = {one: parted for parted, one in _read_pairs() if "-" in parted}
    # It begins with the hyphen itself, so that texts are passed over quickly.
    places = "|".join(f"(?<={before}-)(?={behind})" for before, behind in (parted.split("-") for parted in joined.values()))
    return re.compile(f"-(?:{places})", re.IGNORECASE), joined


def join_hyphens(text: str) -> str:
    """The text without the hyphens of words that others write in one: "pre-eclampsia" as "preeclampsia"."""
    return _load_hyphens()[0].sub("", text) if "-" in text else text


def list_hyphened_forms(text: str) -> list[str]:
    """The words of a text that others write with a hyphen, in that spelling, in lower case."""
    words = dict.fromkeys(word.lower() for word in _WORD.findall(text))
    return [word.replace(one, parted) for word in words for one, parted in _load_hyphens()[1].items() if one in word]


def _compile_back(part: str, american: str) -> re.Pattern[str]:
    start, end = ("^" if part.startswith("^") else ""), ("$" if part.endswith("$") else "")
    return re.compile(start + re.escape(american) + (_VERB if part.endswith("is") else "") + end)


@lru_cache(maxsize=65536)
def americanise(word: str) -> str:
    """The American form of one lower-case word; the word itself if there is none."""
    any_part, _, rules = _load_rules()
    if any_part.search(word):
        for pattern, form in rules:
            word = pattern.sub(form, word)
    return word


def americanise_text(text: str) -> str:
    """The text with every British word in its American form; a capital at its start stays."""
    return "".join(map(_americanise_piece, _PIECES.split(text)))


@lru_cache(maxsize=65536)
def _americanise_piece(piece: str) -> str:
    """A word as it stands in a text, or what stands between two."""
    low = piece.lower()
    other = americanise(low)
    if other == low:
        return piece
    return other.capitalize() if piece[0].isupper() else other


@lru_cache(maxsize=4096)
def list_british_forms(word: str) -> tuple[str, ...]:
    """British forms of a lower-case word that are written back to it; empty where there is none."""
    found: dict[str, None] = {}
    # "Anaesthetised" has two parts that differ: what one of them makes is looked at again for the other.
    waiting = [word]
    while waiting:
        for other in _write_british(waiting.pop()):
            if other != word and other not in found and americanise(other) == word:
                found[other] = None
                waiting.append(other)
    return tuple(found)


def list_other_spellings(text: str) -> list[str]:
    """The other spellings of the words of a text, each once, for a search that matches words literally."""
    words = dict.fromkeys(word.lower() for word in _WORD.findall(text))
    others = [other for word in words for other in (americanise(word), *list_british_forms(americanise(word)))]
    return [other for other in dict.fromkeys(others) if other not in words]


def _write_british(word: str) -> Iterator[str]:
    """The word with one American part in its British form, for each part that it has."""
    for pattern, part in _load_rules()[1]:
        yield pattern.sub(part, word)
