"""The command line as a user meets it: one sentence and exit code 2 for every fault, never a traceback."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from retrieval.core.errors import BadConfig
from retrieval.index import Index
from service.cli.commands import app
from tests.helpers.commands import call
from tests.helpers.fakes import make_grounder, make_index, make_reading_grounder


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
    monkeypatch.setattr("service.assembly.assemble", lambda folder, config, profile: make_grounder(Index(folder), config)[0])


def test_the_version_is_told() -> None:
    result = call("--version")
    assert (result.exit_code, result.output) == (0, f"counterpoint {version('counterpoint')}\n")
    assert "--version" in call("--help").output


@pytest.mark.usefixtures("with_fakes")
def test_ground_shows_contradictions_first_with_their_cues_marked(index: Index) -> None:
    result = call("ground", "zeta changes pressure", "--index", index.folder)
    assert result.exit_code == 0
    places = [result.output.index(one) for one in ("Contradicting: 1", "Supporting: none", "Uncertain (judge for yourself): 1")]
    assert places == sorted(places)
    assert "Zeta is [[not]] against pressure." in result.output
    assert "RETRACTED" in result.output
    assert "2 documents found, 2 read, 2 sentences." in " ".join(result.output.split())


def test_a_verdict_on_the_whole_paper_is_printed_with_one_number(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.assembly.assemble", lambda folder, config, profile: make_reading_grounder(Index(folder)))
    output = " ".join(call("ground", "zeta changes pressure", "--index", index.folder).stdout.split())
    assert "80% likely that the paper contradicts the claim; “not” negates “against pressure” (judged by word-reader@1)" in output
    assert "70% likely that the paper supports the claim (judged by word-reader@1)" in output
    assert "score" not in output
    bar = next(word for word in output.split() if "█" in word)
    assert set(bar) <= set("█▒▓░") and 38 <= len(bar) <= 42
    assert output.index("this claim. ") < output.index(bar) < output.index("read, ") < output.index("Contradicting: ")


@pytest.mark.usefixtures("with_fakes")
def test_a_verdict_on_a_sentence_is_printed_beside_the_score(index: Index) -> None:
    output = " ".join(call("ground", "zeta changes pressure", "--index", index.folder, "--config", "v5").output.split())
    assert "score 0.800 (word-judge@1); 80% likely that the sentence contradicts the claim" in output


@pytest.mark.usefixtures("with_fakes")
def test_ground_json_is_the_apis(index: Index) -> None:
    result = call("ground", "zeta changes pressure", "--index", index.folder, "--json", "--known", "2,1")
    body = json.loads(result.stdout)
    assert body["claim"]["known_pmids"] == ["2", "1"]
    assert [one["pmid"] for one in body["contradicting"]] == ["1"]
    assert body["supporting"] == []


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
@pytest.mark.parametrize("columns", ["20", "40", "60", "80", "200", None])
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
    ("arguments", "words"),
    [
        (("", "--config", "bm25"), "claim is empty"),
        (("x " * 50_000, "--config", "bm25"), "99,999 characters"),
        (("zeta", "--config", "v6"), "no configuration called 'v6'"),
        (("zeta", "--config", "bm25", "--profile", "huge"), "no profile called 'huge'"),
    ],
)
def test_ground_tells_what_is_wrong(index: Index, arguments: tuple[str, ...], words: str) -> None:
    assert_told(call("ground", *arguments, "--index", index.folder), words)


NOTE = "--config names a grounding variant; write --answers {} for the answer variant."


@pytest.mark.parametrize(
    ("options", "variant", "grounding", "note"),
    [
        ((), "counterpoint", None, None),
        (("--answers", "paper-v4"), "paper-v4", None, None),
        (("--config", "v5"), "counterpoint", "v5", None),
        (("--config", "counterpoint"), "counterpoint", "counterpoint", None),
        (("--config", "v5", "--answers", "mine.yaml"), "mine.yaml", "v5", None),
        (("--config", "under.yaml"), "counterpoint", "under.yaml", None),
        (("--config", "paper-v4"), "paper-v4", None, NOTE.format("paper-v4")),
        (("--config", "mine.yaml"), "mine.yaml", None, NOTE.format("mine.yaml")),
    ],
)
def test_config_is_a_grounding_variant_wherever_answers_are_made(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[str, ...],
    variant: str,
    grounding: str | None,
    note: str | None,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.yaml").write_text("name: mine\ngenerate: {generator: writer}\n")
    Path("under.yaml").write_text("name: under\ncontradict: {}\n")
    Path("topics.json").write_text(json.dumps({"topics": [{"id": 1, "topic": "t", "question": "q", "narrative": "n"}]}))
    asked: list[tuple[str, str | None]] = []

    def assemble(index: Path, answers: str, profile: str, grounding: str | None) -> None:
        asked.append((answers, grounding))
        raise BadConfig("This is far enough.")

    monkeypatch.setattr("service.assembly.assemble_answerer", assemble)
    run = ("run", "task-b", "topics.json", "--out", "run.jsonl", "--team", "t", "--run-id", "r")
    for command in (("answer", "Does zeta work?"), run):
        result = call(*command, "--index", "nowhere", *options)
        assert result.exit_code == 2
        assert result.stderr.splitlines() == [*([note] if note else []), "Error: This is far enough."]
    assert asked == [(variant, grounding)] * 2


def test_two_answer_variants_or_a_missing_file_are_told() -> None:
    both = call("answer", "Does zeta work?", "--index", "nowhere", "--config", "paper-v3", "--answers", "paper-v4")
    assert_told(both, "paper-v3 is an answer variant, beside --answers paper-v4")
    assert_told(call("answer", "Does zeta work?", "--index", "nowhere", "--config", "no.yaml"), "no configuration file no.yaml")


def test_a_wrong_value_in_a_profile_is_told_before_anything_is_opened(tmp_path: Path) -> None:
    profile = tmp_path / "mine.yaml"
    profile.write_text('name: mine\njudges: {stance: {kind: t5, model: m, batch_size: "16"}}\n')
    told = f"The profile {profile} cannot be used: judges.stance.batch_size should be a valid integer, not the text '16'."
    assert_told(call("ground", "zeta", "--index", tmp_path / "nowhere", "--profile", profile), told)


def test_a_missing_index_is_told_everywhere(tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere"
    assert_told(call("ground", "zeta", "--index", nowhere, "--config", "bm25"), "There is no index at")
    assert_told(call("serve", "--index", nowhere), "There is no index at")
    assert_told(call("index", "info", nowhere), "There is no index at")


def test_a_building_of_one_document_is_told_in_the_singular(tmp_path: Path) -> None:
    (tmp_path / "one.jsonl").write_text(json.dumps({"pmid": "1", "title": "Zeta", "abstract": "Zeta does not help."}) + "\n")
    told = call("index", "build", tmp_path / "one.jsonl", "--out", tmp_path / "index", "--no-examples").stderr
    assert ": 1 document, 1 sentence, 1 negation cue, in " in told


def test_the_help_of_check_names_its_formats() -> None:
    told = call("check", "--help").output
    assert all(name in told for name in ("Markdown", "HTML", "DOCX", "PDF", "CSV", "TSV", ".html", ".xlsx")), told


def test_info_prints_counts_and_sources(index: Index) -> None:
    output = call("index", "info", index.folder).output
    assert "documents        2 (1 marked as retracted)" in output
    assert "corpus.jsonl (counterpoint, 2 records)" in output
    assert json.loads(call("index", "info", index.folder, "--json").output)["counts"]["documents"] == 2


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
