"""Open questions: which are read from a file, what stands for their papers, and what is counted of their answers."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from counterpoint.eval.answers.open_questions import (
    answer_open,
    is_known,
    measure_f1,
    read_open_questions,
    show_open,
    write_snippets,
)
from counterpoint.eval.measures.report import Table
from counterpoint.indexes.build import build
from counterpoint.retrieval.core.errors import BadInput
from counterpoint.retrieval.index import Index
from tests.helpers.answer_fakes import DirectionReader, TitleFinder, make_answerer

LISTS = [
    {"id": "a", "type": "list", "body": "What improves gout?", "exact_answer": [["zeta acid", "ZA"], ["eta"]],
     "snippets": [{"pmid": "1", "section": "title", "text": "Zeta for gout"},
                  {"pmid": "1", "section": "abstract", "text": "Zeta  improved gout."},
                  {"pmid": "1", "section": "abstract", "text": "improved gout."},
                  {"pmid": "2", "section": "title", "text": "Eta for gout"},
                  {"pmid": "2", "section": "abstract", "text": "Eta improved gout"}]},
    {"id": "b", "type": "list", "body": "What causes gout?", "exact_answer": [["theta"]], "snippets": []},
]  # fmt: skip


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "questions.jsonl.gz"
    path.write_bytes(gzip.compress("".join(f"{json.dumps(one)}\n" for one in LISTS).encode()))
    return path


def test_questions_are_chosen_by_id_and_by_being_kept_apart(file: Path, tmp_path: Path) -> None:
    assert [one.id for one in read_open_questions(file)] == ["a", "b"]
    assert [one.id for one in read_open_questions(file, {"b"})] == ["b"]
    plain = tmp_path / "plain.jsonl"
    plain.write_text(
        '{"question": "What helps?", "held": true}\n{"question": "What else?"}\n{"question": "What helps?"}\n', "utf-8"
    )
    assert [one.question for one in read_open_questions(plain)] == ["What helps?"]


@pytest.mark.parametrize(
    ("text", "ids", "said"), [("no JSON", (), "got invalid JSON"), ('{"body": "What?"}', {"z"}, "none of the questions")]
)
def test_a_file_without_the_questions_is_refused_in_one_sentence(tmp_path: Path, text: str, ids: set[str], said: str) -> None:
    (tmp_path / "bad.jsonl").write_text(text, "utf-8")
    with pytest.raises(BadInput, match=said):
        read_open_questions(tmp_path / "bad.jsonl", ids)


def test_a_name_is_a_known_answer_in_any_of_its_forms(file: Path) -> None:
    first, _ = read_open_questions(file)
    assert [is_known(first.known, name) for name in ("ZA", "oral zeta acid", "zeta", "theta")] == [True, True, True, False]


def test_snippets_stand_for_papers_and_their_answers_are_counted(file: Path, tmp_path: Path) -> None:
    questions = read_open_questions(file)
    corpus = tmp_path / "corpus.jsonl"
    write_snippets(questions, corpus)
    assert [json.loads(line)["abstract"] for line in corpus.read_text("utf-8").splitlines()] == [
        "Zeta improved gout.",
        "Eta improved gout.",
    ]
    build([corpus], tmp_path / "index")
    rules = {"open_questions": {}, "verdict": {"grounding": "counterpoint"}}
    with_rows = make_answerer(Index(tmp_path / "index"), None, DirectionReader(), TitleFinder(), **rules)
    answers = answer_open(questions[:1], with_rows, tmp_path / "work", {})
    assert answers["a"]["outcome"] == "answered"
    assert [row["answer"] for row in answers["a"]["rows"]] == ["zeta", "eta"]
    assert answer_open(questions[:1], with_rows, tmp_path / "work", {}) == answers, "what was answered is not asked again"
    report = show_open("questions", questions[:1], answers)
    (table,) = report.blocks
    assert isinstance(table, Table)
    shown = {row[0]: row[1] for row in table.rows}
    assert shown["answered"].startswith("100.0%")
    assert (shown["rows"], shown["rows that name a known answer"]) == ("2", "2 of 2")
    assert shown["F1 against the known answers, mean"].startswith("100.0%")


def test_f1_counts_each_answer_once_and_only_those_that_papers_support(file: Path) -> None:
    first, second = read_open_questions(file)
    named = [("ZA", "support"), ("ZA", "support"), ("theta", "support"), ("eta", "contradict")]
    rows = [{"answer": name, "side": side} for name, side in named]
    assert measure_f1(first, rows) == 0.5, "one of two named is known, and one of two known is named"
    assert measure_f1(second, []) == 0.0
