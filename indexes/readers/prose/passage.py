"""A text to check, whatever it was read from: plain characters, the blocks that they form, and superscripts as characters."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from counterpoint.indexes.readers.base.raised import write_raised
from counterpoint.retrieval.core.errors import BadInput

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


class Pieces:
    """Characters in their order, some of them superscripts, and the links among them: what a paragraph is put together from."""

    def __init__(self) -> None:
        self._pieces: list[tuple[str, bool]] = []
        self._links: list[tuple[int, int, str]] = []

    def __len__(self) -> int:
        return len(self._pieces)

    def add(self, text: str, raised: bool = False) -> None:
        """Append some characters."""
        self._pieces.append((text, raised))

    def link(self, start: int, address: str) -> None:
        """Link the pieces from the one at `start`; without any, a note's mark, the address belongs to the character before."""
        if address:
            self._links.append((start, len(self._pieces), address))

    def finish(self) -> tuple[str, tuple[Link, ...]]:
        """The text without white space around it, and its links."""
        parts, starts, length, before = [], [], 0, ""
        for raised, group in groupby(self._pieces, key=lambda piece: piece[1]):
            texts = [text for text, _ in group]
            shown = write_raised(before, "".join(texts)) if raised else "".join(texts)
            place = length
            for text in texts:
                starts.append(place)
                place += 0 if raised else len(text)
            parts.append(shown)
            length += len(shown)
            before = (before + shown)[-20:]
        starts.append(length)
        text = "".join(parts)
        lead = len(text) - len(text.lstrip())
        spans = ((starts[start] - (start == end) - lead, starts[end] - lead, address) for start, end, address in self._links)
        return text.strip(), tuple(Link(max(0, start), max(0, end), address) for start, end, address in spans)
