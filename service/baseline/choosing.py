"""What the paper's variants score and ask with: two-way judging, the penalised score, skimming, and queries that deny a claim.

A branch that reads a thousand abstracts has thousands of sentences, nearly all of which share nothing with the claim. Where a
judge can only be asked so often, it is asked about those that contain most of the claim's rare words (words of the sentence count
twice, words of its title once) and rank high. On 120 claims of SciFact train, 85 in 100 evidence documents keep an evidence
sentence among the 32 chosen (docs/research/experiments.md).
"""

from __future__ import annotations

import heapq
import math
import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from counterpoint.nli.judge import Judge, judge_lazily
from counterpoint.retrieval.core.values import Premise, Verdict
from counterpoint.retrieval.core.word_list import read_word_list
from counterpoint.retrieval.words.terms import find_rare_words, find_terms, weigh_share

WINDOW = 16
"""Premises read at a time in both directions."""


class BothWays:
    """A judge that reads each pair in both directions, premise to claim and claim to premise, and returns the mean.

    This is the paper's two-way scoring (arXiv 2603.17580, appendix B). In the reverse direction each premise is the hypothesis of
    a separate call, so this costs more than twice as much.
    """

    def __init__(self, judge: Judge) -> None:
        self.name, self._judge = judge.name, judge

    def __call__(self, claim: str, premises: Iterable[Premise]) -> Iterator[Verdict]:
        """One mean verdict per premise, in order."""

        def judge_reverse(premise: Premise) -> Verdict:
            return next(iter(self._judge(premise.text, [Premise(claim)])))

        with ThreadPoolExecutor(os.cpu_count()) as pool:

            def both(chunk: Sequence[Premise]) -> list[Verdict]:
                pairs = zip(self._judge(claim, chunk), pool.map(judge_reverse, chunk), strict=True)
                return [
                    Verdict((a.support + b.support) / 2, (a.neutral + b.neutral) / 2, (a.contradict + b.contradict) / 2)
                    for a, b in pairs
                ]

            yield from judge_lazily(both, premises, WINDOW)


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


def make_adversarial_queries(claim: str) -> list[str]:
    """The claim, without its full stop, in each of the templates of adversarial.txt: the words of a denial.

    A dense encoder places a sentence and its negation close together; asking in the words of a denial is V4's answer to that (it
    did not pay: the paper's V4 has the lowest MRR of contradictions of its five variants).
    """
    bare = claim.strip().rstrip(".").rstrip()
    return [template.replace("{claim}", bare) for template in read_word_list(Path(__file__).with_name("adversarial.txt"))]
