"""Skimming: of very many premises, choose the few worth a slow judge's time.

A branch that reads a thousand abstracts has thousands of sentences, nearly all of which share nothing with the claim. Where a
judge can only be asked so often, it is asked about those that contain most of the claim's rare words (words of the sentence count
twice, words of its title once) and rank high. On 120 claims of SciFact train, 85 in 100 evidence documents keep an evidence
sentence among the 32 chosen (docs/research/experiments.md).
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence

from retrieval.core.values import Premise
from retrieval.words.terms import find_rare_words, find_terms, weigh_share

RANK_WEIGHT = 0.05
"""The penalty for each doubling of the rank, in shares of the claim's words."""


def choose_most_promising(claim: str, premises: Sequence[tuple[int, Premise]], most: int) -> list[int]:
    """The places of the `most` premises most worth asking about, ascending; each comes with its document's rank, from 0."""
    if len(premises) <= most:
        return list(range(len(premises)))
    terms = find_rare_words(claim)

    def promise(rank: int, premise: Premise) -> float:
        own = find_terms(premise.text)
        return weigh_share(terms, own) + weigh_share(terms, own | find_terms(premise.title)) - RANK_WEIGHT * math.log2(1 + rank)

    scores = [promise(rank, premise) for rank, premise in premises]
    return sorted(heapq.nsmallest(most, range(len(scores)), key=lambda i: (-scores[i], i)))
