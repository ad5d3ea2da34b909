"""A language model beside the small reader on labelled pairs: what each says, how far they agree, and every fault counted."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, cohen_kappa_score, f1_score
from typer.testing import CliRunner

from eval.claims.judges import (
    JudgedPair,
    LabelledPair,
    accuracy,
    judge_pairs,
    macro_f1,
    make_report,
    read_pairs,
    read_scifact_pairs,
)
from eval.cli import eval_app
from eval.measures.figures import kappa
from eval.scifact.files import Files
from retrieval.core.errors import BadInput
from retrieval.core.values import LABELS, Label, Premise, Verdict
from retrieval.runtime.chat import Chat, ChatUnanswered
from tests.helpers.chat_server import ChatServer, Reply, fault, serving, whole

SURE, UNSURE = Verdict(0.95, 0.03, 0.02), Verdict(0.3, 0.4, 0.3)


class SmallJudge:
    """Unsure of what asks, and sure that the rest supports."""

    name = "small@1"

    def __call__(self, claim: str, premises: Iterable[Premise]) -> Iterator[Verdict]:
        for premise in premises:
            yield UNSURE if "?" in premise.text else SURE


def opinion(label: str, quote: str = "") -> Reply:
    content = json.dumps({"label": label, "quote": quote, "reason": "because"})
    return whole([{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}])


@pytest.fixture
def server() -> Iterator[ChatServer]:
    yield from serving(opinion("neutral"))


def pair(text: str, label: Label) -> LabelledPair:
    return LabelledPair("Zeta works.", Premise(text, "T"), label)


PAIRS = [
    pair("Zeta works.", "support"),
    pair("Does zeta work?", "contradict"),
    pair("Perhaps zeta works?", "neutral"),
    pair("Zeta is blue?", "neutral"),
]


def answer(body: dict[str, Any]) -> Reply:
    said = str(body["messages"][1]["content"])
    if "Does" in said:
        return opinion("contradict", "Does zeta")
    if "Perhaps" in said:
        return opinion("support", "words of its own")
    return fault(500) if "blue" in said else opinion("contradict", "Zeta")


def test_every_pair_is_asked_once_and_decided_alone_and_behind(server: ChatServer, tmp_path: Path) -> None:
    server.script = answer
    chat = Chat("m", server.url, retries=0)
    found = judge_pairs(PAIRS, SmallJudge(), chat, tmp_path)
    assert [one.alone for one in found] == ["contradict", "contradict", "neutral", "neutral"]
    assert [one.behind for one in found] == ["support", "contradict", "neutral", "neutral"]
    assert [one.fault for one in found] == ["", "", "misquoted", "unanswered"]
    assert [one.undecided for one in found] == [False, True, True, True]
    asked = len(server.bodies)
    assert judge_pairs(PAIRS, SmallJudge(), chat, tmp_path) == found
    assert len(server.bodies) == asked == 4, "what was answered is kept"
    report = make_report(found, "c", "small", "m")
    data = json.loads(report.json())
    assert [data[key] for key in ("pairs", "undecided", "unanswered", "misquoted")] == [4, 3, 1, 1]
    assert [row["accuracy"]["value"] for row in data["rows"]] == [0.75, 0.75, 1.0]
    assert "2 of all (1 quoted" in report.text()


def test_a_server_that_is_gone_stops_the_run_and_is_not_counted_as_an_answer(server: ChatServer, tmp_path: Path) -> None:
    server.close()
    with pytest.raises(ChatUnanswered, match="cannot be reached"):
        judge_pairs(PAIRS, SmallJudge(), Chat("m", server.url, retries=0), tmp_path)


def test_the_figures_are_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(3)
    one, other = rng.integers(0, 3, 60), rng.integers(0, 3, 60)
    table = np.zeros((3, 3))
    np.add.at(table, (one, other), 1.0)
    sums = table.reshape(9)
    assert kappa(sums) == pytest.approx(cohen_kappa_score(one, other))
    assert accuracy(sums) == pytest.approx(accuracy_score(one, other))
    assert macro_f1(sums) == pytest.approx(f1_score(one, other, average="macro"))
    assert kappa(np.stack([sums, sums])).shape == (2,)
    assert np.isnan(kappa(np.array([5.0, *[0.0] * 8])))
    same = [JudgedPair(label, label, label, "", True) for label in LABELS]
    assert make_report(same, "c", "a", "b").data["kappa_between"].value == 1.0


def test_scifact_gives_a_sentence_of_every_cited_abstract(tmp_path: Path) -> None:
    corpus = [
        {"doc_id": 7, "title": "T", "abstract": ["Stones are old.", "Zeta cures fever."]},
        {"doc_id": 8, "title": "U", "abstract": ["No.", "Zeta fever."]},
    ]
    evidence = {"7": [{"sentences": [1], "label": "REFUTE"}]}
    claims = [
        {"id": 1, "claim": "Zeta cures fever.", "evidence": evidence, "cited_doc_ids": [7, 8, 9]},
        {"id": 2, "claim": "Later.", "evidence": {}, "cited_doc_ids": [7]},
    ]  # fmt: skip
    files = Files(tmp_path / "claims.jsonl", tmp_path / "corpus.jsonl")
    for path, records in ((files.claims, claims), (files.corpus, corpus)):
        path.write_text("".join(f"{json.dumps(one)}\n" for one in records), "utf-8")
    assert [(one.premise.text, one.label) for one in read_scifact_pairs(files, 1)] == [
        ("Zeta cures fever.", "contradict"),
        ("Zeta fever.", "neutral"),
    ]


def test_pairs_that_do_not_fit_are_told_by_their_line(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    for record, told in (({"claim": "a"}, "expected texts"), ({"claim": "a", "sentence": "b", "label": "maybe"}, 'in "label"')):
        path.write_text(json.dumps(record), "utf-8")
        with pytest.raises(BadInput, match=told):
            read_pairs(path)
    path.write_text("", "utf-8")
    with pytest.raises(BadInput, match="no pair"):
        read_pairs(path)
    shown = CliRunner().invoke(eval_app, ["judges", "--pairs", str(path), "--profile", "embedded"])
    assert shown.exit_code == 2
    assert "no language model behind a server" in shown.output
