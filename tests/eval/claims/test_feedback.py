"""Feedback as evaluation data: exported as CSV and JSON lines, and measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from counterpoint.eval.claims.reading import read_paper_claims
from counterpoint.retrieval.index import Index
from counterpoint.service.memory.memory import open_memory
from counterpoint.service.memory.schemas import Opinion
from counterpoint.service.schemas import Provenance
from tests.helpers.commands import call
from tests.helpers.fakes import make_index, make_reading_grounder

DOCUMENTS: list[dict[str, Any]] = [
    {"pmid": "1", "title": "One", "abstract": "Zeta is for pressure."},
    {"pmid": "2", "title": "Two", "abstract": "Omega is against sleep."},
    {"pmid": "3", "title": "Three", "abstract": "Theta and growth were measured."},
]
MADE = Provenance(config="v5", profile="embedded", models={"stance": "word-judge@1"}, index="abc-f1", documents=3)


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "state"
    monkeypatch.setenv("COUNTERPOINT_STATE", str(folder))
    memory = open_memory(folder)
    assert memory
    for holder, claim, pmid, shown, right in [
        ("ann", "Zeta changes pressure, greatly.", "1", "contradict", "support"),
        ("bob", "Zeta changes pressure, greatly.", "1", "contradict", "support"),
        ("ann", "Omega changes sleep.", "2", "contradict", "support"),
        ("ann", "Theta changes growth.", "3", "support", "neutral"),
        ("ann", "Zeta is high pressure.", "1", "support", "contradict"),
        ("bob", "Zeta is high pressure.", "1", "support", "neutral"),
    ]:
        said = {"claim": claim, "pmid": pmid, "sentence": "", "shown": shown, "right": right}
        memory.feedback.add(holder, "a-library", Opinion(**said, provenance=MADE))  # type: ignore[arg-type]
    return folder


@pytest.mark.usefixtures("state")
def test_the_csv_is_what_eval_claims_reads(tmp_path: Path) -> None:
    out = tmp_path / "feedback.csv"
    done = call("feedback", "export", out)
    assert done.exit_code == 0, done.output
    assert "3 labelled claims. Left out: 1 on which readers disagree." in done.stderr
    assert out.read_text("utf-8").splitlines() == [
        "pmid,claim,stance,kind",
        '1,"Zeta changes pressure, greatly.",support,shown as contradict',
        "2,Omega changes sleep.,support,shown as contradict",
        "3,Theta changes growth.,neutral,shown as support",
    ]
    assert len(read_paper_claims(out)) == 3
    assert call("feedback", "export", out).exit_code == 2
    assert "end it in .csv or .jsonl" in call("feedback", "export", tmp_path / "x.txt").stderr
    out.with_suffix(".jsonl").write_text('{"a": 1}\n', "utf-8")
    done = call("eval", "claims", out.with_suffix(".jsonl"), "--index", tmp_path)
    assert (done.exit_code, "line 1: expected a line that" in done.stderr) == (2, True)


@pytest.mark.usefixtures("state")
def test_the_json_lines_hold_everything_and_are_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out, report = tmp_path / "feedback.jsonl", tmp_path / "report.json"
    assert call("feedback", "export", out).exit_code == 0
    lines = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert len(lines) == 6 and {one["holder"] for one in lines} == {"ann", "bob"}
    assert lines[0]["provenance"] == MADE.model_dump() and lines[0]["shown"] == "contradict"

    folder = make_index(tmp_path / "made", DOCUMENTS).folder
    monkeypatch.setattr("counterpoint.service.assembly.assemble", lambda *_: make_reading_grounder(Index(folder)))
    done = call("eval", "claims", out, "--index", folder, "--work", tmp_path / "work", "--json", report)
    assert done.exit_code == 0, done.output
    found = json.loads(report.read_text("utf-8"))
    groups = {one["name"]: (one["claims"], one["shares"]["right"]["value"]) for one in found["groups"]}
    # By now paper 1 is on the side that its readers say it is on; paper 2 is still on the other; paper 3 is on neither.
    assert (groups["support"], groups["neutral"]) == ((2, 0.5), (1, 1.0))
    assert found["notes"] == [
        "Papers listed beside the claims' own: 0, 0.0 a claim; whether these are right is not known.",
        "Left out: 1 on which readers disagree.",
    ]
