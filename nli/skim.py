"""Skimming: of very many premises, the few worth a slow judge's time.

A branch that reads a thousand abstracts holds thousands of sentences, nearly all of which share nothing with the claim. Where a
judge can only be asked so often, those are asked about that hold most of the claim's rare words (their own counting twice, their
title's once) and stand high in the ranking. On 120 claims of SciFact train nine in ten evidence documents keep an evidence
sentence among 64 (docs/experiments.md).
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from retrieval.lexical import place, shipped_rarity, terms
from retrieval.values import Premise

RANK_WEIGHT = 0.05
"""What a doubling of the rank costs, in shares of the claim's words."""


@cache
def _rarity() -> NDArray[np.float32]:
    return shipped_rarity()


@lru_cache(maxsize=65536)
def _terms(text: str) -> frozenset[str]:
    """Claims of one topic come back to the same papers: their words are found once."""
    return frozenset(terms(text))


def most_promising(claim: str, premises: Sequence[tuple[int, Premise]], most: int) -> list[int]:
    """The places of the `most` premises worth asking about, ascending; each comes with its document's rank, from 0."""
    if len(premises) <= most:
        return list(range(len(premises)))
    rarity = _rarity()
    wanted = {term: float(rarity[place(term)]) for term in set(terms(claim))}
    whole = sum(wanted.values()) or 1.0

    def promise(rank: int, premise: Premise) -> float:
        own = wanted.keys() & _terms(premise.text)
        shared = sum(wanted[term] for term in own) + sum(wanted[term] for term in own | (wanted.keys() & _terms(premise.title)))
        return shared / whole - RANK_WEIGHT * math.log2(1 + rank)

    scores = [promise(rank, premise) for rank, premise in premises]
    return sorted(heapq.nsmallest(most, range(len(scores)), key=lambda i: (-scores[i], i)))
