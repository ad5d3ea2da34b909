"""The EvidenceBench evaluation on a benchmark of two papers that the tests make."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from counterpoint.eval.cli import eval_app
from counterpoint.eval.evidence.evidencebench import METHODS, TASKS, Goal, compute_recall, make_report, measure_all, read_cases
from counterpoint.nli.evidence import EvidenceReading
from counterpoint.retrieval.core.errors import BadInput
from tests.helpers.evidence_fakes import finder, reader
from tests.helpers.missing import missing

REAL = Path(os.environ.get("COUNTERPOINT_DATA", Path(__file__).parents[4] / "shared" / "data")) / "evidencebench"
SENTENCES = [
    "Stones and their weight", "Stones are old.", "We weighed 40 stones.", "The best weight was 4 kg (p < 0.01).",
    "Stones matter.", "Time went by.", "Methods", "Iron was the best stone.",
]  # fmt: skip
TYPES = ["section_name", *["abstract"] * 4, "normal_paragraph", "section_name", "normal_paragraph"]
ASPECTS = {"a0": [2, 5], "a1": [3], "a2": [7]}


def record(id: str = "one", **changed: Any) -> dict[str, Any]:
    return {
        "id": id,
        "paper_id": "pmc_1",
        "hypothesis": "Stones have weight.",
        "paper_as_candidate_pool": SENTENCES,
        "sentence_types_in_candidate_pool": TYPES,
        "aspect_list_ids": list(ASPECTS),
        "results_aspect_list_ids": ["a1"],
        "aspect2sentence_indices": ASPECTS,
        "evidence_retrieval_at_optimal_evaluation": {"optimal": 3, "one_selection_of_sentences": [2, 3, 7]},
        "evidence_retrieval_at_10_evaluation": {"one_selection_of_sentences": [2, 3, 7]},
        "results_evidence_retrieval_at_optimal_evaluation": {"optimal": 1, "one_selection_of_sentences": [3]},
        "results_evidence_retrieval_at_5_evaluation": {"one_selection_of_sentences": [3]},
        **changed,
    }


NO_RESULTS = {
    "results_aspect_list_ids": None,
    "results_evidence_retrieval_at_optimal_evaluation": None,
    "results_evidence_retrieval_at_5_evaluation": None,
}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return written(tmp_path, record(), record("two", **NO_RESULTS))


def written(folder: Path, *records: dict[str, Any]) -> Path:
    path = folder / "bench.jsonl"
    path.write_text("".join(f"{json.dumps(one)}\n" for one in records), "utf-8")
    return path


def test_a_record_keeps_its_numbering_its_abstract_and_its_goals(data: Path) -> None:
    first, second = read_cases([data])
    assert (first.numbers, first.count) == ((1, 2, 3, 4, 5, 7), 8)
    assert [one.text for one in first.sentences] == [SENTENCES[number] for number in first.numbers]
    assert [one.in_abstract for one in first.sentences] == [True] * 4 + [False] * 2
    assert [first.goals[name].k for name in TASKS] == [3, 10, 1, 5]
    assert list(second.goals) == ["er-optimal", "er-10"]


def test_an_aspect_counts_once_and_only_the_first_k_are_read() -> None:
    goal = Goal(((2, 5), (3,)), 2, (2, 3))
    assert goal.recall([2, 5, 3]) == 0.5
    assert goal.recall([5, 3]) == 1.0
    assert goal.recall([]) == 0.0


def test_the_expected_recall_is_the_mean_over_draws() -> None:
    goal = Goal(((2, 5), (3,)), 3, (2, 3))
    rng = np.random.default_rng(0)
    drawn = [goal.recall([int(one) for one in rng.permutation(8)[:3]]) for _ in range(4000)]
    assert goal.expected(8) == pytest.approx(np.mean(drawn), abs=0.02)
    assert goal.expected(8) == pytest.approx((1 - comb(6, 3) / comb(8, 3) + 3 / 8) / 2)
    assert Goal(((1,),), 10, ()).expected(8) == 1.0


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"sentence_types_in_candidate_pool": TYPES[1:]}, "8 sentences came with 7 types"),
        ({"aspect2sentence_indices": {**ASPECTS, "a1": [8]}}, "a1 has no sentence among the 8"),
        ({"aspect2sentence_indices": {"a0": [1]}}, "a1 has no sentence"),
        ({"aspect_list_ids": []}, "no aspects"),
        ({"hypothesis": 3}, "hypothesis"),
        ({"paper_as_candidate_pool": [], "sentence_types_in_candidate_pool": []}, "contains no sentence"),
    ],
)
def test_a_record_that_does_not_fit_is_told_by_its_line(tmp_path: Path, changed: dict[str, Any], told: str) -> None:
    with pytest.raises(BadInput, match=told) as caught:
        read_cases([written(tmp_path, record(), record("two", **changed))])
    assert "line 2" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_paper_that_is_there_twice_or_not_at_all_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="one appears twice"):
        read_cases([written(tmp_path, record(), record())])
    with pytest.raises(BadInput, match="contains no record"):
        read_cases([written(tmp_path)])


@pytest.mark.parametrize(("name", "chosen"), [("abstract-end", [3, 2, 1]), ("bm25", [2])])
def test_a_method_chooses_as_its_name_says(data: Path, name: str, chosen: Sequence[int]) -> None:
    case = read_cases([data])[0]
    choose = METHODS[name].choose
    assert choose
    assert list(choose(case, reader().read(case.hypothesis, "", case.sentences), TASKS["er-optimal"]))[: len(chosen)] == chosen


def test_the_report_holds_every_row(data: Path, tmp_path: Path) -> None:
    cases = read_cases([data])
    recalls = measure_all(cases, reader(), tmp_path / "work")
    assert measure_all(cases, reader(), tmp_path / "work") == recalls
    report = make_report(recalls, list(TASKS), list(METHODS), "m")
    rows = json.loads(report.json())["rows"]
    assert len(rows) == len(TASKS) * len(METHODS)
    assert {row["task"]: len(row["recalls"]) for row in rows} == {
        "er-optimal": 2, "er-10": 2, "result-er-optimal": 1, "result-er-5": 1,
    }  # fmt: skip
    assert all(row["figure"]["value"] == 1.0 for row in rows if row["method"] == "maximum")
    assert "ours with set selection" in report.text()


def test_the_command_measures_and_writes_json(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("counterpoint.service.evidence.finder.EvidenceFinder", lambda profile: finder())
    out = tmp_path / "out.json"
    arguments = ["evidencebench", "--data", str(data), "--work", str(tmp_path / "work"), "--json", str(out)]
    done = CliRunner().invoke(eval_app, [*arguments, "--task", "er-10", "--method", "bm25", "--method", "maximum"])
    assert done.exit_code == 0
    assert [row["method"] for row in json.loads(out.read_text())["rows"]] == ["bm25", "maximum"]


@pytest.mark.slow
@pytest.mark.skipif(
    not REAL.is_dir(), reason=missing(f"the data set at {REAL} (set COUNTERPOINT_DATA)", "it is not ours to pass on")
)
def test_the_benchmark_itself_gives_the_known_baselines() -> None:
    """24.3 and 15.1 for the last sentences of the abstract were measured apart from this code; the optimal sets show all."""
    cases = read_cases([REAL / "dev.jsonl.gz", REAL / "train.jsonl.gz"])
    nothing = EvidenceReading(np.zeros(0), np.zeros((0, 0), np.float32))
    for task, expected in (("er-optimal", 24.3), ("result-er-optimal", 15.1)):
        able = [case for case in cases if task in case.goals]
        ends, most = ([compute_recall(case, nothing, TASKS[task], name) for case in able] for name in ("abstract-end", "maximum"))
        assert 100 * np.mean(ends) == pytest.approx(expected, abs=0.1)
        assert np.mean(most) == 1.0
