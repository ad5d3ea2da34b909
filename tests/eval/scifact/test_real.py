"""SciFact's own fixture, its dev claims, and the independent scorer: run by `make test-all` where the data sets are there."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from counterpoint.eval.scifact.files import (
    Gold,
    LabelledClaim,
    Predicted,
    Prediction,
    find,
    predictions_text,
    read_claims,
    read_predictions,
)
from counterpoint.eval.scifact.measures import measure, official_figures
from counterpoint.eval.scifact.observing import ClaimResult, ObservedSide, Returned
from counterpoint.indexes.build import build
from counterpoint.retrieval.core.values import Claim, Stance
from counterpoint.retrieval.index import Index
from tests.helpers.missing import missing
from tests.helpers.real_data import DATA, need_data

FIXTURE = DATA / "scifact" / "evaluator_fixture"
SCORER = DATA.parent / "tools" / "scifact_score.py"

pytestmark = need_data(600)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    folder = tmp_path_factory.mktemp("scifact") / "index"
    build([find(DATA).corpus], folder, format="scifact")
    return Index(folder)


def test_the_official_fixture_to_the_last_digit() -> None:
    claims = read_claims(FIXTURE / "gold_small.jsonl")
    expected = json.loads((FIXTURE / "expected_metrics_small.json").read_text())
    assert official_figures(claims, read_predictions(FIXTURE / "predictions_small.jsonl")) == expected


def test_the_official_dummy() -> None:
    """It names one document for every claim of the test split, whose labels are not public: evidence for none of them."""
    predicted = read_predictions(FIXTURE / "predictions_dummy.jsonl")
    expected = json.loads((FIXTURE / "expected_metrics_dummy.json").read_text())
    claims = [LabelledClaim(Claim("a claim", id=id), {"another": Gold("support", ((0,),))}) for id in predicted]
    assert len(claims) == 300
    assert official_figures(claims, predicted) == expected


@pytest.mark.skipif(not SCORER.is_file(), reason=missing(f"the independent scorer at {SCORER}", "it lies beside the data sets"))
def test_the_independent_scorer_agrees_on_real_predictions(index: Index, tmp_path: Path) -> None:
    """Predictions as BM25 would make them: the first three as supports, the next three as contradictions, and every third claim
    the other way round, so that every kind of hit and miss occurs; with one to five sentences."""
    claims = read_claims(find(DATA).claims)
    predicted: list[Predicted] = []
    for number, one in enumerate(claims):
        hits = [hit.pmid for hit in index.search(one.claim.text, 6)]
        sides: tuple[Stance, Stance] = ("support", "contradict") if number % 3 else ("contradict", "support")
        entries = {entry.pmid: entry for entry in index.entries(hits)}
        predicted.append(
            {
                pmid: Prediction(sides[place // 3], tuple(range(number % 4, len(entries[pmid])))[: 1 + number % 5])
                for place, pmid in enumerate(hits if number % 7 else [])
            }
        )
    path = tmp_path / "predictions.jsonl"
    path.write_text(predictions_text([one.claim.id for one in claims], predicted))
    scored = subprocess.run(
        [sys.executable, str(SCORER), str(path), str(find(DATA).claims), "--json"], capture_output=True, text=True, check=True
    )
    theirs = json.loads(scored.stdout.splitlines()[-1])

    def side(of_claim: Predicted, stance: Stance) -> ObservedSide:
        return ObservedSide(tuple(Returned(pmid, 0, (0.0, 1.0, 0.0), 0.0) for pmid, p in of_claim.items() if p.stance == stance))

    results = [
        ClaimResult(one.claim.id, side(said, "support"), side(said, "contradict"))
        for one, said in zip(claims, predicted, strict=True)
    ]
    ours = {one.key: tally.value for one, tally in measure(claims, results)}
    official = official_figures(claims, read_predictions(path))
    for name, key in {
        "label-only": "abstract_label_only",
        "label+rationale": "abstract_rationalized",
        "sentence-selection": "sentence_selection",
        "sentence-label": "sentence_label",
    }.items():
        assert [100 * official[f"{key}_{part}"] for part in ("precision", "recall", "f1")] == pytest.approx(theirs[name])
        assert theirs[name][0] > 0
    for stance in ("support", "contradict"):
        mine = [100 * ours[f"pairs.{stance}.{part}"] for part in ("precision", "recall", "f1")]
        assert mine == pytest.approx(theirs[stance.upper()])
    mrr = [ours[f"mrr.stance_correct.{which}"] for which in ("support", "contradict", "weighted")]
    assert mrr == pytest.approx(theirs["MRR@3 stance-correct"])
