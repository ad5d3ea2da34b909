"""TREC Task A: reading its input, runs that survive being killed, and checking them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from counterpoint.retrieval.core.errors import BadInput, OutOfSpace
from counterpoint.retrieval.core.values import Claim
from counterpoint.retrieval.index import Index
from counterpoint.service.grounding.ground import Grounder
from counterpoint.service.runs.journal import check_target
from counterpoint.service.trec.task_a import check, read_items, run
from tests.helpers.fakes import make_grounder, make_index
from tests.helpers.trec_fakes import DOCUMENTS

ITEMS: list[dict[str, Any]] = [
    {
        "meta_data": {"qa_id": "7", "question": "Does zeta lower pressure?"},
        "answer": [
            {"text": "Zeta lowers pressure.", "existing_supported_citations": [11]},
            {"text": "Zeta is best.", "existing_supported_citations": None},
        ],
    },
    {"metadata": {"qa_id": 8, "question": "What else?"}, "answer": [{"text": "Zeta is safe."}]},
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return make_index(tmp_path_factory.mktemp("task-a"), DOCUMENTS)


@pytest.fixture
def input_file(tmp_path: Path) -> Path:
    path = tmp_path / "input.json"
    path.write_text(json.dumps(ITEMS))
    return path


def make_run(grounder: Grounder, input_file: Path, out: Path) -> None:
    run(read_items(input_file), input_file, grounder, out, "team", "run-1")


def test_both_spellings_and_null_citations_are_read(input_file: Path) -> None:
    first, second = read_items(input_file)
    assert (first.qa_id, second.qa_id) == ("7", "8")
    assert first.claims()[0] == Claim("Zeta lowers pressure.", "Does zeta lower pressure?", ("11",), "7.1")
    assert first.answer[1].existing == ()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"topics": [{"id": 116, "topic": "t", "question": "q", "narrative": "n"}]}', "input of Task B"),
        ("", "is empty"),
        ("[]", "no items"),
        ('{"a": 1}\n' + '{"b":' * 100_000, "line 2 is nested too deeply"),
        (
            '[{"meta_data": {"qa_id": "1", "question": "q"}, "answer": [{"text": "t", "existing_supported_citations": "3"}]}]',
            "list of PMIDs",
        ),
        ('{"a": 1}\n{"b": ' + "7" * 4999 + "}", "of 4,999 digits"),
        (json.dumps([ITEMS[0], ITEMS[0]]), "is repeated"),
        ('[{"answer": []}]', "meta_data"),
        (
            json.dumps([{"meta_data": {"qa_id": "5", "question": "q" * 2001}, "answer": [{"text": "t"}]}]),
            "item 1 (qa_id 5), sentence 1",
        ),
        ('[{"meta_data": {"qa_id": null, "question": "q"}, "answer": []}]', "qa_id"),
        ("[" * 100_000, "nested too deeply"),
        ('[{"meta_data": {"qa_id": "1"', "line 1"),
        ('[{"meta_data": {"qa_id": "1", "question": 3}, "answer": []}]', "question"),
        ('[{"meta_data": {"qa_id": "1", "question": "q"}, "answer": "a"}]', "answer should be a list"),
        ('[{"meta_data": {"qa_id": "1", "question": "q"}, "answer": [{"text": ""}]}]', "sentence 1"),
        (
            '[{"meta_data": {"qa_id": "1", "question": "q"}, "answer": [{"text": "t", "citations": [3]}]}]',
            "sentence 1: the key 'citations' is unknown; expected text, existing_supported_citations",
        ),
        (
            json.dumps([ITEMS[0], {**ITEMS[1], "answer": [{"text": "a"}, {"text": "a " * 50_000}]}]),
            "item 2 (qa_id 8), sentence 2: The claim has 99,999 characters",
        ),
        (
            '[{"meta_data": {"qa_id": ' + "9" * 5000 + ', "question": "q"}, "answer": []}]',
            "the number 999999999… of 5,000 digits",
        ),
        ('[{"meta_data": {"qa_id": "\\ud800", "question": "q"}, "answer": []}]', "contains half of a character"),
    ],
)
def test_a_wrong_input_is_told_in_one_sentence(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "input.json"
    path.write_text(text)
    with pytest.raises(BadInput) as error:
        read_items(path)
    assert told in str(error.value)
    assert "\n" not in str(error.value)


def test_a_run_has_the_official_format_and_passes_its_own_check(index: Index, input_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "run.jsonl"
    make_run(make_grounder(index)[0], input_file, out)
    records = [json.loads(line) for line in out.read_text().splitlines()]
    assert records[0] == {
        "metadata": {"team_id": "team", "run_id": "run-1", "qa_id": "7", "question": "Does zeta lower pressure?"},
        "answer": [
            {
                "text": "Zeta lowers pressure.",
                "existing_supported_citations": [11],
                "supported_citations": [13],
                "contradicted_citations": [12],
            },
            {
                "text": "Zeta is best.",
                "existing_supported_citations": [],
                "supported_citations": [11, 13],
                "contradicted_citations": [12],
            },
        ],
    }
    assert check(out, read_items(input_file), index.store) == []
    assert not out.with_name("run.jsonl.partial").exists()
    assert json.loads(out.with_name("run.jsonl.manifest.json").read_text())["run_id"] == "run-1"


def test_a_retracted_paper_is_no_support_in_a_run(input_file: Path, tmp_path: Path) -> None:
    retracted = [{**document, "retracted": document["pmid"] == "13"} for document in DOCUMENTS]
    index, out = make_index(tmp_path / "retracted", retracted), tmp_path / "run.jsonl"
    grounder, _ = make_grounder(index)
    assert "13" in {one.document.pmid for one in grounder.ground(Claim("Zeta is safe.")).supporting}
    make_run(grounder, input_file, out)
    answers = [answer for line in out.read_text().splitlines() for answer in json.loads(line)["answer"]]
    assert 13 not in {pmid for answer in answers for pmid in answer["supported_citations"]}
    index.close()


def test_a_full_disk_keeps_what_was_done(index: Index, input_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grounder, _ = make_grounder(index)
    out = tmp_path / "run.jsonl"

    def full(path: Path, text: str) -> None:
        if path.suffix == ".json":
            raise OSError(28, "No space left on device")
        path.write_text(text)

    with monkeypatch.context() as patch:
        patch.setattr("counterpoint.service.runs.journal.write_atomically", full)
        with pytest.raises(OutOfSpace, match="run the same command again"):
            make_run(grounder, input_file, out)
    assert len(out.with_name("run.jsonl.partial").read_text().splitlines()) == 3
    monkeypatch.setattr(Grounder, "ground", lambda *_: pytest.fail("it was grounded again"))
    make_run(grounder, input_file, out)
    assert check(out, read_items(input_file), index.store) == []


def test_a_target_that_cannot_be_written_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "run.jsonl").write_text("x")
    for target, told in ((tmp_path, "folder"), (tmp_path / "run.jsonl", "--overwrite"), (tmp_path / "no" / "x", "not exist")):
        with pytest.raises(BadInput, match=told):
            check_target(target, overwrite=False)
    check_target(tmp_path / "run.jsonl", overwrite=True)


Spoil = Callable[[list[dict[str, Any]]], object]


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda r: r.pop(), "item 8: it is missing"),
        (lambda r: r[0]["metadata"].update(run_id="other"), "name 2 different teams or runs"),
        (lambda r: r[0]["answer"][0].update(supported_citations=[13, 13]), "supported_citations repeats 13"),
        (lambda r: r[0]["answer"][0].update(existing_supported_citations=[]), "existing_supported_citations are not"),
        (
            lambda r: r[0]["answer"][0].update(supported_citations=["12"], contradicted_citations=[12]),
            "item 7, sentence 1: 12 is both supporting and contradicting",
        ),
        (lambda r: r[0]["answer"][0].update(supported_citations=None), "supported_citations should be a list of PMIDs"),
        (lambda r: r[0].pop("answer"), "item 7: answer should be a list"),
        (lambda r: r.append(r[0]), "item 7: it appears more than once"),
        (lambda r: r[1]["metadata"].update(qa_id=8), "item 8: metadata.qa_id should be a text"),
        (lambda r: r[1]["metadata"].update(qa_id="9"), "item 9: the input has no item with this qa_id"),
        (lambda r: r[0]["metadata"].pop("team_id"), "item 7: metadata.team_id is missing"),
        (lambda r: r[0]["answer"].pop(), "item 7: it has 1 sentence and the input has 2"),
        (lambda r: r[0]["answer"][1].update(text="Other."), "item 7, sentence 2: the text is not the input's"),
        (
            lambda r: r[0]["answer"][1].update(supported_citations=[11, 12, 13, 14], contradicted_citations=[]),
            "item 7, sentence 2: supported_citations has 4 PMIDs; at most 3 are allowed",
        ),
        (lambda r: r[0]["answer"][1].update(contradicted_citations=[99]), "contains 99, which is not in the index"),
        (
            lambda r: r[0]["answer"][0].update(supported_citations=[11]),
            "item 7, sentence 1: supported_citations repeats the existing citation 11",
        ),
        (lambda r: r.insert(0, {"answer": []}), "record 1: an object with metadata"),
    ],
)
def test_every_fault_is_named(index: Index, input_file: Path, tmp_path: Path, spoil: Spoil, told: str) -> None:
    out = tmp_path / "run.jsonl"
    make_run(make_grounder(index)[0], input_file, out)
    records = [json.loads(line) for line in out.read_text().splitlines()]
    spoil(records)
    out.write_text(json.dumps(records))  # a JSON list is a valid run, too
    faults = check(out, read_items(input_file), index.store)
    assert any(told in fault for fault in faults), faults
