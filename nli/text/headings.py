"""The kind of section that a heading begins, by the words in headings.yaml."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from counterpoint.retrieval.core.values import SectionKind
from counterpoint.retrieval.core.word_list import read_shipped_yaml

_HEADINGS = Path(__file__).parent / "headings.yaml"
# "2.1 ", "IV. ", "A) ": numbering in front of a heading.
_NUMBERING = re.compile(r"^(?:section\s+)?(?:\d+(?:\.\d+)*|[ivx]{1,5}(?=[.)\s])|[a-h](?=[.)]))[.):]?\s+")
_BELOW = re.compile(r"\d+\.\d+")
_LONGEST = 8
"""The most words that a heading on a line of its own may have."""


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a paper as its source gives it, before it is assigned to a section: a heading, or a sentence of a `paragraph`.

    `kind` is what the source itself says about it (an <abstract>), None where headings have to decide. A heading that is `marked`
    as one (Markdown's #) begins a section of the paper: it is not a label within an abstract.
    """

    text: str
    paragraph: int = 0
    heading: bool = False
    kind: SectionKind | None = None
    marked: bool = False


@cache
def _load_table() -> tuple[tuple[SectionKind, frozenset[str], tuple[str, ...]], ...]:
    """For each kind, its entries and those that also match as prefixes."""
    data: dict[SectionKind, list[str]] = read_shipped_yaml(_HEADINGS)
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
