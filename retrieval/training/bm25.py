"""BM25 in memory, for hard negatives and for choosing on train splits; the service itself searches with Lucene.

score(q, d) = sum over t in q of idf(t) * tf / (tf + k1 * (1 - b + b * |d| / mean|d|)), idf as Lucene's
(Robertson and Zaragoza 2009, doi:10.1561/1500000019; k1 0.9 and b 0.4 as in the paper this project implements).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from retrieval.words.lexical import terms


class Bm25:
    """An inverted list for each term, its scores computed once."""

    def __init__(self, texts: Sequence[str], k1: float = 0.9, b: float = 0.4) -> None:
        lists: dict[str, list[tuple[int, int]]] = defaultdict(list)
        lengths = np.zeros(len(texts))
        for document, text in enumerate(texts):
            counts = Counter(terms(text))
            lengths[document] = sum(counts.values())
            for term, count in counts.items():
                lists[term].append((document, count))
        norm = k1 * (1 - b + b * lengths / max(lengths.mean(), 1.0))
        self._size = len(texts)
        self._lists: dict[str, tuple[NDArray[np.int64], NDArray[np.float64]]] = {}
        for term, entries in lists.items():
            ids = np.array([document for document, _ in entries])
            counts_ = np.array([count for _, count in entries], dtype=float)
            idf = math.log(1 + (len(texts) - len(ids) + 0.5) / (len(ids) + 0.5))
            self._lists[term] = ids, idf * counts_ / (counts_ + norm[ids])

    def scores(self, query: str) -> NDArray[np.float64]:
        """[texts]: the score of every text."""
        total = np.zeros(self._size)
        for term in terms(query):
            if term in self._lists:
                ids, parts = self._lists[term]
                total[ids] += parts
        return total

    def top(self, query: str, k: int) -> list[int]:
        """The k best texts by index, best first; ties in index order."""
        scores = self.scores(query)
        return [int(i) for i in np.argsort(-scores, kind="stable")[:k] if scores[i] > 0]
