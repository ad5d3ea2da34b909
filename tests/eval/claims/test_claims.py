"""Claims that name their paper: reading them, outcomes, pairs, an index's titles, both commands."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from counterpoint.eval.claims.reading import PaperClaim, read_paper_claims
from counterpoint.retrieval.core.errors import BadInput
from counterpoint.retrieval.index import Index
from counterpoint.service.assembly import load_config, make_grounder
from counterpoint.service.cli.commands import app
from counterpoint.service.configuration.config import load_profile
from counterpoint.service.configuration.models import Models
from counterpoint.service.grounding.ground import Grounder
from tests.helpers.fakes import StoppingJudge, WordJudge, WordReranker, make_index

DOCUMENTS: list[dict[str, Any]] = [
    {"pmid": "1", "title": "Zeta lowers pressure in old mice", "abstract": "Zeta speaks for lower pressure."},
    {"pmid": "2", "title": "Eta and pressure", "abstract": "Eta was against lower pressure."},
    {"pmid": "3", "title": "Theta does not affect the sleep of rats", "abstract": "Theta was given. They slept."},
    {"pmid": "4", "title": "Iota?", "abstract": "Iota is for sleep."},
    {"pmid": "5", "title": "Kappa reduces the weight of tall trees", "abstract": ""},
]
FILE = """pmid,claim,stance,kind,note
1,Zeta lowers pressure.,support,own,a
1,Zeta raises pressure.,contradict,turned,b
2,Eta lowers pressure.,contradict,own,
2,Eta raises pressure.,support,turned,
3,Theta is sleep.,support,own,
4,"Quite other, words.",support,,
4,Iota is sleep.,support,,
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    index = make_index(tmp_path_factory.mktemp("claims"), DOCUMENTS)
    index.close()
    return index.folder


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch) -> list[WordJudge]:
    """The judge that both commands get: replace it in place."""
    judges = [WordJudge()]

    def assembled(index: Path, config: str, profile: str) -> Grounder:
        models = Models(load_profile(profile), {"relevance": WordReranker()}, {"stance": judges[0]})
        return make_grounder(Index(index), load_config(config), models)

    monkeypatch.setattr("counterpoint.service.assembly.assemble", assembled)
    return judges


Command = Callable[..., Any]


@pytest.fixture
def run(folder: Path, judge: list[WordJudge], tmp_path: Path) -> Command:
    """One of the two commands over the index, its results kept in `work`."""

    def command(name: str, *arguments: str | Path, text: str = FILE) -> Any:
        file = tmp_path / "claims.csv"
        if name == "claims":
            file.write_text(text, "utf-8")
            arguments = (file, *arguments)
        usual = ["eval", name, "--index", folder, "--work", tmp_path / "work", *arguments]
        return CliRunner().invoke(app, [str(one) for one in usual])

    return command


def group(report: Any, name: str) -> Any:
    [found] = [one for one in report["groups"] if one["name"] == name]
    return found


def shares(one: Any) -> dict[str, float]:
    return {name: figure["value"] for name, figure in one["shares"].items()}


def test_each_claim_is_seen_from_its_own_paper(run: Command, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    done = run("claims", "--json", out)
    assert done.exit_code == 0, done.output
    report = json.loads(out.read_text())
    assert [one["name"] for one in report["groups"]] == ["all claims", "support", "contradict", "own", "turned"]
    # The judge says that paper 1 supports, 2 contradicts, whatever the claim; it is in two minds about 3.
    assert shares(group(report, "all claims")) == pytest.approx(
        {"right": 3 / 7, "wrong": 2 / 7, "unsure": 1 / 7, "absent": 1 / 7}
    )
    assert shares(group(report, "contradict")) == {"right": 0.5, "wrong": 0.5, "unsure": 0, "absent": 0}
    assert (group(report, "own")["claims"], group(report, "own")["papers"]) == (3, 3)
    assert shares(group(report, "own"))["right"] == pytest.approx(2 / 3)
    whole = group(report, "all claims")
    assert (whole["claims"], whole["papers"], whole["pairs"], whole["both_right"]["value"]) == (7, 4, 2, 0)
    figure = whole["shares"]["right"]
    assert figure["low"] <= figure["value"] <= figure["high"]
    assert (group(report, "own")["pairs"], group(report, "own")["both_right"]["value"]) == (0, None)
    assert report["made_with"]["config"] == "counterpoint"
    assert report["made_with"]["models"]["stance"] == "word-judge@1"
    failed = {(one["outcome"], one["pmid"]): one for one in report["failures"]}
    assert set(failed) == {("wrong", "1"), ("wrong", "2"), ("unsure", "3"), ("absent", "4")}
    wrong = failed["wrong", "1"]
    assert (wrong["shown_as"], wrong["sentence"], wrong["probability"]) == (
        "support", "Zeta speaks for lower pressure.", pytest.approx(0.7),
    )  # fmt: skip
    assert (failed["absent", "4"]["shown_as"], failed["absent", "4"]["probability"]) == (None, None)
    # Papers 1 and 2 are listed beside each other for four claims, and 4, whose sentence is for it, beside 3 for one.
    assert "Papers listed beside the claims' own: 5, 0.7 a claim;" in done.output
    assert "wrong: PMID 1 (contradict, turned): Zeta raises pressure." in done.output
    assert "    support 0.70: Zeta speaks for lower pressure." in done.output


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "is empty; expected a CSV whose header names pmid, claim, stance"),
        ("pmid;claim;stance\n1;a;support\n", "line 1: expected a header with the column pmid, once, got pmid;claim;stance"),
        ("HEAD1,a,support\n1,b,yes\n", "line 3: expected support, neutral or contradict in stance, got 'yes'"),
        ("HEAD,a,support\n", "line 2: expected the PMID of a paper in pmid, got nothing"),
        ("HEAD1,a, and b,support\n", "line 2: expected 3 columns as in the header, got 4; quote fields that contain"),
        ("HEAD1,a,support\n1,a,contradict\n", "line 3: expected each claim once per paper; this one repeats line 2"),
        ("HEAD1,a,support\n9,a,support\n8,b,support\n", "line 3: expected the PMID of a paper in the index at"),
    ],
)
def test_a_file_at_fault_is_told_by_its_line(run: Command, text: str, told: str) -> None:
    done = run("claims", text=text.replace("HEAD", "pmid,claim,stance\n"))
    assert done.exit_code == 2
    assert told in " ".join(done.output.split())


def test_what_is_no_utf_8_or_no_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "claims.csv"
    path.write_bytes("pmid,claim,stance\n1,a,support\n1,naïve,support\n".encode("latin-1"))
    with pytest.raises(BadInput, match="line 3: expected UTF-8, got the byte 0xef; save the file as UTF-8"):
        read_paper_claims(path)
    with pytest.raises(BadInput, match="cannot be read"):
        read_paper_claims(tmp_path / "nowhere.csv")
    path.write_text('﻿ stance ,other,pmid,claim\r\nsupport,x, 1 ,"a,\r\nb"\r\n', "utf-8", newline="")
    assert read_paper_claims(path) == [PaperClaim("1", "a, b", "support", "", 2)]


@pytest.mark.parametrize("command", ["claims", "titles"])
def test_a_stopped_run_goes_on_and_ends_as_an_undisturbed_one(
    run: Command, judge: list[WordJudge], tmp_path: Path, command: str
) -> None:
    whole, out = tmp_path / "whole.json", tmp_path / "out.json"
    assert run(command, "--work", tmp_path / "other", "--json", whole).exit_code == 0
    judge[0] = StoppingJudge(after=3)
    stopped = run(command, "--json", out)
    assert stopped.exit_code == 2
    assert "they are saved in" in stopped.output
    assert not out.exists()
    [kept] = (tmp_path / "work").glob("counterpoint-*.jsonl")
    done = kept.read_text().splitlines()
    assert done
    # As a kill would leave it, in the middle of a line.
    kept.write_text("\n".join(done) + '\n{"key": "to')
    judge[0] = WordJudge()
    assert run(command, "--json", out).exit_code == 0
    assert out.read_text() == whole.read_text()
    assert kept.read_text().splitlines()[: len(done)] == done
    assert run("claims", "--json", tmp_path / "claims.csv").exit_code == 2, "it never replaces what it is made from"


def test_titles_are_their_papers_claims(run: Command, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    done = run("titles", "--json", out)
    assert done.exit_code == 0, done.output
    report = json.loads(out.read_text())
    # Papers 1 and 3 state something; 5 has no abstract.
    assert "Own titles of 2 papers (200 were asked for), drawn with seed 13" in done.output
    assert "2 of them reversed, which their papers contradict; 0 left out" in done.output
    assert shares(group(report, "support")) == {"right": 0.5, "wrong": 0, "unsure": 0.5, "absent": 0}
    assert shares(group(report, "contradict")) == {"right": 0, "wrong": 0.5, "unsure": 0.5, "absent": 0}
    assert [one["name"] for one in report["groups"]] == ["all claims", "support", "contradict"]
    assert (group(report, "all claims")["pairs"], group(report, "all claims")["both_right"]["value"]) == (2, 0)
    told = {(one["outcome"], one["pmid"], one["claim"]) for one in report["failures"]}
    assert ("unsure", "3", "Theta affects the sleep of rats.") in told
    assert ("unsure", "3", "Theta does not affect the sleep of rats.") in told
    [wrong] = [one for one in report["failures"] if one["outcome"] == "wrong"]
    assert wrong["claim"] == "Zeta does not lower pressure in old mice."
    assert run("titles", "-n", "1", "--json", out).exit_code == 0
    assert group(json.loads(out.read_text()), "support")["claims"] == 1
