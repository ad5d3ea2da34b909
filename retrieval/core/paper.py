"""One paper as sentences with their positions: the text that is searched for evidence.

Plain, frozen values; `indexes.readers.paper` reads the files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

SectionKind = Literal["abstract", "introduction", "methods", "results", "discussion", "conclusion", "other"]
"""What a heading stands for."""
Role = Literal["background", "methods", "results", "conclusion"]
"""What a sentence does in a paper: it gives the background, the methods, the results or the conclusion."""
ROLE_OF: Mapping[SectionKind, Role] = {
    "introduction": "background",
    "methods": "methods",
    "results": "results",
    "discussion": "conclusion",
    "conclusion": "conclusion",
}
"""The role of the sentences in a section; for an unstructured abstract or any other section it is unknown."""


@dataclass(frozen=True, slots=True)
class PaperSentence:
    """A sentence of a paper: `text == paper.text[start:end]`, `index` counts from 0 in the whole paper, headings included.

    `section` is the nearest heading above it as printed ("" if there is none) and `kind` what that heading stands for.
    `position` counts from 0 within the run of `length` sentences of one kind, without headings: 0 is the section's first
    sentence, `length` - 1 its last. A heading is a sentence with `heading` True: it is never evidence.
    """

    index: int
    start: int
    end: int
    text: str
    section: str
    kind: SectionKind
    position: int
    length: int
    heading: bool = False


@dataclass(frozen=True)
class Paper:
    """The sentences of one paper in reading order; offsets are into `text`."""

    text: str
    sentences: tuple[PaperSentence, ...]
    title: str = ""
    id: str = ""

    @cached_property
    def body(self) -> tuple[PaperSentence, ...]:
        """Every sentence that can be evidence: all but the headings."""
        return tuple(sentence for sentence in self.sentences if not sentence.heading)

    @cached_property
    def abstract(self) -> tuple[PaperSentence, ...]:
        """The abstract's sentences."""
        return tuple(sentence for sentence in self.body if sentence.kind == "abstract")
