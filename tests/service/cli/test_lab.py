"""The laboratory's commands: there with the extra `lab`, and without it one sentence says how to get them."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from service.cli.commands import app


def call(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, arguments)
    return result.exit_code, result.stdout, result.stderr


def test_without_the_extra_a_sentence_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eval.cli.distributions", lambda name: [])
    for command in (("eval", "claims", "claims.csv"), ("eval", "beir")):
        code, out, said = call(*command)
        assert (code, out) == (2, "")
        assert said.startswith(f"Error: `counterpoint {command[0]} {command[1]}` needs the extra “lab”: install it with `pip ")
        assert len(said.splitlines()) == 1
    assert call("eval", "--help")[0] == 0


def test_the_measures_on_scifact_need_no_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eval.cli.distributions", lambda name: [])
    monkeypatch.delenv("COUNTERPOINT_DATA", raising=False)
    for command in (("predictions", "predictions.jsonl"), ("scifact",)):
        code, _, said = call("eval", *command)
        assert code == 2 and "No data folder is named" in said


def test_a_command_of_the_product_looks_for_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: pytest.fail("looked for plug-ins"))
    assert call("ground", "--help")[0] == 0
