"""What training is fed: rewordings with a known label, on texts and numbers made here."""

from __future__ import annotations

import random
from pathlib import Path

from nli.training.flips import Flips
from nli.training.labelled import read_labelled
from nli.training.pairs import CONTRADICT, NEUTRAL, SUPPORT, Pair
from nli.training.rules import frame_claims, make_number_pairs
from retrieval.training.folds import assign_fold, is_held_out
from tests.helpers.texts import write_rows

FLIPS = Flips()
SUPPORTED = Pair("Aspirin reduces stroke.", "Stroke was reduced by aspirin.", "A trial", SUPPORT, "scifact")


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
