"""Prompts on trial reports: how they are asked, and how the answers are counted."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest

from counterpoint.eval.claims.directions import DIRECTED
from counterpoint.eval.claims.trials import LABELS, measure_trials, read_prompts
from counterpoint.retrieval.core.errors import BadInput
from tests.helpers.fakes import make_index, make_reading_grounder

CLAIMS = ("Pain is higher with zeta than with omega.", "Pain is lower with zeta than with omega.")
HEAD = "pmcid,prompt,label,abstract,where,sure\n"


def write_prompts(folder: Path, labels: str) -> tuple[Path, Path]:
    rows = [
        {"prompt": number, "pmcid": f"PMC{number}", "outcome": "pain", "intervention": "zeta", "comparator": "omega"}
        for number in (1, 2, 3)
    ]
    (folder / "prompts.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    (folder / "labels.csv").write_text(HEAD + labels, "utf-8")
    return folder / "prompts.jsonl", folder / "labels.csv"


def test_every_labelled_prompt_is_asked_both_ways_and_counted(tmp_path: Path) -> None:
    path, labels = write_prompts(
        tmp_path, "PMC1,1,higher,higher,results,yes\nPMC2,2,no difference,,table,yes\nPMC3,3,,,other,no\n"
    )
    prompts = read_prompts(path, labels)
    assert [(one.id, one.higher, one.lower, one.answer, one.group) for one in prompts] == [
        ("PMC1 1", *CLAIMS, "higher", "decided by the abstract"),
        ("PMC2 2", *CLAIMS, "no difference", "not decided by the abstract"),
    ]
    papers = [
        {"pmid": "1", "pmcid": "PMC1", "title": "Zeta", "abstract": "It is silent on this."},
        {"pmid": "2", "pmcid": "PMC2", "title": "Omega", "abstract": "It speaks against it."},
    ]
    with closing(make_index(tmp_path, papers)) as index:
        report = measure_trials(prompts, path, make_reading_grounder(index), True, tmp_path / "work")
    found = {one["id"]: one["given"] for one in report.data["answers"]}
    assert found == {"PMC1 1": "declined", "PMC2 2": "no difference"}
    right = {name: shares["right"].value for name, shares in report.data["figures"].items()}
    assert right == {"all": 0.5, DIRECTED: 0, "decided by the abstract": 0, "not decided by the abstract": 1}


def test_a_file_without_the_labelled_prompts_is_refused(tmp_path: Path) -> None:
    path, labels = write_prompts(tmp_path, "PMC9,9,higher,higher,results,yes\n")
    with pytest.raises(BadInput, match=r"lacks 1 prompt of labels\.csv"):
        read_prompts(path, labels)


def test_the_labels_hold_no_words_of_the_reports() -> None:
    lines = LABELS.read_text("utf-8").splitlines()
    assert len(lines) == 401 and max(map(len, lines)) < 60
