"""A language model measured by recorded replies: its prompts are written, and what others answered is replayed."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eval import claims
from eval.claims.reading import PaperClaim
from eval.claims.replies import RecordedReader, read_replies, write_prompts
from nli.reader.chat import ChatDecision
from nli.training.reader.fit_chat import cross_validate, fit, read_papers
from retrieval.core.errors import BadInput
from retrieval.core.values import LABELS, Claim, Verdict
from tests.helpers.fakes import WordReader, make_index, make_reading_grounder

CLAIM = PaperClaim("1", "Zeta lowers pressure", "support")
RECORDED = Path(claims.__file__).with_name("replies.csv")
PARTS = dict.fromkeys(("population", "intervention", "comparison", "outcome"), True)
REPLY: dict[str, Any] = {"sentence": 2, **PARTS, "reason": "It rose.", "grade": -2}


def test_recorded_replies_are_read_on_the_one_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nli.reader.chat.DocumentReader", WordReader)
    texts = {
        "1": "Zeta was studied. Pressure rose.",
        "2": "Zeta on pressure. It fell.",
        "3": "Zeta and pressure. All was silent.",
    }
    papers = [{"pmid": pmid, "title": "Zeta for pressure", "abstract": text} for pmid, text in texts.items()]
    grounder = make_reading_grounder(make_index(tmp_path, papers))
    prompts, replies = tmp_path / "prompts", tmp_path / "replies"
    write_prompts([CLAIM], grounder, prompts)
    (file,) = prompts.iterdir()
    asked = json.loads(file.read_text())
    assert {one["pmid"] for one in asked["papers"]} == set(texts)
    assert all(one["prompt"].startswith("Claim: Zeta lowers pressure.\n<paper>") for one in asked["papers"])
    replies.mkdir()
    answered = [{"pmid": "1", **REPLY}, {"pmid": "2", **REPLY, "quote": "It never fell."}]
    (replies / file.name).write_text(json.dumps({"replies": answered}))
    found = grounder.with_reader(RecordedReader(read_replies(prompts, replies))).ground(Claim(CLAIM.claim))
    (against,) = found.contradicting
    assert (against.document.pmid, against.sentence and against.sentence.text) == ("1", "Pressure rose.")
    whys = {one.document.pmid: one.why for one in found.supporting}
    assert "quotation is not in sentence 2, so the embedded reader's reading stands" in whys["2"]
    assert "No reply was recorded, so the embedded reader's reading stands" in whys["3"]


def test_replies_that_cannot_be_used_are_told(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="has no reply to the prompts"):
        read_replies(tmp_path, tmp_path / "none")
    (tmp_path / "001.json").write_text('{"replies": {"1": 2}}')
    with pytest.raises(BadInput, match=r"001.json cannot be read with its prompts"):
        read_replies(tmp_path, tmp_path)


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
