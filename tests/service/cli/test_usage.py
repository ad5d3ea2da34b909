"""A command that was typed wrongly: one sentence, with the command that is meant."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.commands import call

ROOT = Path(__file__).parents[3]
INDEX = "COUNTERPOINT_INDEX"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(INDEX, raising=False)
    yield


def told(*arguments: object, **environment: str) -> str:
    """What a command that cannot run says: one line, with exit code 2."""
    result = call(*arguments, **environment)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ") and len(result.stderr.splitlines()) == 1, result.stderr
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.stderr.removeprefix("Error: ").strip()


@pytest.mark.parametrize(
    "command", [("ground", "Zeta helps."), ("answer", "Does it?"), ("search", "x"), ("show", "1"), ("watch", "run")]
)
def test_without_an_index_both_ways_of_naming_one_are_told(command: tuple[str, ...]) -> None:
    said = told(*command)
    assert "give its folder with --index, or in the variable COUNTERPOINT_INDEX" in said
    assert "--index INDEX" in said


def test_every_command_with_an_index_takes_it_from_the_environment() -> None:
    commands = [
        ("ground", "Zeta helps."), ("answer", "Does it?"), ("check", "-"), ("search", "x"), ("show", "1"), ("mcp",), ("serve",),
        ("saved", "add", "Zeta helps."),
    ]  # fmt: skip
    for command in commands:
        assert INDEX in " ".join(call(*command, "--help").output.split())
    for command in (*commands[3:5], *commands[6:7]):
        said = told(*command, COUNTERPOINT_INDEX="nowhere")
        assert said.startswith("There is no index at nowhere") and f"the variable {INDEX} names this index" in said
        assert INDEX not in told(*command, "--index", "there", COUNTERPOINT_INDEX="nowhere")


def test_an_index_in_the_environment_is_used(demo_folder: Path) -> None:
    result = call("search", "heart", "-n", 1, "--format", "csv", COUNTERPOINT_INDEX=str(demo_folder))
    assert result.exit_code == 0 and len(result.stdout.splitlines()) == 2


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("ground Zeta lowers pressure", "counterpoint ground 'Zeta lowers pressure' --index INDEX"),
        ("ground --index i Zeta lowers pressure --json", "counterpoint ground 'Zeta lowers pressure' --index i --json"),
        ("answer Does zeta work --index i", "counterpoint answer 'Does zeta work' --index i"),
        ("search zeta changes pressure --index i -n 5", "counterpoint search 'zeta changes pressure' --index i -n 5"),
        ("saved add Zeta works --index i", "counterpoint saved add 'Zeta works' --index i"),
        ("check Zeta works --index i --lines", "counterpoint ground 'Zeta works' --index i"),
        ("evidence Zeta works --paper p.xml -k 2", "counterpoint evidence 'Zeta works' --paper p.xml -k 2"),
    ],
)  # fmt: skip
def test_words_without_quotes_are_offered_in_quotes(typed: str, meant: str) -> None:
    assert f"`{meant}`" in told(*typed.split())


def test_a_file_name_without_quotes_is_offered_in_quotes() -> None:
    Path("my text.md").write_text("Zeta works.")
    assert "`counterpoint check 'my text.md' --index i`" in told("check", "my", "text.md", "--index", "i")


def test_an_argument_too_many_beside_quotes_is_told_as_such() -> None:
    said = told("ground", "Zeta works.", "--known", "1,", "2", "--index", "i")
    assert "extra argument(s) (2)" in said and "quotes" not in said


@pytest.mark.parametrize("claim", ["Zeta lowers pressure.", "Zeta lowers HbA1c by 0.5 percent", "Zeta " * 100])
def test_a_sentence_in_place_of_a_file_is_offered_to_ground(claim: str) -> None:
    assert f"`counterpoint ground '{claim}' --index i`" in told("check", claim, "--index", "i")


def test_a_missing_file_with_blanks_in_its_name_is_no_sentence() -> None:
    said = told("check", "my text.docx", "--index", "i")
    assert "my text.docx cannot be read" in said and "ground" not in said


@pytest.mark.parametrize("command", [("ground",), ("answer",), ("saved", "add")])
@pytest.mark.parametrize("file", ["text.docx", "A text.pdf", "notes.MD", "data.any"])
def test_a_file_in_place_of_a_sentence_is_offered_to_check(command: tuple[str, ...], file: str) -> None:
    if file in ("A text.pdf", "data.any"):
        Path(file).touch()
    said = told(*command, file, "--index", "i")
    assert f"{file} is a file" in said and "`counterpoint check " in said and "--index i`" in said


def test_a_paper_in_place_of_a_hypothesis_becomes_an_option() -> None:
    Path("paper.xml").touch()
    for words in (("paper.xml", "Zeta works."), ("Zeta works.", "paper.xml")):
        assert "`counterpoint evidence 'Zeta works.' --paper paper.xml`" in told("evidence", *words)
    assert "`counterpoint evidence 'Zeta works.' --paper FILE`" in told("evidence", "Zeta works.")


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        (("gruond", "x"), "Did you mean 'ground'"),
        (("index", "bild"), "Did you mean 'build'"),
        (("ground", "x", "--indx", "i"), "--index"),
        (("ground", "x", "-index", "i"), "did you mean --index?"),
        (("ground", "x", "-index=i"), "did you mean --index"),
        (("ground", "x", "—index", "i"), "an option begins with two hyphens: --index."),
        (("show", "--index", "i"), "PMID is missing; the command looks like `counterpoint show --index i PMID`"),
        (("search", "x", "-n", "0"), "0 is not in the range 1<=x<=1000"),
        (("search", "x", "-n", "-1"), "-1 is not in the range"),
        (("search", "x", "-n", "9" * 40), "is not in the range"),
        (("search", "x", "-n", "ten"), "'ten' is not a whole number"),
        (("history", "--limit", "0"), "0 is not in the range"),
        (("index", "fetch", "x", "--out", "o", "--max", "0"), "0 is not in the range"),
        (("index", "build", "x", "--out", "o", "--skip-bad", "-1"), "-1 is not in the range"),
        (("ground", "x", "--format", "xml"), "'xml' is not one of"),
        (("--bogus",), "No such option: --bogus"),
        (("index", "build", "x", "--out"), "requires an argument"),
    ],
)
def test_a_mistyped_command_is_told_in_one_sentence(typed: tuple[str, ...], words: str) -> None:
    assert words in told(*typed)


@pytest.mark.parametrize("count", [0, -1, 10**30])
def test_a_number_of_sentences_that_a_paper_does_not_have_is_told(count: int) -> None:
    Path("paper.txt").write_text("Zeta works. It lowers pressure.")
    assert f"k is {count}" in told("evidence", "Zeta works.", "--paper", "paper.txt", "-k", count).replace(",", "")


def run(
    *arguments: str | bytes, stdout: int = subprocess.PIPE, limit: float = 60, **environment: str
) -> subprocess.CompletedProcess[bytes]:
    code = "import sys; from service.cli.commands import main; sys.argv[0] = 'counterpoint'; main()"
    whole = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], stdout=stdout, stderr=subprocess.PIPE, env=whole, timeout=limit, check=False
    )


def test_bytes_that_are_no_text_are_told() -> None:
    result = run("check", b"\xff.md", "--index", "i")
    assert result.returncode == 2 and result.stderr.count(b"\n") == 1 and b"cannot be read" in result.stderr


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_any_letter_is_written_in_any_encoding(demo_folder: Path, tmp_path: Path, encoding: str) -> None:
    folder = shutil.copytree(demo_folder, tmp_path / "größe ≥ 1")
    result = run("index", "info", str(folder), PYTHONIOENCODING=encoding)
    assert result.returncode == 0, result.stderr
    assert b"documents        66" in result.stdout


def test_a_reader_that_leaves_is_no_fault(demo_folder: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    result = run("index", "info", str(demo_folder), "--json", stdout=writing)
    os.close(writing)
    assert (result.returncode, result.stderr) == (1, b"")
