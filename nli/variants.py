"""What only the paper's variants need: its penalised score, skimming, which chooses the premises worth a slow judge's time, and
queries that look for the denial of a claim.

A branch that reads a thousand abstracts has thousands of sentences, nearly all of which share nothing with the claim. Where a
judge can only be asked so often, it is asked about those that contain most of the claim's rare words (words of the sentence count
twice, words of its title once) and rank high. On 120 claims of SciFact train, 85 in 100 evidence documents keep an evidence
sentence among the 32 chosen (docs/research/experiments.md).
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from retrieval.core.values import Premise, Verdict
from retrieval.core.word_list import read_word_list
from retrieval.words.terms import find_rare_words, find_terms, weigh_share

ENTAILMENT, CUES, MOST_CUES, FLOOR = 0.5, 0.1, 6, 0.35
"""The paper's constants: λ, γ, C, and the P(con) from which a document ranks first."""


def penalise(contradict: float, support: float, cues: int) -> float:
    """S(d) = P(con) - λ·P(ent) + γ·min(cues, C)/C, where the probabilities are means over both directions.

    arXiv 2603.17580, appendix B.
    """
    return contradict - ENTAILMENT * support + CUES * min(cues, MOST_CUES) / MOST_CUES


def order_penalised(verdicts: Sequence[Verdict], cues: Sequence[int]) -> list[tuple[int, float]]:
    """(place, score) of every document: first those at or above the floor, then the others as backfill, each by its score."""
    scores = [penalise(one.contradict, one.support, n) for one, n in zip(verdicts, cues, strict=True)]
    places = sorted(range(len(scores)), key=lambda i: (verdicts[i].contradict < FLOOR, -scores[i], i))
    return [(i, scores[i]) for i in places]


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


PLACE = "{claim}"
_TEMPLATES = Path(__file__).with_name("adversarial.txt")


@cache
def read_templates() -> tuple[str, ...]:
    """The templates of adversarial.txt, each with one place for the claim."""
    return tuple(read_word_list(_TEMPLATES))


def make_adversarial_queries(claim: str) -> list[str]:
    """The claim, without its full stop, in each of the templates: the words of a denial.

    A dense encoder places a sentence and its negation close together; asking in the words of a denial is V4's answer to that (it
    did not pay: the paper's V4 has the lowest MRR of contradictions of its five variants).
    """
    bare = claim.strip().rstrip(".").rstrip()
    return [template.replace(PLACE, bare) for template in read_templates()]
