"""The command line as a user meets it: one sentence and exit code 2 for every fault, never a traceback."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from counterpoint.indexes.plan import make_manifest
from counterpoint.retrieval.core.errors import BadConfig
from counterpoint.retrieval.index import Index
from counterpoint.retrieval.store.manifest import DensePart, IndexCounts, View
from counterpoint.service.cli.commands import app
from tests.helpers.commands import call, told
from tests.helpers.fakes import make_grounder, make_index


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return make_index(
        tmp_path_factory.mktemp("cli"),
        [
            {"pmid": "1", "title": "One", "abstract": "Zeta is not against pressure.", "year": 1999},
            {"pmid": "2", "title": "Two", "abstract": "Zeta is for pressure.", "retracted": True},
        ],
    )


def assert_told(result: Result, words: str) -> None:
    assert result.exit_code == 2, result.output
    assert words in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert result.exception is None or isinstance(result.exception, SystemExit)


@pytest.fixture
def with_fakes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "counterpoint.service.assembly.assemble", lambda folder, config, profile: make_grounder(Index(folder), config)[0]
    )


def test_the_version_is_told() -> None:
    result = call("--version")
    assert (result.exit_code, result.output) == (0, f"counterpoint {version('counterpoint')}\n")
    assert "--version" in call("--help").output


@pytest.mark.usefixtures("with_fakes")
@pytest.mark.parametrize(
    ("known", "read"),
    [
        ("19564453", ["19564453"]),
        ("PMID 19564453,PMID:2", ["19564453", "2"]),
        ("https://pubmed.ncbi.nlm.nih.gov/19564453/, 2,, 2", ["19564453", "2"]),
        ("own-two,10.1000/own", ["own-two"]),
    ],
)
def test_a_known_paper_is_a_pmid_or_in_the_index(tmp_path: Path, known: str, read: list[str]) -> None:
    own = {"pmid": "own-two", "title": "Two", "abstract": "Zeta is for pressure.", "doi": "10.1000/own"}
    folder = make_index(tmp_path, [own, {"pmid": "2", "title": "Two", "abstract": "Zeta."}]).folder
    result = call("ground", "Zeta lowers pressure.", "--index", folder, "--json", "--known", known)
    assert json.loads(result.stdout)["claim"]["known_pmids"] == read


@pytest.mark.usefixtures("with_fakes")
@pytest.mark.parametrize("known", ["abc", "1,abc", "1 2", "PMID abc1", "12a", "٣", "10.1000/elsewhere"])
def test_what_is_no_paper_is_refused_as_known(index: Index, known: str) -> None:
    for command in (("ground",), ("saved", "add")):
        told = CliRunner().invoke(
            app,
            [*command, "Zeta lowers pressure.", "--index", str(index.folder), "--known", known],
            env={"COUNTERPOINT_STATE": str(index.folder.parent / "state")},
        )
        assert_told(told, "is given as a known paper, but is neither a PMID nor the id of a document of this index")


@pytest.mark.usefixtures("with_fakes")
@pytest.mark.parametrize("columns", ["20", "60", "200", None])
def test_no_id_is_cut_at_any_width(tmp_path: Path, columns: str | None) -> None:
    ids = ["12345678", "my-own-paper-of-a-group-with-a-long-name-1999"]
    papers = [
        {
            "pmid": id, "title": f"Zeta and hydroxychlorothiazide {id[:1]}", "abstract": "Zeta is not against pressure.",
            "journal": "Journal of Zeta", "year": 1999,
        }
        for id in ids
    ]  # fmt: skip
    folder = str(make_index(tmp_path, papers).folder)
    commands = [
        ["search", "zeta"],
        ["show", ids[1]],
        *(["ground", "Zeta lowers pressure.", *more] for more in (["--format", "table"], [])),
    ]
    for command in commands:
        shown = CliRunner().invoke(app, [*command, "--index", folder], env={"COLUMNS": columns})
        assert shown.exit_code == 0
        for id in ids[-1:] if command[0] == "show" else ids:
            assert id in shown.stdout, shown.stdout
        assert "hydroxychlorothiazide" in shown.stdout or columns == "20"


@pytest.mark.parametrize(
    ("options", "variant", "grounding"),
    [
        ((), "counterpoint", None),
        (("--config", "v5"), "counterpoint", "v5"),
        (("--config", "v5", "--answers", "mine.yaml"), "mine.yaml", "v5"),
        (("--config", "under.yaml"), "counterpoint", "under.yaml"),
    ],
)
def test_config_is_a_grounding_variant_wherever_answers_are_made(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[str, ...],
    variant: str,
    grounding: str | None,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("topics.json").write_text(json.dumps({"topics": [{"id": 1, "topic": "t", "question": "q", "narrative": "n"}]}))
    asked: list[tuple[str, str | None]] = []

    def assemble(index: Path, answers: str, profile: str, grounding: str | None = None, **_: bool) -> None:
        asked.append((answers, grounding))
        raise BadConfig("This is far enough.")

    monkeypatch.setattr("counterpoint.service.assembly.assemble_answerer", assemble)
    run = ("run", "task-b", "topics.json", "--out", "run.jsonl", "--team", "t", "--run-id", "r")
    for command in (("answer", "Does zeta work?"), run):
        result = call(*command, "--index", "nowhere", *options)
        assert result.exit_code == 2
        assert result.stderr.splitlines() == ["Error: This is far enough."]
    assert asked == [(variant, grounding)] * 2


def test_an_answer_variant_in_the_place_of_a_grounding_variant_is_told(index: Index) -> None:
    wrong = call("answer", "Does zeta work?", "--index", index.folder, "--config", "paper-v3")
    assert_told(wrong, "There is no configuration called 'paper-v3'")
    assert_told(call("answer", "Does zeta work?", "--index", "nowhere", "--config", "no.yaml"), "no configuration file no.yaml")


def test_info_prints_counts_and_sources(index: Index) -> None:
    output = call("index", "info", index.folder).output
    assert "documents        2 (1 marked as retracted)" in output
    assert "corpus.jsonl (counterpoint, 2 records)" in output
    assert json.loads(call("index", "info", index.folder, "--json").output)["counts"]["documents"] == 2


def test_without_the_extra_a_sentence_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("counterpoint.eval.cli.distributions", lambda name: [])
    for command in (("eval", "claims", "claims.csv"), ("eval", "beir")):
        result = call(*command)
        code, out, said = result.exit_code, result.stdout, result.stderr
        assert (code, out) == (2, "")
        assert said.startswith(f"Error: `counterpoint {command[0]} {command[1]}` needs the extra “lab”: install it with `pip ")
        assert len(said.splitlines()) == 1
    assert call("eval", "--help").exit_code == 0


def test_the_measures_on_scifact_need_no_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("counterpoint.eval.cli.distributions", lambda name: [])
    monkeypatch.delenv("COUNTERPOINT_DATA", raising=False)
    for command in (("predictions", "predictions.jsonl"), ("scifact",)):
        result = call("eval", *command)
        code, said = result.exit_code, result.stderr
        assert code == 2 and "No data folder is named" in said


def test_a_command_of_the_product_looks_for_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("counterpoint.service.cli.usage.entry_points", lambda **_: pytest.fail("looked for plug-ins"))
    assert call("ground", "--help").exit_code == 0


ROOT = Path(__file__).parents[3]
INDEX = "COUNTERPOINT_INDEX"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(INDEX, raising=False)
    yield


@pytest.mark.parametrize(
    "command", [("ground", "Zeta helps."), ("answer", "Does it?"), ("search", "x"), ("show", "1"), ("watch", "run")]
)
def test_without_an_index_both_ways_of_naming_one_are_told(command: tuple[str, ...]) -> None:
    said = told(*command)
    assert "give its folder with --index, or in the variable COUNTERPOINT_INDEX" in said
    assert "--index INDEX" in said


@pytest.mark.parametrize(
    ("package", "extra", "command"),
    [
        ("mcp", "mcp", ("mcp", "--index", "DIR")),
        ("opensearchpy", "cluster", ("index", "info", "opensearch://127.0.0.1:1/x")),
    ],
)
def test_a_package_that_is_not_installed_is_named(
    monkeypatch: pytest.MonkeyPatch, package: str, extra: str, command: tuple[str, ...]
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    assert f"run `pip install 'counterpoint[{extra}]'`" in told(*command)


@pytest.mark.parametrize("view", ["full", "short", None])
@pytest.mark.parametrize("ways", [("copy_to_cluster", "opensearch://h:9200/x"), ("copy_to_folder", "folder")])
def test_a_copy_says_how_its_vectors_are_made(monkeypatch: pytest.MonkeyPatch, ways: tuple[str, str], view: View | None) -> None:
    copier, out = ways
    part = DensePart("encoder", 384, "Flat", 2, "ab", "", view) if view else None
    manifest = replace(make_manifest(1, "v0001", (IndexCounts(2, 2, 0, 0, 0), "ab"), []), dense=part)
    monkeypatch.setattr("counterpoint.retrieval.index.read_index_manifest", lambda _: manifest)
    monkeypatch.setattr(f"counterpoint.indexes.cluster.places.{copier}", lambda *_: replace(manifest, dense=None))
    result = call("index", "copy", "folder" if copier == "copy_to_cluster" else "opensearch://h:9200/x", out)
    assert result.exit_code == 0, result.output
    said = [line for line in result.stderr.splitlines() if "vectors" in line]
    assert len(said) == bool(view)
    assert all(f"`counterpoint index dense {out} --dense {view}` makes them anew." in line for line in said)


def test_an_index_in_the_environment_is_used(demo_folder: Path) -> None:
    result = call("search", "heart", "-n", 1, "--format", "csv", COUNTERPOINT_INDEX=str(demo_folder))
    assert result.exit_code == 0 and len(result.stdout.splitlines()) == 2


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("ground --index i Zeta lowers pressure --json", "counterpoint ground 'Zeta lowers pressure' --index i --json"),
        ("check Zeta works --index i --lines", "counterpoint ground 'Zeta works' --index i"),
        ("evidence Zeta works --paper p.xml -k 2", "counterpoint evidence 'Zeta works' --paper p.xml -k 2"),
    ],
)  # fmt: skip
def test_words_without_quotes_are_offered_in_quotes(typed: str, meant: str) -> None:
    assert f"`{meant}`" in told(*typed.split())


def test_a_file_name_without_quotes_is_offered_in_quotes() -> None:
    Path("my text.md").write_text("Zeta works.")
    assert "`counterpoint check 'my text.md' --index i`" in told("check", "my", "text.md", "--index", "i")


@pytest.mark.parametrize("claim", ["Zeta lowers pressure.", "Zeta lowers HbA1c by 0.5 percent", "Zeta " * 100])
def test_a_sentence_in_place_of_a_file_is_offered_to_ground(claim: str) -> None:
    assert f"`counterpoint ground '{claim}' --index i`" in told("check", claim, "--index", "i")


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
    assert "`counterpoint evidence 'Zeta works.' --paper PAPER`" in told("evidence", "Zeta works.")


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        (("gruond", "x"), "Did you mean 'ground'"),
        (("ground", "x", "--indx", "i"), "--index"),
        (("ground", "x", "-index", "i"), "did you mean --index?"),
        (("ground", "x", "—index", "i"), "an option begins with two hyphens: --index."),
        (("show", "--index", "i"), "PMID is missing; the command looks like `counterpoint show --index i PMID`"),
        (("search", "x", "-n", "0"), "0 is not between 1 and 1000"),
        (("search", "x", "-n", "ten"), "'ten' is not a whole number"),
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
    code = "import sys; from counterpoint.service.cli.commands import main; sys.argv[0] = 'counterpoint'; main()"
    whole = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], stdout=stdout, stderr=subprocess.PIPE, env=whole, timeout=limit, check=False
    )


def test_bytes_that_are_no_text_are_told() -> None:
    result = run("check", b"\xff.md", "--index", "i")
    assert result.returncode == 2 and result.stderr.count(b"\n") == 1 and b"cannot be read" in result.stderr


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
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


def test_run_and_check_run(index: Index, tmp_path: Path) -> None:
    input_file, out = tmp_path / "in.json", tmp_path / "run.jsonl"
    items = [{"meta_data": {"qa_id": "1", "question": "Zeta?"}, "answer": [{"text": "Zeta lowers pressure."}]}]
    input_file.write_text(json.dumps(items))
    settings = ("--index", index.folder, "--out", out, "--team", "t", "--run-id", "r", "--config", "bm25")
    for option in ("--team", "--run-id"):
        assert_told(call("run", "task-a", input_file, *settings, option, " "), f"{option} is empty;")
    result = call("run", "task-a", input_file, *settings)
    assert result.exit_code == 0 and "Grounding 1 sentence of 1 item with bm25" in result.stderr
    result = call("check-run", "task-a", out, "--input", input_file, "--index", index.folder)
    assert result.exit_code == 0 and result.stderr.endswith("is a valid Task A run: 1 item, 1 sentence.\n")
    assert_told(call("run", "task-a", input_file, *settings), "already exists")
    # 2 is retracted, so the run names no support.
    out.write_text(out.read_text().replace('"supported_citations": []', '"supported_citations": [77]'))
    result = call("check-run", "task-a", out, "--input", input_file, "--index", index.folder)
    assert result.exit_code == 1
    assert result.stdout == "item 1, sentence 1: supported_citations contains 77, which is not in the index\n"
    topics = tmp_path / "topics.json"
    topics.write_text(json.dumps({"topics": [{"id": 1, "topic": "t", "question": "q", "narrative": "n"}]}))
    assert_told(call("run", "task-a", topics, *settings), "input of Task B")
