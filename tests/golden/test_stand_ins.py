"""Every output over stand-ins for the models, byte for byte."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main
from fastapi.testclient import TestClient
from typer.testing import CliRunner

from counterpoint.indexes.update import update
from counterpoint.service.cli.commands import app
from counterpoint.service.http.app import create_app
from counterpoint.service.operating.settings import Settings
from counterpoint.service.serve.server import open_libraries
from tests.golden.holding import HERE, hold, pretty, rounded, settle
from tests.golden.stand_ins import DIE, use_stand_ins
from tests.helpers.ready import wait_until_ready

INPUTS = HERE / "inputs" / "stand-ins"
PAPERS = ("paper-v1", "paper-v2", "paper-v3", "paper-v4", "counterpoint")
VARIANTS = ("v1", "v2", "v3", "v4", "v5-documents", "bm25")
LOWERS = "Zelatine lowers blood pressure in adults with hypertension."
IMPROVES = "Omegrel improves sleep in adults with insomnia."
CLAIMS: dict[str, tuple[str, ...]] = {
    LOWERS: (),
    "Zelatine does not lower blood pressure in adults": (),
    "Zelatine causes dry cough.": ("--question", "Is zelatine safe?", "--known", "109, 108"),
    "Omegrel raises haemoglobin in anaemia.": (),
    "Vitamin K prevents baldness in sailors.": (),
    "zelatine stroke": (),
}
LOWER = "Does zelatine lower blood pressure in adults with hypertension?"
EFFECTS = "What are the adverse effects of zelatine?"
QUESTIONS: dict[str, tuple[str, ...]] = {
    LOWER: (),
    "Does omegrel improve sleep?": ("--narrative", "A nurse on night shifts asks."),
    EFFECTS: ("--topic", "zelatine"),
    "Does vitamin K prevent baldness in sailors?": (),
    "Which drugs help against baldness?": (),
}
INDEX = ("--index", "INDEX")
Call = Callable[..., str]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("golden") / "index"
    with pytest.MonkeyPatch.context() as patch:
        use_stand_ins(patch)
        result = CliRunner().invoke(app, ["index", "build", str(INPUTS / "corpus.jsonl"), "--out", str(folder), "--dense"])
        assert result.exit_code == 0, result.output
    return folder


@pytest.fixture
def seen() -> dict[str, str]:
    """What a file has written out already; empty it before another file."""
    return {}


@pytest.fixture
def call(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seen: dict[str, str]) -> Call:
    """Runs a command in a folder with the inputs and an index; what it tells is settled, and JSON made pretty."""
    shutil.copytree(made, tmp_path / "index")
    shutil.copytree(INPUTS, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    kept = ("COUNTERPOINT_CACHE", "COUNTERPOINT_STATE", "COUNTERPOINT_HOSTS")  # set for all tests
    for name in ("FORCE_COLOR", *(one for one in os.environ if one.startswith("COUNTERPOINT_") and one not in kept)):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "120")
    use_stand_ins(monkeypatch)

    def run(*arguments: str) -> str:
        result = CliRunner().invoke(app, [place(one) for one in arguments])
        code = f"exit code {result.exit_code}\n" if result.exit_code else ""
        told = shown(result.stdout, seen) if "--json" in arguments else result.stdout
        return settle(f"{result.stderr}{code}{told}".replace(str(tmp_path), "FOLDER"))

    return run


def place(argument: str) -> str:
    """The argument, or the index's whole path: Java sees the folder that it was started in, not the test's."""
    return str(Path("index").absolute()) if argument == "INDEX" else argument


def shown(text: str, seen: dict[str, str]) -> str:
    """A body, or a line of a stream, its JSON made pretty."""
    head, body = re.fullmatch(r"(?s)((?:data: )?)(.*)", text).groups()  # type: ignore[union-attr]
    return head + pretty(json.loads(body, parse_float=rounded), seen) if body.startswith(("{", "[")) else text


def test_ground(call: Call) -> None:
    cases = {f"{claim} {' '.join(more)}": ("ground", claim, *more, *INDEX) for claim, more in CLAIMS.items()}
    formats = {name: call("ground", LOWERS, *INDEX, "--format", name) for name in ("table", "csv", "markdown", "ris", "bibtex")}
    asked = {case: call(*one, "--json") for case, one in cases.items()}
    hold("ground", asked | {f"text: {case}": call(*one) for case, one in cases.items()} | formats)


def test_variants(call: Call) -> None:
    cases = {}
    for variant in VARIANTS:
        settings = (*INDEX, "--config", variant, "--format", "json")
        for claim, more in [*CLAIMS.items()][:3]:
            cases[f"{variant}: {claim}"] = listed(json.loads(call("ground", claim, *more, *settings)))
    hold("variants", cases)


def listed(response: dict[str, Any]) -> str:
    """The papers of both sides: PMID, place of the sentence, and the judge's label."""
    papers = [(side, one) for side in ("contradicting", "supporting") for one in response[side]]
    places = [one["sentence"]["index"] if one["sentence"] else "-" for _, one in papers]
    lines = zip(papers, places, strict=True)
    return "\n".join(f"{side} {one['pmid']} [{place}] {one['verdict']['label']}" for (side, one), place in lines)


def test_v5(call: Call) -> None:
    settings = (*INDEX, "--config", "v5")
    asked = {claim: call("ground", claim, *more, *settings, "--json") for claim, more in [*CLAIMS.items()][:3]}
    hold("ground-v5", asked | {"text": call("ground", LOWERS, *settings)})


def test_answers(call: Call, seen: dict[str, str]) -> None:
    quoted = {f"{question} {' '.join(more)}": ("answer", question, *more, *INDEX) for question, more in QUESTIONS.items()}
    asked = {case: call(*one, "--json") for case, one in quoted.items()}
    formats = {name: call("answer", LOWER, *INDEX, "--format", name) for name in ("markdown", "ris", "bibtex")}
    hold("answer", asked | {f"text: {case}": call(*one) for case, one in quoted.items()} | formats)
    seen.clear()
    written = (*INDEX, "--profile", "paper", "--answers")
    yes_no = {name: call("answer", LOWER, *written, name, "--json") for name in PAPERS}
    hold("answer-written", yes_no | {f"{name}, open": call("answer", EFFECTS, *written, name) for name in PAPERS})


def test_check(call: Call) -> None:
    check = ("check", "text.md", *INDEX)
    cases = {"json": call(*check, "--json"), "text": call(*check), "claims.csv": call("check", "claims.csv", *INDEX)}
    cases |= {variant: call(*check, "--config", variant) for variant in ("bm25", "v5")}
    for format in ("csv", "md", "html"):
        call(*check, "--out", f"out.{format}")
        cases[format] = settle(re.sub("(?s)<style>.*?</style>", "", Path(f"out.{format}").read_text()))
    hold("check", cases)


def test_evidence(call: Call) -> None:
    evidence = ("evidence", "--paper", "paper.txt", "Standing desks reduce back pain.", "-k", "3")
    results = call(*evidence, "--results-only", "--json")
    hold("evidence", {"json": call(*evidence, "--json"), "text": call(*evidence), "results only": results})


def test_watch(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COUNTERPOINT_STATE", place("INDEX").replace("index", "state"))
    call("saved", "add", IMPROVES, *INDEX, "--note", "mine")
    call("saved", "add", LOWERS, *INDEX)
    call("ground", "Omegrel worsens sleep in shift workers.", *INDEX)
    first = json.loads(CliRunner().invoke(app, ["saved", "--json"]).stdout)[-1]["id"]

    def told(when: str) -> dict[str, str]:
        asked = (("saved", "show", first), ("saved", "--json"), ("watch",), ("watch", "--json"))
        return {f"{when}: {' '.join(one).replace(first, 'ID')}": call(*one) for one in asked}

    cases = told("before") | {"history": call("history", "--json")}
    update(Path(place("INDEX")), [Path("later.jsonl")])
    runs = [call("watch", "run", *INDEX) for _ in range(2)]
    hold("watch", cases | {"watch run, twice": "".join(runs)} | told("after"))


@pytest.mark.parametrize(("task", "asked", "dies"), [("a", "items.jsonl", "Hand"), ("b", "topics.jsonl", "tanding desks")])
def test_runs(call: Call, task: str, asked: str, dies: str) -> None:
    run = ("run", f"task-{task}", asked, *INDEX, "--team", "t", "--run-id", "r", "--out")
    told = call(*run, "whole")
    command = [sys.executable, "-m", "tests.golden.stand_ins", *map(place, run), "killed"]
    environment = os.environ | {DIE: dies, "PYTHONPATH": str(HERE.parent.parent)}
    assert subprocess.run(command, env=environment, capture_output=True).returncode == -signal.SIGKILL
    done = Path("killed.partial").read_text().count("\n") - 1
    assert 0 < done < 6
    assert f"({done} " in call(*run, "killed")
    files = sorted(Path.cwd().glob("whole*"))
    assert [Path(one.name.replace("whole", "killed")).read_bytes() for one in files] == [one.read_bytes() for one in files]
    hold(f"task-{task}", {"told": told} | {one.name: settle(one.read_text()) for one in files})


def test_api(call: Call, seen: dict[str, str]) -> None:
    index = Path(place("INDEX"))
    asked: dict[str, Any] = {
        "ground/stream": {"claim": LOWERS},
        "answer/stream": {"question": LOWER},
        "text/stream": {"text": f"{IMPROVES} (PMID 201)"},
        "ground/batch": {"claims": [{"claim": "Garlic cures baldness."}, {"claim": ""}]},
        "ground": {"claim": " "},
        "answer": {"question": 3},
    }
    with TestClient(create_app(open_libraries(Settings(index=index)), Settings())) as client:
        wait_until_ready(client)
        told = {path: client.post(f"/v1/{path}", json=body).text for path, body in asked.items()}
        told["examples"] = client.get("/v1/examples").text
        hold("api", {path: settle("\n".join(shown(line, seen) for line in text.splitlines())) for path, text in told.items()})
        hold("openapi", {"openapi.json": settle(pretty(leave_known(client.get("/openapi.json").json()), {}))})


def leave_known(value: Any, name: str = "") -> Any:
    """The description without its examples of whole answers, which are files of the repository, and titles made from names."""
    if isinstance(value, dict):
        made = {one.replace("_", " ").title() for one in (name, str(value.get("operationId")), str(value.get("name")))} | {name}
        kept = {key: one for key, one in value.items() if not (key in ("title", "summary") and str(one) in made)}
        of = {"schema": str(value.get("name", ""))}
        return {key: "…" if key == "example" else leave_known(one, of.get(key, key)) for key, one in kept.items()}
    return [leave_known(one) for one in value] if isinstance(value, list) else value


def test_help() -> None:
    def told(one: Any, name: str, parent: Any = None) -> Iterator[tuple[str, str]]:
        context = one.context_class(one, info_name=name, parent=parent, terminal_width=120, max_content_width=120)
        yield context.command_path, one.get_help(context)
        for inner in one.list_commands(context) if hasattr(one, "commands") else ():
            yield from told(one.get_command(context, inner), inner, context)

    hold("help", dict(told(typer.main.get_command(app), "counterpoint")))
