"""Long texts: which of their sentences say most surely what a paper found on a claim.

A reader takes a window: a few sentences that stand together. Only sections that tell what the paper found are read so: an
introduction or a discussion also tells what others found, and methods tell no finding.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from counterpoint.nli.judge import Abstract, Reader, compute_margins
from counterpoint.nli.text.sentences import split_document
from counterpoint.retrieval.core.values import Block, Document, FullText, Location, Section, SectionKind, Sentence

Window = tuple[Sentence, ...]
"""Sentences that stand together, few enough to be read beside a claim and a title."""
FINDINGS: frozenset[SectionKind] = frozenset({"results", "conclusion", "table", "caption", "other"})


def list_blocks(text: FullText) -> tuple[Block, ...]:
    """All blocks of a paper, those of its abstract first: one, or one for each of its sections."""
    return (*_list_abstract(text.record), *text.blocks)


def list_sentences(text: FullText) -> tuple[Sentence, ...]:
    """All sentences of a paper in order, each with its location; offsets are into the block there."""
    pairs = ((block, span) for block in list_blocks(text) for span in block.spans)
    return tuple(
        Sentence(text.record.pmid, index, start, end, block.text[start:end], location=block.location, context=block.context)
        for index, (block, (start, end)) in enumerate(pairs)
    )


def _list_abstract(record: Document) -> Iterator[Block]:
    spans = split_document(record)
    for number, part in enumerate(record.sections or (Section("", 0, len(record.abstract)),), 1):
        own = tuple((start - part.start, end - part.start) for start, end in spans if part.start <= start < part.end)
        if own:
            yield Block(Location("abstract", part.label, number), record.abstract[part.start : part.end], own)


@dataclass(frozen=True, slots=True)
class SurestWindow:
    """The window of a paper that most surely takes a side on a claim: its log odds of a side against none, and of its sentences
    the one that says most."""

    window: Window
    margin: float
    sentence: Sentence


def choose_windows(reader: Reader, claim: str, papers: Mapping[str, tuple[str, Iterable[Window]]]) -> dict[str, SurestWindow]:
    """Of the windows of each paper, given with its title, the one that most surely takes a side; none of a paper without any."""
    windows = [(key, title, window) for key, (title, own) in papers.items() for window in own]
    readings = reader.read_abstracts(claim, [make_abstract(title, window) for _, title, window in windows])
    best: dict[str, SurestWindow] = {}
    for (key, _, window), reading in zip(windows, readings, strict=True):
        margin = float(compute_margins([reading.document]).max())
        if key not in best or margin > best[key].margin:
            sides = [1 - verdict.neutral if verdict else 0.0 for verdict in reading.sentences]
            best[key] = SurestWindow(window, margin, window[int(np.argmax(sides))])
    return best


def cut_windows(sentences: Iterable[Sentence], most_words: int) -> Iterator[Window]:
    """The sentences of each section as windows of at most so many words, unless one has more; a row is one by itself.

    There are none in a section that tells no finding of the paper.
    """
    window: list[Sentence] = []
    words = 0
    for sentence in sentences:
        at = sentence.location
        if at is None or at.kind not in FINDINGS:
            continue
        size, before = len(sentence.text.split()), window[-1].location if window else None
        crosses = before is not None and (at.kind, at.section) != (before.kind, before.section)
        if window and (crosses or sentence.is_row or words + size > most_words):
            yield tuple(window)
            window, words = [], 0
        window.append(sentence)
        words += size
    if window:
        yield tuple(window)


def make_abstract(title: str, sentences: Iterable[Sentence]) -> Abstract:
    """Sentences of a paper as readers get them, each with what it needs to be understood."""
    return Abstract(title, tuple(sentence.in_context for sentence in sentences))
