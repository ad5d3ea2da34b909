"""Superscripts in plain text: an exponent after a "^", the number of a reference in brackets, anything else as it is."""

from __future__ import annotations

import re
from itertools import groupby

from service.checking.readers.passage import Link

_BASE = re.compile(r"(?<![\d.,])(?:10|\d)$")
_EXPONENT = re.compile(r"[+−–-]?\d+")
_REFERENCES = re.compile(r"\d{1,3}(?:\s*[,;–—-]\s*\d{1,3})*")
# What a reference follows: a word, a longer number, the end of a clause; "m²", "Ca²⁺" and "¹⁸F" have none of these.
_BEFORE_REFERENCE = re.compile(r"(?:[^\W\d_]{3}|\d|[.,;:!?)\]\"'”’%])$")
_WORD = re.compile(r"[^\W\d_]{3}$")


def write_raised(before: str, raised: str) -> str:
    """The characters for a superscript after `before`: "10⁹" is "10^9", "adults.³" is "adults.[3]", and "m²" is "m2"."""
    bare = raised.strip()
    behind = raised[len(raised.rstrip()) :]
    if _BASE.search(before) and _EXPONENT.fullmatch(bare):
        return f"^{bare}{behind}"
    if _REFERENCES.fullmatch(bare) and _BEFORE_REFERENCE.search(before):
        return f"[{bare}]{behind}"
    return f"^{raised}" if bare[:1].isalpha() and _WORD.search(before) else raised


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
