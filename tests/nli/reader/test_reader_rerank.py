"""The reader as a reranker: what takes a side moves up, what is not read stays behind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pytest

from nli.judges.judge import Abstract, Reading
from nli.reader.judge import DocumentReader
from nli.reader.rerank import ReaderReranker
from retrieval.core.values import Verdict

TEXTS = ["Zinc for colds. Zinc was given.", "A cold winter. It snowed.", "Zinc trial. Colds were shorter.", "Bridges."]


class Words:
    """Scores a text by the words it shares with the query."""

    name = "words"

    def __call__(self, query: str, texts: Sequence[str]) -> list[float]:
        return [float(len(set(query.lower().split()) & set(text.lower().split()))) for text in texts]


class Sides(DocumentReader):
    """Thinks that whatever says "shorter" takes a side, and notes what it reads."""

    name = "sides"

    def __init__(self) -> None:
        self.seen: list[Abstract] = []

    def read_abstracts(self, claim: str, documents: Iterable[Abstract]) -> Iterator[Reading]:
        for one in documents:
            self.seen.append(one)
            sure = 0.9 if any("shorter" in sentence for sentence in one.sentences) else 0.1
            yield Reading(Verdict(sure, 1 - sure, 0.0), ())


def test_a_paper_that_takes_a_side_moves_up_and_what_is_not_read_stays_behind() -> None:
    reader = Sides()
    scores = ReaderReranker(reader, Words(), read=3, weight=1.0)("zinc shortens colds.", TEXTS)
    order = sorted(range(len(TEXTS)), key=lambda place: -scores[place])
    assert (order[0], order[-1]) == (2, 3)
    assert reader.seen[0] == Abstract("Zinc for colds.", ("Zinc was given.",))
    assert len(reader.seen) == 3


def test_without_weight_the_order_is_the_first_rerankers() -> None:
    first = Words()("zinc shortens colds.", TEXTS)
    scores = ReaderReranker(Sides(), Words(), read=4, weight=0.0)("zinc shortens colds.", TEXTS)
    assert scores == first
    assert ReaderReranker(Sides(), Words())("zinc", []) == []


def test_its_name_traces_both_models() -> None:
    assert ReaderReranker(Sides(), Words()).name == "sides+words"


@pytest.mark.parametrize("text", ["Bridges.", ""])
def test_a_text_without_an_abstract_is_read_too(text: str) -> None:
    assert len(ReaderReranker(Sides(), Words())("zinc", [text])) == 1
