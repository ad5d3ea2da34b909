"""Task A by the track's measures, on a run whose figures are computed by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.commands import call


def sentence(support: list[Any], contradict: list[Any], known: list[Any] | None = None) -> dict[str, Any]:
    return {"existing_supported_citations": known, "supported_citations": support, "contradicted_citations": contradict}


RUN = [
    {"metadata": {"qa_id": "1"}, "answer": [sentence([1, 2, 3], ["4"]), sentence([], [5, 6])]},
    # The known 7 does not count, so that the first three are 8, 1 and 2.
    {"metadata": {"qa_id": 2}, "answer": [sentence([7, 8, 1, 2, 3], [], ["7"])]},
    {"metadata": {"qa_id": "3"}, "answer": [sentence([1], [])]},
]
JUDGMENTS = [
    ("1", 1, 1, "supporting"), ("1", 1, "2", "partial"), ("1", 1, 4, "supporting"), ("1", 2, 5, "contradicting"),
    ("1", 2, 6, "neutral"), (2, 1, 8, "not relevant"), ("2", 1, 1, "partial"), ("2", 1, 3, "supporting"),
]  # fmt: skip


def write(tmp_path: Path, judgments: list[Any]) -> tuple[Path, Path]:
    run, labels = tmp_path / "run.jsonl", tmp_path / "judgments.jsonl"
    run.write_text("".join(f"{json.dumps(item)}\n" for item in RUN))
    names = ("qa_id", "sentence", "pmid", "label")
    labels.write_text("".join(f"{json.dumps(dict(zip(names, one, strict=True)))}\n" for one in judgments))
    return run, labels


def test_the_measures_of_an_example_computed_by_hand(tmp_path: Path) -> None:
    run, labels = write(tmp_path, JUDGMENTS)
    done = call("eval", "biogen", run, "--judgments", labels, "--json", tmp_path / "out.json")
    assert done.exit_code == 0
    assert "2 of 3 questions have judgments; of 9 PMIDs cited there, 7 have a label." in done.stdout
    report = json.loads((tmp_path / "out.json").read_text())
    figures = {
        (form, row): tuple(figure["value"] for figure in measures.values())
        for form, rows in report.items()
        if form != "made_with"
        for row, measures in rows.items()
    }
    # Strict, human, question 1: sentence 1 has 1 right of 2 judged (1/2, 1, 2/3), sentence 2 nothing; question 2: 0 of 2.
    assert figures == {
        ("human", "support, strict"): pytest.approx((1 / 8, 1 / 4, 1 / 6)),
        ("human", "support, relaxed"): pytest.approx((1 / 2, 3 / 4, (1 / 2 + 2 / 3) / 2)),
        ("human", "contradict"): pytest.approx((1 / 8, 1 / 4, 1 / 6)),
        # 4 supports sentence 1 and is listed as contradicting it: recall 1 of 2, and relaxed 2 of 3.
        ("automatic", "support, strict"): pytest.approx((1 / 8, 1 / 8, 1 / 8)),
        ("automatic", "support, relaxed"): pytest.approx((1 / 2, (1 / 3 + 1) / 2, (2 / 5 + 2 / 3) / 2)),
        ("automatic", "contradict"): pytest.approx((1 / 8, 1 / 4, 1 / 6)),
    }


@pytest.mark.parametrize(
    ("judgment", "told"),
    [
        (("1", 1, 1, "supports"), "judgment 1: the label 'supports' is unknown; expected supporting, partial, contradicting"),
        (("1", 1, "x1", "partial"), "judgment 1: pmid should be a number, not 'x1'"),
        (("1", 3, 1, "partial"), "judgment 1: sentence should be a number from 1 to 2, not 3"),
        (("9", 1, 1, "partial"), "judgment 1: the run has no item with the qa_id 9; give the judgments of this run's input"),
        (("1", 1, 99, "partial"), "judges none of the PMIDs that the run cites"),
    ],
)
def test_judgments_that_do_not_fit_the_run_are_told_in_one_sentence(tmp_path: Path, judgment: Any, told: str) -> None:
    run, labels = write(tmp_path, [judgment])
    done = call("eval", "biogen", run, "--judgments", labels)
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert told in done.stderr


def test_two_labels_for_a_pmid_and_a_file_that_is_no_run_are_told(tmp_path: Path) -> None:
    run, labels = write(tmp_path, [("1", 1, 1, "partial"), ("1", 1, "1", "neutral")])
    assert (
        "judgment 2: 1 is called partial for this sentence already" in call("eval", "biogen", run, "--judgments", labels).stderr
    )
    assert "expected metadata with a qa_id" in call("eval", "biogen", labels, "--judgments", labels).stderr
