"""Which claims and papers are held out of training, so that nothing is measured or fitted on a model's training data.

Only the text decides, so that every model holds out the same claims: the readers and the relevance model.
"""

from __future__ import annotations

import hashlib

FOLDS = 6
HELD_OUT = 0
HELD_OUT_OF = frozenset({"scifact", "healthver"})
"""Train claims of these sets in the fold `HELD_OUT` are never trained on: calibration and decisions are fitted on them."""


def assign_fold(text: str) -> int:
    """A fold in 0..FOLDS-1 that depends only on the text: a claim, or a PMID if whole papers are held out."""
    return hashlib.sha256(text.strip().encode()).digest()[0] % FOLDS


def is_held_out(text: str) -> bool:
    """Whether this claim, or the paper with this PMID, is held out of training."""
    return assign_fold(text) == HELD_OUT


def is_fitted_on(pmid: str) -> bool:
    """Whether what is fitted on ordinary claims is fitted on those of this dev paper; the other half of them is measured."""
    return hashlib.sha256(pmid.encode()).digest()[1] % 2 == 0


def is_held_out_of(dataset: str, claim: str) -> bool:
    """Whether this claim of a labelled set is held out of training; most sets have no held-out claims."""
    return dataset in HELD_OUT_OF and is_held_out(claim)
