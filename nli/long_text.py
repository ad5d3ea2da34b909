"""Long texts: which of their sentences are read together for a claim, and how the best are chosen.

A reader takes a window: a few sentences that stand together. Only sections that tell what a paper found are read for a claim: an
introduction or a discussion also tells what others found, and methods tell no finding.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from nli.judge import Abstract, drop_question
from nli.text.sentences import split_document
from retrieval.core.values import Block, Document, FullText, Location, Section, SectionKind, Sentence

Window = tuple[Sentence, ...]
"""Sentences that stand together, few enough to be read beside a claim and a title."""
FINDINGS: frozenset[SectionKind] = frozenset({"results", "conclusion", "table", "caption", "other"})
Floats = NDArray[np.float64]


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


def cut_windows(sentences: Iterable[Sentence], most_words: int) -> Iterator[Window]:
    """The sentences of a passage as windows of at most so many words, unless one sentence has more; a row is one by itself.

    There are none in a section that tells no finding of the paper.
    """
    window: list[Sentence] = []
    words = 0
    for sentence in sentences:
        if sentence.location is None or sentence.location.kind not in FINDINGS:
            continue
        size = len(sentence.text.split())
        if window and (words + size > most_words or sentence.is_row):
            yield tuple(window)
            window, words = [], 0
        window.append(sentence)
        words += size
    if window:
        yield tuple(window)


def make_abstract(title: str, sentences: Iterable[Sentence]) -> Abstract:
    """Sentences of a paper as readers get them, each with what it needs to be understood."""
    return Abstract(drop_question(title), tuple(sentence.in_context for sentence in sentences))


def choose(scores: Floats, k: int, vectors: NDArray[np.float32] | None = None, repeats: float = 0.0) -> list[int]:
    """The rows of the `k` best of `scores` [texts], best first; ties go to the first.

    With `vectors` [texts, width] of length 1, each costs what it repeats: its cosine with the nearest of those chosen before,
    times `repeats` (maximal marginal relevance; Carbonell and Goldstein 1998, doi:10.1145/290941.291025, but subtracted rather
    than interpolated, so that a weight of 0 gives the plain ranking).
    """
    left, repetition, rows = np.ones(len(scores), dtype=bool), np.zeros(len(scores)), list[int]()
    while len(rows) < min(k, len(scores)):
        row = int(np.argmax(np.where(left, scores - repeats * repetition, -np.inf)))
        left[row] = False
        rows.append(row)
        if vectors is not None:
            repetition = np.maximum(repetition, vectors @ vectors[row])
    return rows
