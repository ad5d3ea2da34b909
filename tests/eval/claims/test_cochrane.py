"""Cochrane's conclusions: how a question is asked as two claims, what their verdicts answer, and a whole small file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from counterpoint.eval.claims.cochrane import ask, read_conclusions
from counterpoint.eval.claims.directions import DIRECTED, answer_from, measure_directions
from counterpoint.eval.retrieval.beir import write_documents
from counterpoint.retrieval.core.errors import BadRecord
from counterpoint.retrieval.core.values import Claim
from counterpoint.service.grounding.weigh import Outcome, weigh
from tests.helpers.fakes import make_index, make_reading_grounder

ABSTRACTS = [{"pmid": "1", "title": "Zeta and pressure", "abstract": "Pressure was against zeta in all adults."}]


@pytest.mark.parametrize(
    ("question", "higher"),
    [
        (
            "Is the rate of gout higher, lower, or the same when comparing zeta to placebo in adults?",
            "The rate of gout is higher with zeta than with placebo in adults.",
        ),
        (
            "Is pain higher, lower, or the same comparing zeta added to kappa to kappa alone?",
            "Pain is higher with zeta added to kappa than with kappa alone.",
        ),
    ],
)  # fmt: skip
def test_a_question_is_asked_as_two_claims(question: str, higher: str) -> None:
    assert ask(question) == (higher, higher.replace("higher", "lower"))


@pytest.mark.parametrize(
    ("higher", "lower", "answer"),
    [
        ("support", "contradict", "higher"),
        ("uncertain", "support", "lower"),
        ("contradict", "silent", "no difference"),
        ("support", "support", "uncertain effect"),
        ("silent", "uncertain", "declined"),
        ("silent", "silent", "insufficient data"),
        ("nothing", "silent", "insufficient data"),
    ],
)
def test_two_verdicts_give_one_answer(higher: Outcome, lower: Outcome, answer: str) -> None:
    assert answer_from(higher, lower) == answer


def write(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def test_a_file_is_measured_from_end_to_end(tmp_path: Path) -> None:
    question = "Is pressure higher, lower, or the same when comparing zeta to placebo?"
    rows = [{"question": question, "answer": "no difference", "abstracts": ABSTRACTS}]
    rows += [{"question": question.replace("pressure", "gout"), "answer": "lower", "abstracts": []}]
    path = write(tmp_path / "some.jsonl", *rows)
    conclusions, documents = read_conclusions(path)
    corpus = write_documents(path, tmp_path / "work", lambda: documents)
    assert json.loads(corpus.read_text()) == ABSTRACTS[0]
    index = make_index(tmp_path / "index", ABSTRACTS)
    grounder = make_reading_grounder(index)
    report = measure_directions(
        conclusions, path, lambda _, claim: weigh(grounder.ground(Claim(claim))).outcome, grounder, tmp_path / "work"
    )
    data = json.loads(report.json())
    assert [one["given"] for one in data["answers"]] == ["no difference", "no difference"]
    assert {name: one["value"] for name, one in data["figures"]["all"].items()} == {"right": 0.5, "opposite": 0, "declined": 0}
    assert {name: one["value"] for name, one in data["figures"][DIRECTED].items()} == {"right": 0, "opposite": 0, "declined": 0}
    assert data["table"]["lower"] == {"no difference": 1}
    assert "50.0%" in report.text()
    index.close()


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({"question": "Is it?", "answer": "higher", "abstracts": []}, "line 1: expected “Is … higher"),
        ({"question": "Is it?", "answer": "perhaps", "abstracts": []}, "line 1: expected answer to be one of higher"),
    ],
)
def test_a_bad_line_is_told(tmp_path: Path, row: dict[str, Any], told: str) -> None:
    with pytest.raises(BadRecord, match=told):
        read_conclusions(write(tmp_path / "bad.jsonl", row))
