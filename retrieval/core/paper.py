"""One paper as sentences with their place in it: what evidence is looked for in.

Plain, frozen values; reading files is `indexes.readers.paper`'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

SectionKind = Literal["abstract", "introduction", "methods", "results", "discussion", "conclusion", "other"]
"""What a heading stands for."""
Role = Literal["background", "methods", "results", "conclusion"]
"""What a sentence does in a paper: it tells the background, how something was done, what came out, or what follows."""
ROLE_OF: Mapping[SectionKind, Role] = {
    "introduction": "background",
    "methods": "methods",
    "results": "results",
    "discussion": "conclusion",
    "conclusion": "conclusion",
}
"""The role of the sentences in a section; that of an abstract as a whole or of another section is not known."""


@dataclass(frozen=True, slots=True)
class PaperSentence:
    """A sentence of a paper: `text == paper.text[start:end]`, `index` counts from 0 in the whole paper, headings included.

    `section` is the nearest heading above it as it is printed ("" where there is none) and `kind` what that heading stands for.
    `position` of `length` counts from 0 within the run of sentences of one kind, headings left out: 0 is the section's opening,
    `length` - 1 its end. A heading is a sentence with `heading` True: it is never evidence.
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
