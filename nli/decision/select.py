"""Choosing: which documents of a judged ranking are returned, and which sentence speaks for a document. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice

from retrieval.core.values import Sentence, Stance, Verdict

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Judged:
    """A sentence and what the judge made of it; `position` is its document's place in the ranking, from 0."""

    position: int
    sentence: Sentence | None
    verdict: Verdict


def probability(verdict: Verdict, stance: Stance) -> float:
    """The verdict's probability of a stance."""
    return verdict.support if stance == "support" else verdict.contradict


def first_with_label(judged: Iterable[Judged], label: Stance, n: int) -> Iterator[Judged]:
    """The first `n` documents, in ranking order, with a sentence of that label, each by its most probable such sentence.

    The paper's rule for contradictions (arXiv 2603.17580, V5). `judged` must come in ranking order and is consumed only as far
    as needed: up to the first sentence of the document after the n-th.
    """

    def documents() -> Iterator[Judged]:
        for _, sentences in groupby(judged, key=lambda one: one.position):
            own = [one for one in sentences if one.verdict.label == label]
            if own:
                yield max(own, key=lambda one: probability(one.verdict, label))

    return islice(documents(), n)


def best_sentence(sentences: Sequence[Sentence], verdicts: Sequence[Verdict], stance: Stance) -> tuple[Sentence, Verdict]:
    """The sentence most probable to hold the stance; the earlier one wins a tie."""
    return max(zip(sentences, verdicts, strict=True), key=lambda pair: probability(pair[1], stance))


@dataclass(frozen=True, slots=True)
class Penalty:
    """The constants of the penalised score, by default the paper's: λ, γ, C, and the P(con) above which a document leads."""

    entailment: float = 0.5
    cues: float = 0.1
    most_cues: int = 6
    floor: float = 0.35

    def score(self, contradict: float, support: float, cues: int) -> float:
        """S(d) = P(con) - λ·P(ent) + γ·min(cues, C)/C, the probabilities means over both directions.

        arXiv 2603.17580, appendix B.
        """
        return contradict - self.entailment * support + self.cues * min(cues, self.most_cues) / self.most_cues

    def order(self, verdicts: Sequence[Verdict], cues: Sequence[int]) -> list[tuple[int, float]]:
        """(place, score) of every document: first those at or above the floor, then the others as backfill, each by its score."""
        scores = [self.score(one.contradict, one.support, n) for one, n in zip(verdicts, cues, strict=True)]
        places = sorted(range(len(scores)), key=lambda i: (verdicts[i].contradict < self.floor, -scores[i], i))
        return [(i, scores[i]) for i in places]


def overlap(claim: str) -> Callable[[Sentence], float]:
    """A score for sentences: the share of the claim's words that a sentence holds."""
    words = set(_WORD.findall(claim.lower()))

    def score(sentence: Sentence) -> float:
        return len(words & set(_WORD.findall(sentence.text.lower()))) / len(words) if words else 0.0

    return score
