"""How a language model's grade and the embedded reading become a probability, by the replies that were recorded."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from counterpoint.nli.reader.chat import DISAGREE, ChatDecision
from counterpoint.nli.training.reader.fit_chat import cross_validate, fit, read_papers
from counterpoint.retrieval.core.values import LABELS, Verdict

RECORDED = Path(__file__).parents[3] / "eval" / "claims" / "replies.csv"


def test_the_shipped_decision_is_what_the_recorded_replies_give() -> None:
    papers = read_papers(RECORDED)
    decision = ChatDecision.load()
    assert decision.weights == pytest.approx(fit(papers.sides, papers.gold), abs=0.01)
    with RECORDED.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["own"] == "1" and row["set"] == "ordinary"]
    verdicts = [decision(int(row["grade"]), Verdict(*(float(row[name]) for name in LABELS))) for row in rows]
    assert [one.label for one in verdicts] == [row["label"] for row in rows], "each of 47 claims' own papers is on its side"
    held_out = cross_validate(papers)
    assert -np.log(held_out[np.arange(len(papers.gold)), papers.gold]).mean() < 0.06, "and so are the probabilities"


def test_a_grade_is_never_turned_into_the_other_side() -> None:
    decision, sure, against = ChatDecision.load(), Verdict(0.999, 0.001, 0.0), Verdict(0.0, 0.001, 0.999)
    assert (decision(2, sure).label, decision(2, sure).reason) == ("support", "")
    for grade, embedded in ((2, against), (1, against), (-2, sure)):
        assert (decision(grade, embedded).label, decision(grade, embedded).reason) == ("neutral", DISAGREE)
