"""A text to check, whatever it was read from: plain characters and the blocks that they form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from retrieval.core.errors import BadInput

MOST_CHARACTERS = 5_000_000
"""The limit for a text, whatever it was read from; the longest books have fewer."""
BlockKind = Literal["heading", "paragraph", "item", "cell", "claim"]
"""A cell belongs to a table; a claim is an entry of a list of claims, and is taken as it is."""


@dataclass(frozen=True, slots=True)
class Block:
    """A span of the text that no sentence crosses; offsets into the text. `row` is its line in a list of claims, from 1."""

    start: int
    end: int
    kind: BlockKind = "paragraph"
    row: int = 0


@dataclass(frozen=True, slots=True)
class Link:
    """Words of the text that were a link, and its address; offsets into the text."""

    start: int
    end: int
    address: str


@dataclass(frozen=True, slots=True)
class Passage:
    """The text with its blocks in order, which never overlap; the white space between blocks belongs to none."""

    text: str
    blocks: tuple[Block, ...]
    links: tuple[Link, ...] = ()


class Writing:
    """Builds a passage, block by block."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._blocks: list[Block] = []
        self._links: list[Link] = []

    def add(self, text: str, kind: BlockKind = "paragraph", links: tuple[Link, ...] = (), row: int = 0) -> None:
        """Append a block; its links have offsets into its own text. White space alone is no block."""
        if not text.strip():
            return
        start = self._length
        self._blocks.append(Block(start, start + len(text), kind, row))
        self._links += [Link(start + one.start, start + one.end, one.address) for one in links]
        self._parts.append(text)
        self._length += len(text) + 2

    def done(self) -> Passage:
        """The passage; between two blocks there is an empty line."""
        return Passage("\n\n".join(self._parts), tuple(self._blocks), tuple(self._links))


def check_length(text: str, name: str) -> str:
    """The text, if it is not too long; raises `BadInput` for any other."""
    if len(text) > MOST_CHARACTERS:
        raise BadInput(f"{name} has {len(text):,} characters and at most {MOST_CHARACTERS:,} are read; check it in parts.")
    return text
