"""Questions that ask for more than yes or no: what papers say of what they studied, and when that is too little."""

from __future__ import annotations

from typing import Any

import pytest

from retrieval.core.values import Answer, Topic
from retrieval.index import Index
from tests.helpers.answer_fakes import ScriptedGenerator, TitleFinder, make_answerer
from tests.helpers.fakes import WordReader, make_index

DOCUMENTS: list[dict[str, Any]] = [
    {"pmid": "1", "title": "Verapamil for gout in sailors: a trial", "year": 2001, "types": ["Randomized Controlled Trial"],
     "abstract": "METHODS: Sailors were given verapamil. RESULTS: There was less gout with verapamil."},
    {"pmid": "2", "title": "Verapamil against gout", "types": ["Case Reports"],
     "abstract": "METHODS: Adults with gout took oral verapamil. CONCLUSIONS: There was as much gout with it."},
    {"pmid": "3", "title": "Melatonin tablets for gout",
     "abstract": "METHODS: Adults took melatonin tablets. CONCLUSIONS: Melatonin was good in most adults."},
    {"pmid": "4", "title": "Lithium in gout: a protocol", "types": ["Clinical Trial Protocol"],
     "abstract": "CONCLUSIONS: Lithium will be good for gout."},
    {"pmid": "6", "title": "Burden", "abstract": "RESULTS: The burden of gout was high."},
    {"pmid": "7", "title": "Aspirin for croup", "abstract": "RESULTS: Aspirin was good for croup."},
    *({"pmid": f"x{i}", "title": "", "abstract": f"Filler number {i} on something else."} for i in range(20)),
]  # fmt: skip


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return make_index(tmp_path_factory.mktemp("open"), DOCUMENTS)


def answered(index: Index, question: str, generator: ScriptedGenerator | None = None) -> Answer:
    rules = {"open_questions": {}, "lead": {"grounding": "counterpoint"}}
    return make_answerer(index, generator, WordReader(), TitleFinder(), **rules).answer(Topic("7", question))


def test_each_row_is_a_claim_on_what_a_paper_studied_with_its_words(index: Index) -> None:
    answer = answered(index, "What helps against gout?")
    rows = [(one.answer, one.claim, one.evidence.stance, one.evidence.document.pmid) for one in answer.rows]
    assert rows == [
        ("verapamil", "What helps against gout? Verapamil.", "support", "1"),
        ("verapamil", "What helps against gout? Verapamil.", "contradict", "2"),
        ("melatonin", "What helps against gout? Melatonin.", "support", "3"),
    ]
    first, second = (sentence.text for sentence in answer.sentences)
    assert first.startswith("Verapamil: yes, in a ")
    assert "; no, in a " in first
    assert second.startswith("Melatonin: yes, in a ")
    assert [[one.document.pmid for one in sentence.citations] for sentence in answer.sentences] == [["1", "2"], ["3"]]
    for row in answer.rows:
        assert row.evidence.sentence is not None
        assert row.evidence.sentence.text in row.evidence.document.abstract


def test_a_language_model_writes_from_the_rows(index: Index) -> None:
    answer = answered(index, "What helps against gout?", ScriptedGenerator("There was less gout with verapamil [1]."))
    assert [sentence.text for sentence in answer.sentences] == ["There was less gout with verapamil."]
    assert len(answer.rows) == 3


def test_a_language_model_writes_from_the_best_papers_where_the_table_is_too_short(index: Index) -> None:
    answer = answered(index, "What eases croup?", ScriptedGenerator("Aspirin was good for croup [1]."))
    assert [sentence.text for sentence in answer.sentences] == ["Aspirin was good for croup."]
    assert not answer.rows


@pytest.mark.parametrize(
    ("question", "why"),
    [
        ("What eases croup?", "The index has too little on this: of 1 paper read, only one reports an answer"),
        ("What prevents scurvy?", "Not studied here: no paper found names an answer to this"),
    ],
)
def test_too_little_is_declined_with_the_nearest_and_why(index: Index, question: str, why: str) -> None:
    answer = answered(index, question)
    assert (answer.outcome, answer.sentences, answer.rows) == ("too little", (), ())
    assert answer.note.startswith(why)
    assert ("Nearest papers: “" in answer.note) == bool(answer.context)
