"""Marks: what the stance model gets to know about each word besides its spelling.

From tens of thousands of pairs, a 22-million-parameter encoder learns that "raises" and "suppresses" point in opposite
directions only where it sees both words. A word list provides this for all its words at once, so every token carries a
mark of three parts, whose embedding the model adds to the token's as BERT adds the segment's:

* the segment: claim, judged text, or its title;
* the direction of the word: none, up, down, negation, or "no difference";
* how it matches the other text: not at all, the same word is there, its opposite is there, a different number is there, or
  only the title contains the word.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding

from retrieval.core.word_list import read_sections

SEGMENTS = ("claim", "text", "title")
DIRECTIONS = ("none", "up", "down", "negation", "null")
MEETINGS = ("none", "same", "opposite", "other number", "title only")
MARKS = len(SEGMENTS) * len(DIRECTIONS) * len(MEETINGS)
TITLE_BREAK = "\n"
"""Stands between the judged text and its title in the second text of a pair."""

_NUMBER = re.compile(r"\d+")


def make_mark(segment: int, direction: int, meeting: int) -> int:
    """The three parts as one token type id, below `MARKS`."""
    return (segment * len(DIRECTIONS) + direction) * len(MEETINGS) + meeting


def drop_directions(marks: NDArray[np.int64]) -> NDArray[np.int64]:
    """Marks of any shape without their directions: some training pairs use these, so that words not on the list count too."""
    meetings, directions = len(MEETINGS), len(DIRECTIONS)
    return marks // (directions * meetings) * (directions * meetings) + marks % meetings


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """A light stem, so that "reduces" and "reduced" match: plural and regular verb endings are removed."""
    for ending in ("ations", "ation", "ings", "ing", "ies", "ied", "ed", "es", "ly", "s", "y", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word


class Lexicon:
    """The word list, looked up by exact word or by the prefixes that end in `*`."""

    def __init__(self, sections: Mapping[str, Sequence[str]]) -> None:
        """`sections` has the words of each direction under its name, and "a / b" lines under "opposites"."""
        self._direction: dict[str, int] = {}
        self._side: dict[str, set[int]] = {}
        for direction in DIRECTIONS:
            for word in " ".join(sections.get(direction, ())).split():
                self._direction.setdefault(word, DIRECTIONS.index(direction))
        for pair, line in enumerate(sections.get("opposites", ()), 1):
            for sign, side in zip((1, -1), line.split("/"), strict=True):
                for word in side.split():
                    self._side.setdefault(word, set()).add(sign * pair)
        self._look_up_once = lru_cache(maxsize=65536)(self._look_up)

    @classmethod
    def read(cls, path: Path) -> Lexicon:
        """Read the list. Raises `ModelUnusable` if it cannot be read or has an entry outside its sections."""
        return cls(read_sections(path))

    def _look_up(self, word: str) -> tuple[int, frozenset[int]]:
        prefixes = [word, *(word[:length] + "*" for length in range(len(word), 1, -1))]
        direction = next((self._direction[key] for key in prefixes if key in self._direction), 0)
        sides = [self._side[key] for key in prefixes if key in self._side]
        return direction, frozenset().union(*sides)

    def direction(self, word: str) -> int:
        """Index into `DIRECTIONS`."""
        return self._look_up_once(word)[0]

    def sides(self, word: str) -> frozenset[int]:
        """Signed numbers of the pairs of opposites the word belongs to: `n` and `-n` are opposites."""
        return self._look_up_once(word)[1]


class Marker:
    """Marks the tokens of a (claim, text + TITLE_BREAK + title) pair; the engine calls it once per pair."""

    size = MARKS

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon

    def __call__(self, first: str, second: str, encoding: Encoding) -> list[int]:
        """One token type id per token of `encoding`; special tokens carry the segment of their side and nothing else."""
        title_at = second.find(TITLE_BREAK)
        title_at = len(second) if title_at < 0 else title_at
        words = _list_words((first.lower(), second.lower()), encoding, title_at)
        texts: tuple[dict[str, None], ...] = ({}, {}, {})
        for _, segment, word in words:
            texts[segment].setdefault(word)
        stems = [{stem(word) for word in text} for text in texts]
        sides = [frozenset().union(*(self._lexicon.sides(word) for word in text)) for text in texts]
        numbers = [any(_NUMBER.fullmatch(word) for word in text) for text in texts]
        marks = [make_mark(0 if side == 0 else 1, 0, 0) for side in _fill_sides(encoding.sequence_ids)]
        for tokens, segment, word in words:
            other = 1 if segment == 0 else 0
            root = stem(word)
            if root in stems[other]:
                meeting = 1
            elif any(-side in sides[other] for side in self._lexicon.sides(word)):
                meeting = 2
            elif _NUMBER.fullmatch(word) and numbers[other]:
                meeting = 3
            elif segment == 0 and root in stems[2]:
                meeting = 4
            else:
                meeting = 0
            value = make_mark(segment, self._lexicon.direction(word), meeting)
            for token in tokens:
                marks[token] = value
        return marks


def _fill_sides(sides: list[int | None]) -> list[int]:
    """The side of each token; a separator belongs to the text it ends."""
    token_sides, last = [], 0
    for side in sides:
        last = last if side is None else side
        token_sides.append(last)
    return token_sides


def _list_words(texts: tuple[str, str], encoding: Encoding, title_at: int) -> list[tuple[list[int], int, str]]:
    """The words of both texts as (token positions, segment, lower-case word), in order."""
    words: list[tuple[list[int], int, str]] = []
    previous: tuple[int, int] | None = None
    spans: list[tuple[int, int, int, list[int]]] = []
    for token, (side, word, (start, end)) in enumerate(
        zip(encoding.sequence_ids, encoding.word_ids, encoding.offsets, strict=True)
    ):
        if side is None or word is None:
            previous = None
        elif previous == (side, word):
            begin, _, where, tokens = spans[-1]
            tokens.append(token)
            spans[-1] = (begin, end, where, tokens)
        else:
            spans.append((start, end, side, [token]))
            previous = (side, word)
    for start, end, side, tokens in spans:
        segment = 0 if side == 0 else (2 if start > title_at else 1)
        words.append((tokens, segment, texts[side][start:end]))
    return words
