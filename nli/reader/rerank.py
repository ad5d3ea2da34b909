"""The reader as a reranker: a paper that takes a side on a claim is a better hit than one that only shares its words.

After ParagraphJoint and MultiVerS, where one reading gives stance and relevance (Wadden et al. 2022, arXiv 2112.01640).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nli.judges.judge import Abstract
from nli.reader.judge import READER_MODEL, DocumentReader
from nli.text.sentences import sentence_spans
from retrieval.rerank.embedded import EmbeddedReranker
from retrieval.rerank.reranker import Reranker
from retrieval.runtime.engine import Engine

READ = 10
"""How many texts are read for a query: the best ones by the first reranker."""
WEIGHT = 0.8
"""The weight of a stance's log odds relative to the first reranker's score, fitted on claims of SciFact train held out of
training (docs/experiments.md)."""
LEAST = 1e-6
"""Probabilities are clipped to at least this."""


class ReaderReranker:
    """Another reranker's order, with its best texts read and moved by how likely each takes a side; the others stay behind."""

    def __init__(self, reader: DocumentReader, first: Reranker, read: int = READ, weight: float = WEIGHT) -> None:
        self.name = f"{reader.name}+{first.name}"
        self._reader, self._first, self._depth, self._weight = reader, first, read, weight

    def __call__(self, query: str, texts: Sequence[str]) -> list[float]:
        """One score per text, in order."""
        scores = np.array(self._first(query, texts), dtype=np.float64)
        best = np.argsort(-scores, kind="stable")[: self._depth]
        if not len(best):
            return []
        odds = self.stance_odds(query, [texts[place] for place in best])
        # A text that is not read gets the lowest log odds of those that are, and so stays behind them.
        shifts = np.full(len(scores), odds.min())
        shifts[best] = odds
        return [float(score) for score in scores + self._weight * shifts]

    def stance_odds(self, query: str, texts: Sequence[str]) -> NDArray[np.float64]:
        """[texts]: the log odds that a text takes a side on the query rather than none."""
        readings = self._reader.read_abstracts(query, [_split_passage(text) for text in texts])
        shares = np.array([[one.document.support + one.document.contradict, one.document.neutral] for one in readings])
        logs = np.log(np.maximum(shares, LEAST))
        odds: NDArray[np.float64] = logs[:, 0] - logs[:, 1]
        return odds


class ShippedReaderReranker(ReaderReranker):
    """The same with the models that ship with the package."""

    def __init__(
        self, folder: Path = READER_MODEL, engine: Engine = "auto", threads: int = 0, read: int = READ, weight: float = WEIGHT
    ) -> None:
        first = EmbeddedReranker(engine=engine, threads=threads)
        super().__init__(DocumentReader(folder, engine, threads), first, read, weight)


def _split_passage(text: str) -> Abstract:
    """Split a reranker's passage, "Title. Abstract"; a single sentence has no title."""
    sentences = [text[start:end] for start, end in sentence_spans(text)]
    return Abstract(sentences[0], tuple(sentences[1:])) if len(sentences) > 1 else Abstract("", tuple(sentences))
