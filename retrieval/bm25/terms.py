"""BM25 over terms in memory, on numpy alone; the service itself searches with Lucene."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from retrieval.bm25.lucene import K1, B
from retrieval.core.values import Hit


class TermIndex:
    """Postings of documents, built once."""

    def __init__(self, documents: Iterable[tuple[str, Sequence[str]]], k1: float = K1, b: float = B) -> None:
        """Index (id, terms) pairs; a document without terms can never be found."""
        rows: defaultdict[str, array[int]] = defaultdict(lambda: array("i"))
        counts: defaultdict[str, array[int]] = defaultdict(lambda: array("i"))
        lengths, self.ids = array("i"), list[str]()
        for row, (pmid, terms) in enumerate(documents):
            self.ids.append(pmid)
            lengths.append(len(terms))
            for term, count in Counter(terms).items():
                rows[term].append(row)
                counts[term].append(count)
        self._rows, self._counts = rows, counts
        long = np.array(lengths, dtype=np.float64)
        # The part of the formula that depends only on the document, [documents].
        self._norm = k1 * (1 - b + b * long / max(long.mean(), 1e-9)) if len(long) else long
        self._k1 = k1

    def search(self, terms: Sequence[str], k: int) -> list[Hit]:
        """The `k` best documents that contain a query term, best first; ties keep the order in which they were indexed."""
        scores = self.scores(terms)
        best = np.argsort(-scores, kind="stable")[:k]
        return [Hit(self.ids[row], float(scores[row])) for row in best if scores[row] > 0]

    def scores(self, terms: Sequence[str]) -> NDArray[np.float64]:
        """[documents]: the score of each, 0 for one that contains no term.

        A term counts as often as it is in the query: Σ idf · tf (k1 + 1) / (tf + k1 (1 − b + b · length / mean length)),
        with idf = ln(1 + (N − n + 0.5) / (n + 0.5)) as in Lucene.
        """
        scores: NDArray[np.float64] = np.zeros(len(self.ids))
        for term, times in Counter(terms).items():
            if term not in self._rows:
                continue
            rows = np.array(self._rows[term], dtype=np.int64)
            counts = np.array(self._counts[term], dtype=np.float64)
            idf = np.log1p((len(self.ids) - len(rows) + 0.5) / (len(rows) + 0.5))
            scores[rows] += times * idf * (counts * (self._k1 + 1) / (counts + self._norm[rows]))
        return scores
