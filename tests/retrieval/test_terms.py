"""BM25 in memory is its formula."""

from __future__ import annotations

from math import log

import pytest

from counterpoint.retrieval.training.bm25 import TextIndex
from counterpoint.retrieval.words.terms import split_terms


def test_bm25_is_its_formula() -> None:
    index = TextIndex(["x x y", "x", "z z"], k1=1.2, b=0.5)
    idf = log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    a = 2 * 2.2 / (2 + 1.2 * (0.5 + 0.5 * 3 / 2))
    b = 1 * 2.2 / (1 + 1.2 * (0.5 + 0.5 * 1 / 2))
    assert list(index.scores("x")) == pytest.approx([idf * a, idf * b, 0])
    assert index.top("x x", 1) == [0]
    assert index.top("unknown", 5) == []


def test_accents_make_no_other_word() -> None:
    assert split_terms("Ménkière and me\u0301nkie\u0300re") == split_terms("Menkiere and menkiere") == ["menkier", "menkier"]
