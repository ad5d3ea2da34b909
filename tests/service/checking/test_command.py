"""`counterpoint check` as a user meets it: outputs whole or not at all, stopped and gone on, every fault one sentence."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from counterpoint.retrieval.core.values import Claim, Grounding
from counterpoint.retrieval.index import Index
from counterpoint.service.cli.commands import app
from counterpoint.service.grounding.ground import Grounder
from counterpoint.service.grounding.values import OnStage
from tests.helpers.fakes import make_index, make_reading_grounder
from tests.helpers.texts import DOCUMENTS

TEXT = "Does zeta help? Zeta lowers pressure (PMID 1). Omega lowers sugar. Kappa lowers weight."


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return make_index(tmp_path_factory.mktemp("command"), DOCUMENTS)


@pytest.fixture(autouse=True)
def with_fakes(monkeypatch: pytest.MonkeyPatch, index: Index) -> None:
    monkeypatch.setattr("counterpoint.service.assembly.assemble", lambda folder, config, profile: make_reading_grounder(index))


def call(*arguments: object, given: str = "") -> Result:
    return CliRunner().invoke(app, ["check", *(str(argument) for argument in arguments)], input=given)


def test_a_list_of_claims_has_no_sentences_to_count(tmp_path: Path, index: Index) -> None:
    file = tmp_path / "claims.txt"
    file.write_text("Zeta lowers pressure.\nOmega lowers sugar.\n")
    result = call(file, "--lines", "--index", index.folder)
    assert "2 claims to check.\n" in result.stderr
    assert "2 claims: 1 contradicted, 1 supported." in result.stdout


@pytest.mark.parametrize("ending", [".html", ".csv", ".md", ".json", ".xlsx"])
def test_the_ending_names_the_format_and_nothing_is_left_beside_it(tmp_path: Path, index: Index, ending: str) -> None:
    file, out = tmp_path / "a.txt", tmp_path / f"out{ending}"
    file.write_text(TEXT)
    result = call(file, "--index", index.folder, "--out", out)
    assert result.exit_code == 0, result.output
    assert out.stat().st_size > 100 and sorted(one.name for one in tmp_path.iterdir()) == ["a.txt", out.name]
    assert call(file, "--index", index.folder, "--out", out).exit_code == 2, "it is there already"


def test_a_list_of_claims_a_line_each(tmp_path: Path, index: Index) -> None:
    result = call("-", "--lines", "--index", index.folder, "--json", given="zeta changes pressure\nomega lowers sugar\n")
    assert [one["row"] for one in json.loads(result.stdout)["sentences"]] == [1, 2]


def test_a_stopped_check_goes_on_where_it_was_and_ends_the_same(
    tmp_path: Path, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, whole, out = tmp_path / "a.txt", tmp_path / "whole.json", tmp_path / "out.json"
    file.write_text(TEXT)
    assert call(file, "--index", index.folder, "--out", whole).exit_code == 0
    grounded: list[str] = []
    plain = Grounder.ground

    def ground(self: Grounder, claim: Claim, on_stage: OnStage | None = None) -> Grounding:
        if claim.text.startswith("Kappa") and "stop" not in grounded:
            grounded.append("stop")
            deadline = time.monotonic() + 20
            while len((tmp_path / "out.json.partial").read_text().splitlines()) < 2 and time.monotonic() < deadline:
                time.sleep(0.01)
            raise KeyboardInterrupt
        grounded.append(claim.text)
        return plain(self, claim, on_stage)

    monkeypatch.setattr(Grounder, "ground", ground)
    stopped = call(file, "--index", index.folder, "--out", out)
    assert stopped.exit_code != 0 and not out.exists() and (tmp_path / "out.json.partial").exists()
    kept = len((tmp_path / "out.json.partial").read_text().splitlines()) - 1
    assert f"Stopped after {kept} of 3 claims; they are saved, and the same command resumes from there." in stopped.stderr
    grounded.clear()
    grounded.append("stop")
    resumed = call(file, "--index", index.folder, "--out", out)
    assert resumed.exit_code == 0, resumed.output
    assert len(grounded) - 1 == 3 - kept, "what was kept is not grounded again"
    assert f"{kept} claim{'s were' if kept > 1 else ' was'} there from an earlier try" in resumed.stderr
    assert out.read_bytes() == whole.read_bytes() and not (tmp_path / "out.json.partial").exists()


@pytest.mark.parametrize(
    ("arguments", "given", "told"),
    [
        (["none.txt"], "", "none.txt cannot be read"),
        (["-"], " \n", "Standard input is empty"),
        (["-", "--out", "x.docx"], TEXT, "x.docx has no ending that names a format"),
        (["-", "--column", "x"], "id,a\n1,b\n", "has no column “x”; its columns are id, a; name one of them with --column."),
        (["-", "--out", "no/such/folder.html"], TEXT, "does not exist"),
    ],
)
def test_every_fault_is_one_sentence(index: Index, arguments: list[str], given: str, told: str) -> None:
    result = call(*arguments, "--index", index.folder, given=given)
    assert result.exit_code == 2
    assert told in result.stderr and len(result.stderr.strip().splitlines()) == 1
