"""How a reader is taught open questions: what the labels say, which words they mark, and a run of either size."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer

from counterpoint.nli.judge import Abstract
from counterpoint.nli.reader.encode import DocumentTokenizer
from counterpoint.nli.reader.judge import LARGE, SMALL, DocumentReader
from counterpoint.nli.training.reader import answers
from counterpoint.nli.training.reader.answers import UNKNOWN, make_answer_lessons, read_pairs
from counterpoint.nli.training.reader.fit import export_reader
from counterpoint.nli.training.reader.lesson import CONTRADICT, LABELS, NEUTRAL, SUPPORT, Lesson
from counterpoint.nli.training.reader.train_answers import compute_pair_loss, main
from counterpoint.retrieval.training.data import read_lines
from tests.helpers.texts import MEASURED, write_rows

TRIAL = ("Zinc for colds", ["We gave zinc or honey.", "Colds were shorter with zinc.", "Honey did nothing."])
SURVEY = ("Colds in town", ["Many had a cold."])
QUESTION = "What shortens colds?"
ROWS: list[dict[str, Any]] = [
    {
        "question": QUESTION,
        "pmid": "1",
        "answered": True,
        "spans": [[0, 0, 4], [1, 8, 12], [2, 23, 27]],
        "claims": [[0, 0, 4, "support", 1], [3, 0, 5, "contradict", 2], [0, 9, 14, "neutral", None]],
    },
    {"question": QUESTION, "pmid": "2", "answered": False, "spans": [], "claims": []},
    {"question": "What else?", "pmid": "1", "answered": False, "spans": [], "claims": [], "held": True},
]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    papers = [{"pmid": n, "title": title, "abstract": [" ".join(text)]} for n, (title, text) in enumerate((TRIAL, SURVEY), 1)]
    write_rows(tmp_path / "pubmed/abstracts.jsonl.gz", papers)
    write_rows(tmp_path / "scifact/corpus.jsonl.gz", [])
    found = [{"question": "How are colds shortened?", "pmids": ["1", "9"]}]
    turned = [{"question": QUESTION, "opposite": "What prolongs colds?"}]
    for name, rows in (("LABELLED", ROWS), ("FOUND", found), ("TURNED", turned)):
        monkeypatch.setattr(answers, name, tmp_path / name)
        (tmp_path / name).write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    return tmp_path


@pytest.fixture(scope="module")
def tokenize() -> DocumentTokenizer:
    return DocumentTokenizer(Tokenizer.from_file(str(LARGE / "tokenizer.json")), 256)


def test_a_pair_marks_the_words_of_the_answer_and_one_without_labels_marks_none(data: Path, tokenize: DocumentTokenizer) -> None:
    trial, survey = read_pairs(data, tokenize)
    assert (trial.answered, survey.answered) == (1.0, 0.0)
    assert (trial.names == 1).sum() == 4 and trial.names[0] == UNKNOWN  # the last with its full stop
    assert (survey.names == 1).sum() == 0 and (survey.names == 0).sum() > 3
    (unlabelled,) = [pair for pair in read_pairs(data, tokenize, found=True) if pair.answered == UNKNOWN]
    assert (unlabelled.names == UNKNOWN).all()


def test_answers_are_claims_with_their_evidence_and_a_silent_paper_gets_the_answer_of_another(data: Path) -> None:
    lessons = [(one.claim, one.label, one.evidence, len(one.sentences)) for one in make_answer_lessons(data)]
    assert lessons[:7] == [
        ("What shortens colds? Zinc.", SUPPORT, (1,), 3),
        ("What prolongs colds? Zinc.", CONTRADICT, (1,), 3),
        ("What shortens colds? Zinc.", SUPPORT, (0,), 1),
        ("What shortens colds? Honey.", CONTRADICT, (2,), 3),
        ("What shortens colds? Honey.", CONTRADICT, (0,), 1),
        ("What shortens colds? Colds.", NEUTRAL, (), 3),
        ("What prolongs colds? Colds.", NEUTRAL, (), 3),
    ], "what denies that honey shortens colds does not say that it prolongs them"
    assert lessons[7][0] in {"What shortens colds? Zinc.", "What shortens colds? Honey."}
    assert lessons[7][1:] == (NEUTRAL, (), 1)
    pairs = [one.pair for one in make_answer_lessons(data)]
    assert pairs[0] == pairs[1] != "" == pairs[2] and pairs[5] == pairs[6] != pairs[0]


def test_the_loss_is_lowest_for_a_model_that_says_what_the_labels_and_the_teacher_say(
    data: Path, tokenize: DocumentTokenizer
) -> None:
    pairs = read_pairs(data, tokenize)
    tokens = max(len(pair.document.ids) for pair in pairs)

    def say(sure: float) -> Any:
        odds = torch.full((2, tokens, 4), -sure)
        for row, pair in enumerate(pairs):
            odds[row, np.flatnonzero(pair.names == 1), 3] = sure
            odds[row, 0, 3] = sure if pair.answered else -sure
        return lambda *_: odds

    def measure(model: Any, teacher: Any = None) -> float:
        return compute_pair_loss(model, pairs, torch.device("cpu"), low=False, teacher=teacher).item()

    assert measure(say(9.0)) < 0.01 < measure(say(0.0)) < measure(say(-9.0))
    assert measure(say(9.0), say(9.0)) < 0.02 < measure(say(9.0), say(-9.0))


@pytest.mark.parametrize(("size", "shipped"), [("small", SMALL), ("large", LARGE)])
def test_a_run_leaves_a_model_that_is_served(
    size: str, shipped: Path, data: Path, one_thread: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = [Lesson("Zinc heals colds.", "Zinc", ("Colds healed.",), SUPPORT, (0,), "s")]
    monkeypatch.setattr("counterpoint.nli.training.reader.train_answers.make_lessons", lambda *_: kept)
    given = ["--data", str(data), "--out", str(data / "run"), "--vocabulary", str(shipped), "--size", size]
    assert (
        main([*given, "--start", str(shipped / "model.onnx"), "--epochs", "1", "--batch-tokens", "4096", "--rate", "1e-6"]) == 0
    )
    reader, paper = DocumentReader(data / "run/reader"), Abstract(TRIAL[0], tuple(TRIAL[1]))
    (reading,) = reader.read_abstracts("Zinc shortens colds.", [paper])
    assert reading.document.label == "support"
    export_reader(data / "run", shipped, [str(shipped / "model.onnx"), "0.4"])
    (mixed,) = DocumentReader(data / "run/reader").read_abstracts("Zinc shortens colds.", [paper])
    assert mixed.document.label == "support"
    if size == "small":
        assert "zinc" in {words.lower() for words, _ in reader.find_answers(QUESTION, [paper])[0].names}


def test_no_paper_on_which_figures_are_measured_has_labels_and_questions_kept_apart_are_marked() -> None:
    rows = read_lines(answers.LABELLED)
    trained = [row for row in rows if not row.get("held")]
    assert MEASURED.isdisjoint(row["pmid"] for row in trained)
    assert {row["question"] for row in trained}.isdisjoint(row["question"] for row in rows if row.get("held"))
    assert {row["question"] for row in read_lines(answers.FOUND)}.isdisjoint(row["question"] for row in rows if row.get("held"))
    assert all(label in LABELS for row in rows for *_, label, _ in row["claims"])
