"""What training is fed and fits: rewordings with a known label, and the small models on top, on texts and numbers made here."""

from __future__ import annotations

import random
from dataclasses import astuple
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from nli.decision.document import Decision
from nli.train import blend_weights
from nli.training import decide
from nli.training.flips import Flips
from nli.training.labelled import read_labelled
from nli.training.pairs import CONTRADICT, NEUTRAL, SUPPORT, Pair
from nli.training.rules import frame_claims, hedge, make_number_pairs, turn_pairs
from retrieval.training.folds import assign_fold, is_held_out
from tests.helpers.texts import write_rows

FLIPS = Flips()
SUPPORTED = Pair("Aspirin reduces stroke.", "Stroke was reduced by aspirin.", "A trial", SUPPORT, "scifact")


@pytest.mark.parametrize("seed", range(12))
def test_a_labelled_pair_turned_round_changes_its_label_and_one_side(seed: int) -> None:
    (turned,) = turn_pairs([SUPPORTED], FLIPS, random.Random(seed))
    assert turned.label == CONTRADICT
    assert (turned.claim != SUPPORTED.claim) != (turned.text != SUPPORTED.text)
    assert turned.source == "scifact_turned"


def test_only_claims_written_as_counterclaims_are_turned_into_supports() -> None:
    refuted = Pair("Aspirin does not reduce stroke.", SUPPORTED.text, "", CONTRADICT, "scifact")
    assert [pair.label for pair in turn_pairs([refuted], FLIPS, random.Random(0))] == [SUPPORT]
    assert not turn_pairs([Pair(*(refuted.claim, refuted.text, "", CONTRADICT, "healthver"))], FLIPS, random.Random(0))
    assert not turn_pairs([Pair("A rises.", "B rises.", "", NEUTRAL, "scifact")], FLIPS, random.Random(0))


def test_frames_deny_assert_and_leave_open() -> None:
    made = [pair for seed in range(60) for pair in frame_claims([SUPPORTED.claim], FLIPS, random.Random(seed))]
    assert {pair.label for pair in made} == {SUPPORT, NEUTRAL, CONTRADICT}
    for pair in made:
        same = pair.claim.rstrip(".").lower() in pair.text.lower()
        denied = any(
            word in pair.text for word in ("not true", "not the case", "rule out", "refute", "no evidence", "no indication")
        )
        if denied:
            assert pair.label == (CONTRADICT if same else SUPPORT)


def test_a_hedge_keeps_the_stance() -> None:
    made = hedge(SUPPORTED, FLIPS, random.Random(0))
    assert made.label == SUPPORT
    assert made.claim.split()[1] in ("may", "might", "could", "can")
    assert made.claim.split()[2] == "reduce"


def test_numbers_are_kept_changed_or_of_another_sentence(tmp_path: Path) -> None:
    sentences = [
        "We looked at a ward of the hospital in the old town.",
        "The mean age of the patients on this ward was 61 years.",
        "Altogether 340 of these people took the new tablets every morning.",
        "They were all well.",
    ]
    write_rows(tmp_path / "pubmed/abstracts.jsonl.gz", [{"pmid": "1", "title": "A ward", "abstract": [" ".join(sentences)]}])
    write_rows(tmp_path / "scifact/claims_dev.jsonl.gz", [])
    write_rows(tmp_path / "scifact/corpus.jsonl.gz", [])
    made = [pair for seed in range(20) for pair in make_number_pairs(tmp_path, 10, FLIPS, random.Random(seed))]
    assert {pair.label for pair in made} == {SUPPORT, NEUTRAL, CONTRADICT}
    for pair in made:
        own = {word for word in pair.claim.split() if word.isdigit()}
        assert (own <= set(pair.text.split())) == (pair.label == SUPPORT)


def test_the_same_claims_and_papers_are_held_out_for_every_model() -> None:
    # Models that ship were trained without these: another fold would measure them on what they have learned from.
    assert [n for n in range(30) if is_held_out(f"Claim number {n} holds.")] == [1, 4, 10, 18, 20]
    assert is_held_out(" Claim number 1 holds.\n")
    assert [pmid for pmid in map(str, range(100, 120)) if is_held_out(pmid)] == ["105", "106", "111", "113", "117", "119"]


def test_the_held_out_fold_is_never_read(tmp_path: Path) -> None:
    claims = [f"Claim number {n} holds." for n in range(60)]
    row = {"split": "train", "title": "T", "sentences": ["It holds.", "It was day."], "evidence": [0], "label": "SUPPORT"}
    write_rows(
        tmp_path / "stance/pairs.jsonl.gz",
        [{**row, "dataset": name, "claim": claim} for name in ("scifact", "healthver", "check_covid") for claim in claims],
    )
    for name in ("scifact", "healthver"):
        read = {pair.claim for pair in read_labelled(tmp_path, name, 1, random.Random(0))}
        assert read == {claim for claim in claims if assign_fold(claim) != 0}
    assert {pair.claim for pair in read_labelled(tmp_path, "check_covid", 1, random.Random(0))} == set(claims)


def documents(count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Features whose first and third columns say the label, with noise; a gap makes evidence rarer, aboutness less rare."""
    labels = rng.choice([SUPPORT, NEUTRAL, CONTRADICT], count, p=[0.2, 0.65, 0.15])
    features = rng.normal(-2.0, 1.0, (count, 6))
    features[:, 4] = np.abs(rng.normal(1.0, 0.5, count)) + (labels == NEUTRAL)
    features[:, 5] = rng.uniform(0.0, 0.7, count) + 0.3 * (labels != NEUTRAL)
    features[labels == SUPPORT, 0] += 3.5
    features[labels == CONTRADICT, 2] += 3.5
    return features, labels


def test_a_fitted_decision_reads_the_evidence_and_is_calibrated() -> None:
    rng = np.random.default_rng(0)
    decision = decide.fit_decision(*documents(1500, rng))
    features, labels = documents(1500, rng)
    shares = decision.probabilities(features)
    assert (shares.argmax(axis=1) == labels).mean() > 0.85
    assert decision.strongest > 0
    assert decision.gap < 0 < decision.about
    confidence, right = shares.max(axis=1), shares.argmax(axis=1) == labels
    assert abs(confidence.mean() - right.mean()) < 0.03


def test_a_document_counts_as_often_as_it_is_told_to() -> None:
    features, labels = documents(400, np.random.default_rng(1))
    twice = decide.fit_decision(np.vstack([features, features[:100]]), np.concatenate([labels, labels[:100]]))
    counts = np.concatenate([np.full(100, 2.0), np.ones(300)])
    assert astuple(decide.fit_decision(features, labels, counts))[:7] == pytest.approx(astuple(twice)[:7], abs=2e-3)


def test_the_threshold_is_where_the_score_is_best_and_no_lucky_cell_wins() -> None:
    start = Decision(1.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    found = decide.fit_threshold(start, lambda one: -abs(one.thresholds[0] - 0.3) + (one.thresholds[1] == 0.6) * 0.31)
    assert found.thresholds == pytest.approx((0.3, 0.3), abs=0.03)


def test_weights_that_went_on_are_blended_with_where_they_started() -> None:
    start, end = (nn.Linear(2, 1) for _ in range(2))
    mean = (start.weight + end.weight).detach() / 2
    blend_weights(end, start.state_dict())
    assert torch.allclose(end.weight, mean)
