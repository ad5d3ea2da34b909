"""BM25 in memory is its formula."""

from __future__ import annotations

from math import log

import pytest

from retrieval.bm25.terms import TermIndex


def test_bm25_is_its_formula() -> None:
    terms = TermIndex([("a", ["x", "x", "y"]), ("b", ["x"]), ("c", ["z", "z"])], k1=1.2, b=0.5)
    idf = log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    a = 2 * 2.2 / (2 + 1.2 * (0.5 + 0.5 * 3 / 2))
    b = 1 * 2.2 / (1 + 1.2 * (0.5 + 0.5 * 1 / 2))
    scores = {hit.pmid: hit.score for hit in terms.search(["x"], 5)}
    assert scores == pytest.approx({"a": idf * a, "b": idf * b})
    assert [hit.pmid for hit in terms.search(["x", "x"], 1)] == ["a"]
    assert terms.search(["unknown"], 5) == []
