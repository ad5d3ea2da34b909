"""BM25 over texts in memory, for hard negatives and for choosing on train splits; the service itself searches with Lucene."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from retrieval.bm25.lucene import K1, B
from retrieval.bm25.terms import TermIndex
from retrieval.words.terms import split_terms


class TextIndex:
    """BM25 over texts, identified by their positions."""

    def __init__(self, texts: Sequence[str], k1: float = K1, b: float = B) -> None:
        self._index = TermIndex(((str(place), split_terms(text)) for place, text in enumerate(texts)), k1, b)

    def scores(self, query: str) -> NDArray[np.float64]:
        """[texts]: the score of every text."""
        return self._index.scores(split_terms(query))

    def top(self, query: str, k: int) -> list[int]:
        """The positions of the k best texts, best first; ties in their original order."""
        return [int(hit.pmid) for hit in self._index.search(split_terms(query), k)]
