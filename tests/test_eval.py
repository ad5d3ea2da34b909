"""The measures, and the SciFact evaluation on a corpus small enough to rank by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eval import abstract_level
from eval.abstract_level import Triples, label_only
from eval.expected import PAPER
from eval.measures import reciprocal_ranks, weighted_mrr
from eval.scifact import evaluate, load, report_json, report_lines
from retrieval.errors import BadInput
from service.ground import Grounder
from tests.fakes import make_grounder


def test_reciprocal_ranks() -> None:
    gold = {"1": {"a"}, "2": {"b", "c"}, "3": {"d"}, "4": {"e"}}
    run = {"1": ["a", "b"], "2": ["a", "c", "b"], "3": ["a", "b", "c", "d"], "4": []}
    assert reciprocal_ranks(gold, run) == [1.0, 0.5, 0.25, 0.0]
    assert reciprocal_ranks(gold, run, 3) == [1.0, 0.5, 0.0, 0.0]


@pytest.mark.parametrize("name", PAPER)
def test_equation_3_on_the_papers_figures_gives_the_papers_column(name: str) -> None:
    row = PAPER[name]
    assert weighted_mrr(row["support"], 124, row["contradict"], 64) == pytest.approx(row["weighted"], abs=0.0011)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "scifact"
    folder.mkdir()
    documents = [
        {"doc_id": 1, "title": "", "abstract": ["Zeta zeta zeta is not against pressure."]},
        {"doc_id": 2, "title": "Best best", "abstract": ["Zeta is for pressure, in a longer text than that of the other."]},
    ]
    claims = [
        {"id": 1, "claim": "zeta pressure", "evidence": {"2": [{"sentences": [0], "label": "SUPPORT"}]}},
        {"id": 2, "claim": "zeta pressure", "evidence": {"1": [{"sentences": [0], "label": "REFUTE"}]}},
        {"id": 3, "claim": "zeta pressure", "evidence": {"2": [{"sentences": [0], "label": "CONTRADICT"}]}},
        {"id": 4, "claim": "zeta", "evidence": {}},
    ]
    (folder / "corpus.jsonl").write_text("".join(f"{json.dumps(d)}\n" for d in documents))
    (folder / "claims_dev.jsonl").write_text("".join(f"{json.dumps(c)}\n" for c in claims))
    return tmp_path


def test_scifact_ranks_by_the_branch_that_the_claims_stance_asks_for(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from retrieval.index import Index

    def assembled(index: Path, config: str, profile: str) -> Grounder:
        return make_grounder(Index(index), config)[0]

    monkeypatch.setattr("eval.scifact.assemble", assembled)
    claims, corpus = load(data)
    report = evaluate(claims, corpus, "v5", "embedded")
    assert report.claims == {"all": 4, "support": 1, "contradict": 2}
    rows = {(row.system, row.cut): row for row in report.rows}
    plain, variant = rows["BM25, no stance", None], rows["v5", None]
    assert (plain.support.mean, plain.contradict.mean) == (0.5, 0.75)
    # The reranker puts document 2 first; the filter and the judge leave document 1 alone for contradictions.
    assert (variant.support.mean, variant.contradict.mean) == (1.0, 0.5)
    assert variant.weighted == pytest.approx(2 / 3)
    assert variant.contradict.low <= 0.5 <= variant.contradict.high
    assert json.loads(report_json(report))["provenance"]["models"]["stance"] == "word-judge@1"
    assert any("0.750" in line for line in report_lines(report))


def test_missing_or_broken_data_is_told(data: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="--data DIR or set COUNTERPOINT_DATA"):
        load(None)
    with pytest.raises(BadInput, match=r"no claims_dev\.jsonl"):
        load(tmp_path / "nowhere")
    (data / "scifact" / "claims_dev.jsonl").write_text('{"id": 1}\n')
    with pytest.raises(BadInput, match="line 1"):
        load(data)


def test_label_only_counts_triples_over_all_claims() -> None:
    gold: list[Triples] = [{("1", "support")}, {("2", "contradict"), ("3", "contradict")}, set()]
    predicted: list[Triples] = [
        {("1", "support"), ("9", "support")},
        {("2", "contradict"), ("3", "support")},
        {("4", "contradict")},
    ]
    score = label_only(gold, predicted)
    assert (score.precision, score.recall, score.f1) == pytest.approx((40.0, 200 / 3, 50.0))
    assert score.low <= score.f1 <= score.high
    against = label_only(gold, predicted, "contradict")
    assert (against.precision, against.recall) == pytest.approx((50.0, 50.0))


def test_the_abstract_level_score_is_of_what_the_variant_says(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from retrieval.index import Index

    monkeypatch.setattr("eval.abstract_level.assemble", lambda index, config, profile: make_grounder(Index(index), config)[0])
    claims, corpus = load(data)
    report = abstract_level.evaluate(claims, corpus, "calibrated", "embedded")
    # Of every claim both documents are found, one on each side; each of the three with evidence has one of them right, but 3,
    # whose gold stance is not what its document says.
    assert report.claims == 4
    assert report.scores["all"].recall == pytest.approx(200 / 3)
    assert report.scores["all"].precision == pytest.approx(100 * 2 / 8)
    assert any("label only" in line for line in abstract_level.report_lines(report))
    assert json.loads(abstract_level.report_json(report))["scores"]["all"]["f1"] == report.scores["all"].f1
