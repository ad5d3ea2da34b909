"""Questions that ask for more than yes or no: what papers found to be an answer, and when no answer is claimed."""

from __future__ import annotations

from typing import Any

import pytest

from counterpoint.retrieval.core.values import Answer, Topic
from counterpoint.retrieval.index import Index
from counterpoint.service.answering.schemas import AnswerResponse
from counterpoint.service.output.export import documents, make_table, markdown, ris
from counterpoint.service.output.terminal import print_answer
from tests.helpers.answer_fakes import DirectionReader, ScriptedGenerator, TitleFinder, make_answerer
from tests.helpers.fakes import make_index

SHARED = "In total, 4,321 sailors on 1,237 ships were followed."
DOCUMENTS: list[dict[str, Any]] = [
    {"pmid": "1", "title": "Verapamil for gout in sailors", "year": 2001, "types": ["Randomized Controlled Trial"],
     "abstract": "METHODS: Sailors were given verapamil. RESULTS: Gout was improved by verapamil."},
    {"pmid": "2", "title": "Oral verapamil against gout", "types": ["Case Reports"],
     "abstract": "METHODS: Adults took oral verapamil. CONCLUSIONS: Oral verapamil improved gout."},
    {"pmid": "3", "title": "Melatonin for gout", "abstract": "METHODS: Adults took melatonin. RESULTS: Melatonin improved gout."},
    {"pmid": "4", "title": "Lithium in gout: a protocol", "types": ["Clinical Trial Protocol"],
     "abstract": "CONCLUSIONS: Lithium will have improved gout."},
    {"pmid": "5", "title": "Captopril for gout", "abstract": "METHODS: Adults took captopril. RESULTS: Captopril worsened gout."},
    {"pmid": "6", "title": "Tramadol for gout",
     "abstract": "RESULTS: Tramadol improved gout in some. It worsened gout in more sailors."},
    {"pmid": "8", "title": "Placebo for gout", "abstract": "RESULTS: Placebo improved gout."},
    {"pmid": "9", "title": "Heparin for gout", "abstract": "RESULTS: Zeta improved gout more than heparin."},
    {"pmid": "10", "title": "Burden", "abstract": "RESULTS: The burden of gout was high."},
    {"pmid": "11", "title": "Aspirin for croup", "abstract": "RESULTS: Aspirin improved croup."},
    {"pmid": "12", "title": "Ginger for scurvy", "abstract": f"METHODS: {SHARED} RESULTS: Ginger improved scurvy."},
    {"pmid": "13", "title": "Ginger for scurvy again", "abstract": f"METHODS: {SHARED} RESULTS: Ginger improved scurvy."},
    {"pmid": "14", "title": "Limes for mumps", "abstract": f"METHODS: {SHARED} RESULTS: Limes improved mumps."},
    {"pmid": "15", "title": "Limes for mumps again", "abstract": f"METHODS: {SHARED} RESULTS: Limes improved mumps."},
    {"pmid": "16", "title": "Mint for mumps", "abstract": "RESULTS: Mint improved mumps."},
    *({"pmid": f"x{i}", "title": "", "abstract": f"Filler number {i} on something else."} for i in range(20)),
]  # fmt: skip


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return make_index(tmp_path_factory.mktemp("open"), DOCUMENTS)


def answered(index: Index, question: str, generator: ScriptedGenerator | None = None) -> Answer:
    rules = {"open_questions": {"subject": 0.5}, "verdict": {"grounding": "counterpoint"}}
    return make_answerer(index, generator, DirectionReader(), TitleFinder(), **rules).answer(Topic("7", question))


def responded(index: Index, question: str) -> AnswerResponse:
    rules = {"open_questions": {"subject": 0.5}, "verdict": {"grounding": "counterpoint"}}
    answerer = make_answerer(index, None, DirectionReader(), TitleFinder(), **rules)
    return AnswerResponse.of(answerer.answer(Topic("7", question)), answerer)


def test_a_row_is_a_paper_on_which_three_readings_agree(index: Index) -> None:
    answer = answered(index, "What improves gout?")
    rows = [(one.answer, one.named, one.statement, one.evidence.document.pmid) for one in answer.rows]
    assert rows == [
        ("verapamil", "verapamil", "Verapamil improves gout.", "1"),
        ("verapamil", "oral verapamil", "Oral verapamil improves gout.", "2"),
        ("melatonin", "melatonin", "Melatonin improves gout.", "3"),
    ]
    assert {one.evidence.stance for one in answer.rows} == {"support"}
    assert (answer.outcome, answer.heading) == ("answered", "What 3 papers here found")
    for row in answer.rows:
        assert row.evidence.sentence is not None
        assert row.named in row.evidence.sentence.text.lower()


@pytest.mark.parametrize(
    ("pmid", "why"),
    [
        ("5", "it worsened gout"),
        ("6", "it improved and worsened gout"),
        ("8", "a control"),
        ("9", "what another is compared with"),
    ],
)
def test_a_paper_that_fails_a_reading_or_names_no_answer_is_among_the_others(index: Index, pmid: str, why: str) -> None:
    answer = answered(index, "What improves gout?")
    others = {one.document.pmid: one for one in answer.others}
    assert pmid in others, why
    assert others[pmid].sentence is not None
    assert not {"4"} & {*others}, "a protocol has no findings"
    assert not {*others} & {row.evidence.document.pmid for row in answer.rows}


def test_a_language_model_writes_from_the_rows(index: Index) -> None:
    answer = answered(index, "What improves gout?", ScriptedGenerator("Gout was improved by verapamil [1]."))
    assert [sentence.text for sentence in answer.sentences] == ["Gout was improved by verapamil."]
    assert len(answer.rows) == 3


def test_a_language_model_writes_from_the_best_papers_where_the_table_is_too_short(index: Index) -> None:
    answer = answered(index, "What improves croup?", ScriptedGenerator("Aspirin improved croup [1]."))
    assert [sentence.text for sentence in answer.sentences] == ["Aspirin improved croup."]
    assert (answer.outcome, answer.rows) == ("answered", ())


def test_with_one_row_no_answer_is_claimed_and_the_papers_are_listed(index: Index) -> None:
    answer = answered(index, "What improves croup?")
    assert (answer.outcome, answer.sentences, answer.rows, answer.heading) == ("listed", (), (), "")
    assert answer.note.startswith("The index has too little on this: of 1 paper read, only one reports an answer")
    assert [(one.document.pmid, one.sentence and one.sentence.text) for one in answer.others] == [
        ("11", "RESULTS: Aspirin improved croup.")
    ]


def test_two_reports_of_one_trial_are_no_two_studies(index: Index) -> None:
    answer = answered(index, "What improves scurvy?")
    assert (answer.outcome, answer.rows) == ("listed", ())
    assert "of 2 papers read, only one trial reports an answer" in answer.note
    assert {one.document.pmid for one in answer.others} == {"12", "13"}


def test_reports_of_one_trial_are_shown_as_such_and_count_once(index: Index, capsys: pytest.CaptureFixture[str]) -> None:
    answer = answered(index, "What improves mumps?")
    found = {row.evidence.document.pmid: (row.answer, bool(row.evidence.trial)) for row in answer.rows}
    assert found == {"14": ("limes", True), "15": ("limes", True), "16": ("mint", False)}
    assert answer.heading == "What 3 papers here found (2 are reports of 1 trial)"
    columns, rows = make_table(answer)
    assert sum(bool(row[columns.index("trial")]) for row in rows) == 2
    print_answer(responded(index, "What improves mumps?"))
    assert capsys.readouterr().out.count("one of several reports of") == 2


def test_where_nothing_is_on_the_subject_too_little_is_said(index: Index) -> None:
    answer = answered(index, "What improves hiccups?")
    assert (answer.outcome, answer.rows, answer.others) == ("too little", (), ())
    assert answer.note.startswith("Not studied here: no paper found names an answer to this")


def test_the_table_and_the_other_papers_are_written_in_every_form(index: Index, capsys: pytest.CaptureFixture[str]) -> None:
    answer, response = answered(index, "What improves gout?"), responded(index, "What improves gout?")
    text = markdown(answer)
    assert "## What 3 papers here found" in text
    assert "## Other papers on this subject" in text
    assert text.count("RESULTS: Melatonin improved gout.") == 1, "the sentences of the table are not repeated"
    columns, rows = make_table(answer)
    cells = [dict(zip(columns, row, strict=True)) for row in rows]
    assert [(one["claim"], one["answer"], one["direction"]) for one in cells[:3]] == [
        ("Verapamil improves gout.", "verapamil", "supports"),
        ("Oral verapamil improves gout.", "verapamil", "supports"),
        ("Melatonin improves gout.", "melatonin", "supports"),
    ]
    assert {(one["claim"], one["answer"], one["direction"]) for one in cells[3:]} == {
        ("What improves gout?", "", "on the subject")
    }
    assert ris(documents(answer)).count("TY  - ") == len(answer.rows) + len(answer.others)
    print_answer(response)
    out = capsys.readouterr().out
    assert "What 3 papers here found" in out
    assert out.count("Melatonin improved gout.") == 1
    assert "Other papers on this subject" in out


def test_the_response_has_each_paper_once_with_its_number(index: Index) -> None:
    response = responded(index, "What improves gout?")
    numbers = {one.pmid: one.number for one in response.documents}
    assert response.heading == "What 3 papers here found"
    assert [one.number for one in response.others] == [numbers[one.pmid] for one in response.others]
    shown = [row.evidence.pmid for row in response.rows] + [one.pmid for one in response.others]
    assert len(shown) == len({*shown})
    listed = responded(index, "What improves croup?")
    assert (listed.outcome, listed.text, listed.rows, len(listed.others)) == ("listed", "", [], 1)


def test_a_list_without_an_answer_says_so_in_the_terminal_and_in_markdown(
    index: Index, capsys: pytest.CaptureFixture[str]
) -> None:
    print_answer(responded(index, "What improves croup?"))
    out = capsys.readouterr().out
    assert "too little on this" in out
    assert "Papers on this subject" in out
    assert "Aspirin improved croup." in out
    text = markdown(answered(index, "What improves croup?"))
    assert "## Papers on this subject" in text
    assert "here found" not in text
