"""The kind of section that a heading begins, by the words in headings.yaml."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path

import yaml

from retrieval.core.values import PaperSentence, SectionKind

_HEADINGS = Path(__file__).parent / "headings.yaml"
# "2.1 ", "IV. ", "A) ": numbering in front of a heading.
_NUMBERING = re.compile(r"^(?:section\s+)?(?:\d+(?:\.\d+)*|[ivx]{1,5}(?=[.)\s])|[a-h](?=[.)]))[.):]?\s+")
_BELOW = re.compile(r"\d+\.\d+")
_LONGEST = 8
"""The most words that a heading on a line of its own may have."""


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a paper as its source gives it, before it is assigned to a section: a heading, or a sentence with its offsets.

    `kind` is what the source itself says about it (an <abstract>), None where headings have to decide. A heading that is `marked`
    as one (Markdown's #) begins a section of the paper: it is not a label within an abstract.
    """

    start: int
    end: int
    heading: bool = False
    kind: SectionKind | None = None
    marked: bool = False


@cache
def _load_table() -> tuple[tuple[SectionKind, frozenset[str], tuple[str, ...]], ...]:
    """For each kind, its entries and those that also match as prefixes."""
    data: dict[SectionKind, list[str]] = yaml.safe_load(_HEADINGS.read_text("utf-8"))
    return tuple(
        (
            kind,
            frozenset(entry.removesuffix("*") for entry in entries),
            tuple(entry.removesuffix("*") for entry in entries if entry.endswith("*")),
        )
        for kind, entries in data.items()
    )


def find_heading_kind(heading: str) -> SectionKind | None:
    """The kind of section that a heading begins, None where its words do not say."""
    words = " ".join(heading.lower().replace("’", "'").split())
    words = _NUMBERING.sub("", words).strip(" .:;–—-*#")
    if not words:
        return None
    for kind, whole, _ in _load_table():
        if words in whole:
            return kind
    for kind, _, beginnings in _load_table():
        if words.startswith(beginnings):
            return kind
    return None


def looks_like_heading(line: str) -> bool:
    """Whether a line on its own is a heading: a few words that name a kind of section and do not form a sentence.

    "Results." is one and "Results improved." is not: a line that ends in a full stop must match an entry as a whole.
    """
    words = _NUMBERING.sub("", line.strip().lower())
    bare = words.rstrip(":.")
    if len(bare.split()) > _LONGEST or re.search(r"[.!?;,:]\s", bare):
        return False
    if words.endswith("."):
        return any(not whole.isdisjoint({bare, bare.removesuffix("s")}) for _, whole, _ in _load_table())
    return find_heading_kind(bare) is not None


# Sections whose subheadings name what was measured or done, and stay in them.
_KEEPS: frozenset[SectionKind] = frozenset({"methods", "results", "discussion", "conclusion"})


def continue_section(heading: str, parent: SectionKind) -> SectionKind:
    """The kind of what follows a heading when the section so far was `parent`.

    An unknown heading is a subheading within methods, results, discussion or conclusion; elsewhere (after a title, an abstract or
    an introduction) it begins "other". One numbered below a section ("2.2 Outcomes") stays in it whatever its words.
    """
    if parent in _KEEPS and _BELOW.match(heading.strip()):
        return parent
    return find_heading_kind(heading) or (parent if parent in _KEEPS else "other")


def place_sentences(text: str, parts: Sequence[Part]) -> tuple[PaperSentence, ...]:
    """The parts of a paper as sentences with section, kind and position.

    Text without a heading after an abstract that the source marks is the introduction: few journals print a heading over it.
    """
    sections: list[tuple[str, SectionKind]] = []
    section: str = ""
    current_kind: SectionKind = "other"
    previous_kind: SectionKind | None = None
    for part in parts:
        if part.heading:
            section = text[part.start : part.end]
            current_kind = part.kind or continue_section(section, current_kind)
        elif part.kind:
            # The heading of another section, or of the abstract, is not this one's heading.
            section = section if part.kind == current_kind else ""
            current_kind = part.kind
        elif previous_kind == "abstract":
            section, current_kind = "", "introduction"
        previous_kind = part.kind
        sections.append((section, current_kind))
    places = _find_places([kind for _, kind in sections], [part.heading for part in parts])
    return tuple(
        PaperSentence(index, part.start, part.end, text[part.start : part.end], *sections[index], *places[index], part.heading)
        for index, part in enumerate(parts)
    )


def _find_places(kinds: Sequence[SectionKind], headings: Sequence[bool]) -> list[tuple[int, int]]:
    """(position, length) of each row in its run of one kind; headings take the position of what follows them."""
    places: list[tuple[int, int]] = []
    for _, run in groupby(range(len(kinds)), key=lambda row: kinds[row]):
        rows = list(run)
        length, position = sum(not headings[row] for row in rows), 0
        for row in rows:
            places.append((position, length))
            position += not headings[row]
    return places
