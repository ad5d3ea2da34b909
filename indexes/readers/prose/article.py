"""A text of headings and paragraphs as a full text: its sections by their headings, and its abstract by its heading or place.

What stands under references, acknowledgements and the like is not the paper's argument and is left out, as in JATS.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, count, groupby

from counterpoint.indexes.readers.prose.passage import Passage
from counterpoint.nli.text.headings import Part, continue_section, find_heading_kind, looks_like_heading
from counterpoint.nli.text.roles import find_abstract_end
from counterpoint.nli.text.sentences import sentence_spans
from counterpoint.retrieval.core.values import Block, Document, FullText, Location, SectionKind

_LEAST_WORDS = 6
"""Of a cell of a table, which says nothing without its row if it has fewer."""


def read_article(passage: Passage, source: str = "") -> FullText:
    """The full text of a paper that was read as a text; it has no blocks if no sentence is in it."""
    return make_article(_mark_abstract(_drop_back_matter(_list_parts(passage))), source)


def read_sentences(sentences: Sequence[str]) -> FullText:
    """The same of a paper given as its sentences, each a paragraph; a short one whose words name a section is a heading."""
    texts = [" ".join(one.split()) for one in sentences]
    return make_article(_mark_abstract([Part(text, number, looks_like_heading(text)) for number, text in enumerate(texts)]))


def make_article(parts: Sequence[Part], source: str = "") -> FullText:
    """Headings and sentences in their order as a full text, a block for each paragraph of a section."""
    numbers = Counter[tuple[SectionKind, str]]()
    blocks: list[Block] = []
    for (_, section, kind), group in groupby(_place(parts), key=lambda placed: (placed[0].paragraph, *placed[1:])):
        texts = [part.text for part, *_ in group]
        ends = list(accumulate(len(text) + 1 for text in texts))
        spans = tuple((end - 1 - len(text), end - 1) for text, end in zip(texts, ends, strict=True))
        numbers[kind, section] += 1
        blocks.append(Block(Location(kind, section, numbers[kind, section]), " ".join(texts), spans))
    return FullText(Document("", "", ""), tuple(blocks), "text", source)


def _list_parts(passage: Passage) -> Iterator[Part]:
    """The headings and sentences of a text; a line that reads as a heading is one."""
    numbers = count()
    for block in passage.blocks:
        text = passage.text[block.start : block.end]
        if block.kind == "cell" and len(text.split()) < _LEAST_WORDS:
            continue
        if block.kind == "heading":
            yield Part(" ".join(text.split()), heading=True, marked=True)
            continue
        for heading, group in groupby(text.splitlines(), key=looks_like_heading):
            words, number = " ".join(" ".join(group).split()), next(numbers)
            spans = [(0, len(words))] if heading else sentence_spans(words)
            yield from (Part(words[start:end], number, heading) for start, end in spans)


def _drop_back_matter(parts: Iterator[Part]) -> Iterator[Part]:
    """The parts without those from a heading of the back matter to the next heading of a section."""
    left_away = False
    for part in parts:
        kind = find_heading_kind(part.text) if part.heading else None
        left_away = kind == "other" if kind else left_away
        if not left_away:
            yield part


def _mark_abstract(parts: Iterator[Part] | Sequence[Part]) -> list[Part]:
    """The parts, with those of the abstract marked as such if no heading names it (nli.text.roles)."""
    found = list(parts)
    if any(part.heading and find_heading_kind(part.text) == "abstract" for part in found):
        return found
    end = find_abstract_end(found)
    return [replace(part, kind="abstract") if row < end else part for row, part in enumerate(found)]


def _place(parts: Sequence[Part]) -> Iterator[tuple[Part, str, SectionKind]]:
    """Each sentence with its section and what that is.

    Text without a heading after an abstract that the source marks is the introduction: few journals print a heading over it.
    """
    section: str = ""
    kind: SectionKind = "other"
    before: SectionKind | None = None
    for part in parts:
        if part.heading:
            section, kind = part.text, part.kind or continue_section(part.text, kind)
        elif part.kind:
            # The heading of another section, or of the abstract, is not this one's heading.
            section, kind = section if part.kind == kind else "", part.kind
        elif before == "abstract":
            section, kind = "", "introduction"
        before = part.kind
        if not part.heading and part.text:
            yield part, "" if kind == find_heading_kind(section) == "abstract" else section, kind
