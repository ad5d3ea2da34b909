"""TREC Task B: reading its topics, runs that survive kills and silent servers, and checking them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from counterpoint.retrieval.core.errors import BadInput, Unfinished
from counterpoint.retrieval.core.values import Topic
from counterpoint.retrieval.index import Index
from counterpoint.service.answering.answer import Answerer
from counterpoint.service.trec.task_b import TaskBRunReport, answers_path, check, read_topics, run
from tests.helpers.commands import call
from tests.helpers.fakes import make_index
from tests.helpers.trec_fakes import TOPICS, ScriptedAnswerer

DOCUMENTS = [
    {"pmid": "11", "title": "Best", "abstract": "Zeta is for lower pressure. It is cheap."},
    {"pmid": "12", "title": "", "abstract": "Zeta is not against pressure."},
    {"pmid": "13", "title": "", "abstract": "Zeta is safe for all."},
    {"pmid": "x14", "title": "", "abstract": "Omega sleeps."},
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return make_index(tmp_path_factory.mktemp("task-b"), DOCUMENTS)


@pytest.fixture
def topics_file(tmp_path: Path) -> Path:
    path = tmp_path / "topics.json"
    path.write_text(json.dumps({"topics": TOPICS}))
    return path


def make_run(answerer: ScriptedAnswerer, topics_file: Path, out: Path) -> TaskBRunReport:
    return run(read_topics(topics_file), topics_file, cast(Answerer, answerer), out, "team", "run-1")


def test_both_forms_and_json_lines_are_read(topics_file: Path, tmp_path: Path) -> None:
    first, second, _ = topics = read_topics(topics_file)
    assert first == Topic("7", "Does zeta lower pressure?", "Zeta", "Effects of zeta on pressure.")
    assert second.id == "8"
    for text in (json.dumps(TOPICS), "".join(f"{json.dumps(topic)}\n" for topic in TOPICS)):
        other = tmp_path / "other"
        other.write_text(text)
        assert read_topics(other) == topics


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[{"meta_data": {"qa_id": "1", "question": "q"}, "answer": []}]', "input of Task A"),
        ('{"metadata": {"team_id": "t", "run_id": "r", "topic_id": "1"}, "responses": []}', "a run of Task B"),
        ('{"topics": {"id": 1}}', "topics should be a list, not an object"),
        ('[{"id": 1', "line 1"),
        ('[{"question": "q"}]', "topic 1: an id is missing; the record has question"),
        ('[{"id": 1, "topic": "t"}]', "topic 1 (id 1): a question is missing; the record has id, topic"),
        ('[{"id": 1, "question": 3}]', "question should be a text, not 3"),
        ("[]", "no topics"),
        ('[{"id": null, "question": "q"}]', "topic 1: id should be a text or number, not nothing"),
        ('[{"id": 1, "question": " \\n "}]', "topic 1 (id 1): The question is empty"),
        (json.dumps([{"id": 1, "question": "q", "narrative": "a " * 50_000}]), "99,999 characters"),
        ('[{"id": 1, "question": "q"}, {"id": "1", "question": "q"}]', "topic 2: id '1' is repeated"),
    ],
)
def test_wrong_topics_are_told_in_one_sentence(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "topics.json"
    path.write_text(text)
    with pytest.raises(BadInput) as error:
        read_topics(path)
    assert told in str(error.value)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def test_a_run_has_the_official_format_and_passes_its_own_check(index: Index, topics_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "run.jsonl"
    report = make_run(ScriptedAnswerer(index), topics_file, out)
    assert report == TaskBRunReport(
        topics=3, too_little=1, empty=1, sentences=4, removed=0, conflicts=0, tokens=0, cost=0.0, resumed=0
    )
    records = [json.loads(line) for line in out.read_text().splitlines()]
    assert records[0] == {
        "metadata": {"team_id": "team", "run_id": "run-1", "topic_id": "7"},
        "responses": [{"text": "Zeta lowers it.", "citations": [11, 13]}, {"text": "So it is.", "citations": [12]}],
    }
    assert records[1]["responses"][0]["citations"] == ["x14", 13]
    assert records[2]["responses"] == []
    assert check(out, read_topics(topics_file), index.store) == []
    assert not out.with_name("run.jsonl.partial").exists()
    facts = json.loads(out.with_name("run.jsonl.manifest.json").read_text())
    assert (facts["task"], facts["config"]["name"], facts["provenance"]["documents"]) == ("b", "counterpoint", 4)


def test_a_broken_run_goes_on_and_ends_with_the_same_bytes(index: Index, topics_file: Path, tmp_path: Path) -> None:
    undisturbed, broken = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    make_run(ScriptedAnswerer(index), topics_file, undisturbed)
    with pytest.raises(Unfinished):
        make_run(ScriptedAnswerer(index, silent=["8"]), topics_file, broken)
    assert not broken.exists()
    assert not answers_path(broken).exists()
    with broken.with_name("b.jsonl.partial").open("a") as journal:
        journal.write('["8", "torn')
    again = ScriptedAnswerer(index)
    report = make_run(again, topics_file, broken)
    assert (again.asked, report.resumed) == (["8"], 2)
    assert broken.read_bytes() == undisturbed.read_bytes()
    assert answers_path(broken).read_bytes() == answers_path(undisturbed).read_bytes()


def test_a_server_that_is_down_is_not_asked_for_every_topic(index: Index, tmp_path: Path) -> None:
    ids = [str(number) for number in range(60)]
    path = tmp_path / "many.json"
    path.write_text(json.dumps([{"id": one, "question": "Zeta?"} for one in ids]))
    down = ScriptedAnswerer(index, silent=ids)
    with pytest.raises(Unfinished, match="60 of 60 topics"):
        make_run(down, path, tmp_path / "run.jsonl")
    assert len(down.asked) <= 2 * (5 + 3)
    # Five that will never be answered do not keep the others from being asked.
    some = ScriptedAnswerer(index, silent=ids[:8])
    with pytest.raises(Unfinished, match="8 of 60 topics"):
        make_run(some, path, tmp_path / "run.jsonl")


Spoil = Callable[[list[dict[str, Any]]], object]


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda r: r.pop(), "topic 9: it is missing"),
        (lambda r: r[0]["responses"][1].update(citations=None), "topic 7, sentence 2: citations should be a list of PMIDs"),
        (
            lambda r: [one["metadata"].update(topic_id=str(n)) for n, one in enumerate(r, 181)],
            "the run: none of its topics, from 181 to 183, is in the input",
        ),
        (lambda r: r[1]["metadata"].update(topic_id="99"), "topic 99: the input has no topic with this topic_id"),
        (lambda r: r[0]["metadata"].update(run_id=" "), "topic 7: metadata.run_id is missing"),
        (lambda r: r[0]["responses"].append("text"), "topic 7, sentence 3: an object with text and citations"),
        (lambda r: r[0]["responses"][1].update(text=" "), "topic 7, sentence 2: the text is missing"),
        (lambda r: r[0]["responses"][1].update(text="a " * 248), "topic 7: its sentences have 251 words; at most 250"),
        (lambda r: r[0]["responses"][1].update(citations=[]), "topic 7, sentence 2: it has no citation"),
        (
            lambda r: r[0]["responses"][0].update(citations=[11, 12, 13, "x14"]),
            "topic 7, sentence 1: citations has 4 PMIDs; at most 3 are allowed",
        ),
        (lambda r: r[0]["responses"][0].update(citations=[77]), "sentence 1: citations contains 77, which is not in the index"),
    ],
)
def test_every_fault_is_named(index: Index, topics_file: Path, tmp_path: Path, spoil: Spoil, told: str) -> None:
    out = tmp_path / "run.jsonl"
    make_run(ScriptedAnswerer(index), topics_file, out)
    records = [json.loads(line) for line in out.read_text().splitlines()]
    spoil(records)
    out.write_text(json.dumps(records))  # a JSON list is a valid run, too
    faults = check(out, read_topics(topics_file), index.store)
    assert any(told in fault for fault in faults), faults


def test_exactly_250_words_are_allowed(index: Index, topics_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "run.jsonl"
    make_run(ScriptedAnswerer(index), topics_file, out)
    records = [json.loads(line) for line in out.read_text().splitlines()]
    records[0]["responses"][1]["text"] = "a " * 247
    # A line separator of Unicode within a text does not tear its line.
    records[0]["responses"][0]["text"] = "Zeta\u2028lowers it."
    out.write_text("".join(f"{json.dumps(record, ensure_ascii=False)}\n" for record in records))
    assert check(out, read_topics(topics_file), index.store) == []


def test_the_commands_make_a_run_and_check_it(
    index: Index, topics_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answerer = ScriptedAnswerer(index, silent=["8"], silence=2)
    monkeypatch.setattr("counterpoint.service.assembly.assemble_answerer", lambda *_, **__: answerer)
    out = tmp_path / "run.jsonl"
    settings = ("run", "task-b", topics_file, "--index", index.folder, "--out", out, "--team", "t", "--run-id", "r")
    unfinished = call(*settings)
    assert (unfinished.exit_code, len(unfinished.stderr.splitlines())) == (2, 2)
    assert "Error: 1 of 3 topics has no answer yet (8; " in unfinished.stderr
    done = call(*settings)
    assert done.exit_code == 0
    assert "3 topics, 4 sentences; on 1 topic the index has too little" in done.stderr
    assert "(2 topics were done in an earlier attempt)" in done.stderr
    assert "already exists" in call(*settings).stderr
    check_it = ("check-run", "task-b", out, "--topics", topics_file, "--index", index.folder)
    assert call(*check_it).exit_code == 0
    out.write_text(out.read_text().replace("[11, 13]", "[]"))
    faulty = call(*check_it)
    assert faulty.exit_code == 1
    assert faulty.stdout == "topic 7, sentence 1: it has no citation; at least one is required\n"
    assert call("check-run", "task-b", out, "--topics", tmp_path / "no.json", "--index", index.folder).exit_code == 2


@pytest.mark.parametrize(
    ("first", "last", "year", "told"),
    [
        (181, 210, 2025, ""),
        (116, 180, 2024, ""),
        (
            116,
            180,
            2025,
            "has 65 topics with ids from 116 to 180; the track of 2025 has the 30 from 181 to 210: give that year's",
        ),
        (181, 210, 2023, "--year 2023 is unknown for this task; expected 2024 or 2025"),
    ],
)
def test_the_topics_of_another_year_are_told(index: Index, tmp_path: Path, first: int, last: int, year: int, told: str) -> None:
    path, out = tmp_path / "topics.json", tmp_path / "run.jsonl"
    path.write_text(json.dumps([{"id": number, "question": "Zeta?"} for number in range(first, last + 1)]))
    make_run(ScriptedAnswerer(index), path, out)
    checked = call("check-run", "task-b", out, "--topics", path, "--index", index.folder, "--year", year)
    assert checked.exit_code == (2 if told else 0)
    assert told in checked.stderr


def test_empty_fields_of_topics_are_no_answers(tmp_path: Path) -> None:
    empty: dict[str, object] = {
        "topic": None,
        "narrative": None,
        "answer": None,
        "context": "",
        "retrieved_docs": [],
        "responses": None,
    }
    path = tmp_path / "topics.json"
    path.write_text(json.dumps([{"id": 7, "question": "Does tea help?"} | empty, {"id": 8, "question": "Why?", "answer": []}]))
    assert [(one.id, one.question, one.topic, one.narrative) for one in read_topics(path)] == [
        ("7", "Does tea help?", "", ""), ("8", "Why?", "", ""),
    ]  # fmt: skip
    path.write_text(json.dumps([{"id": 7, "question": None}]))
    with pytest.raises(BadInput, match="a question is missing"):
        read_topics(path)


def test_a_run_is_checked_without_an_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COUNTERPOINT_INDEX", raising=False)
    topics, run_file, corpus = tmp_path / "topics.json", tmp_path / "run.jsonl", tmp_path / "pmids.txt"
    topics.write_text(json.dumps([{"id": 7, "question": "Does tea help?"}]))
    metadata = {"team_id": "t", "run_id": "r", "topic_id": "7"}
    run_file.write_text(json.dumps({"metadata": metadata, "responses": [{"text": "It does.", "citations": [11, 12]}]}))
    corpus.write_text("11\n12\n")
    asked = ("check-run", "task-b", run_file, "--topics", topics)
    assert call(*asked, "--corpus-pmids", corpus).exit_code == 0
    corpus.write_text("11\n")
    checked = call(*asked, "--corpus-pmids", corpus)
    assert checked.exit_code == 1 and "contains 12, which is not in the track's corpus" in checked.output
    assert call(*asked).exit_code == 2
