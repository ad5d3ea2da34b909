"""BM25 over texts in memory, for hard negatives and for choosing on train splits; the service itself searches with Lucene."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from counterpoint.retrieval.bm25.lucene import K1, B
from counterpoint.retrieval.words.terms import split_terms


class TextIndex:
    """BM25 over texts, identified by their positions; a text without terms can never be found."""

    def __init__(self, texts: Sequence[str], k1: float = K1, b: float = B) -> None:
        self._rows: defaultdict[str, array[int]] = defaultdict(lambda: array("i"))
        self._counts: defaultdict[str, array[int]] = defaultdict(lambda: array("i"))
        lengths = array("i")
        for row, text in enumerate(texts):
            terms = split_terms(text)
            lengths.append(len(terms))
            for term, count in Counter(terms).items():
                self._rows[term].append(row)
                self._counts[term].append(count)
        long = np.array(lengths, dtype=np.float64)
        # The part of the formula that depends only on the text, [texts].
        self._norm = k1 * (1 - b + b * long / max(long.mean(), 1e-9)) if len(long) else long
        self._k1 = k1

    def scores(self, query: str) -> NDArray[np.float64]:
        """[texts]: the score of each, 0 for one that contains no term.

        A term counts as often as it is in the query: Σ idf · tf (k1 + 1) / (tf + k1 (1 − b + b · length / mean length)),
        with idf = ln(1 + (N − n + 0.5) / (n + 0.5)) as in Lucene.
        """
        scores: NDArray[np.float64] = np.zeros(len(self._norm))
        for term, times in Counter(split_terms(query)).items():
            if term not in self._rows:
                continue
            rows = np.array(self._rows[term], dtype=np.int64)
            counts = np.array(self._counts[term], dtype=np.float64)
            idf = np.log1p((len(scores) - len(rows) + 0.5) / (len(rows) + 0.5))
            scores[rows] += times * idf * (counts * (self._k1 + 1) / (counts + self._norm[rows]))
        return scores

    def top(self, query: str, k: int) -> list[int]:
        """The positions of the k best texts that contain a term, best first; ties in their original order."""
        scores = self.scores(query)
        return [int(row) for row in np.argsort(-scores, kind="stable")[:k] if scores[row] > 0]
