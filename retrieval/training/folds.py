"""Which claims and papers training leaves away, so that nothing is measured or fitted on what a model has learned from.

The text alone decides, so that every model leaves the same claims away: the stance models, the reader and the relevance model.
"""

from __future__ import annotations

import hashlib

FOLDS = 6
HELD_OUT = 0
HELD_OUT_OF = frozenset({"scifact", "healthver"})
"""Train claims of these sets in the fold `HELD_OUT` are never trained on: calibration and decisions are fitted on them."""


def assign_fold(text: str) -> int:
    """A fold in 0..FOLDS-1 that depends on the text alone: a claim, or a PMID where whole papers are left away."""
    return hashlib.sha256(text.strip().encode()).digest()[0] % FOLDS


def is_held_out(text: str) -> bool:
    """Whether training leaves this claim, or the paper with this PMID, away."""
    return assign_fold(text) == HELD_OUT


def is_held_out_of(dataset: str, claim: str) -> bool:
    """Whether training leaves this claim of a labelled set away; of most sets it leaves none away."""
    return dataset in HELD_OUT_OF and is_held_out(claim)
