"""The criteria by which documents are chosen: a verdict's probability of a stance, and the paper's penalised score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from retrieval.core.values import Stance, Verdict


def get_probability(verdict: Verdict, stance: Stance) -> float:
    """The verdict's probability of a stance."""
    return verdict.support if stance == "support" else verdict.contradict


@dataclass(frozen=True, slots=True)
class Penalty:
    """The constants of the penalised score, by default the paper's: λ, γ, C, and the P(con) from which a document ranks first."""

    entailment: float = 0.5
    cues: float = 0.1
    most_cues: int = 6
    floor: float = 0.35

    def score(self, contradict: float, support: float, cues: int) -> float:
        """S(d) = P(con) - λ·P(ent) + γ·min(cues, C)/C, where the probabilities are means over both directions.

        arXiv 2603.17580, appendix B.
        """
        return contradict - self.entailment * support + self.cues * min(cues, self.most_cues) / self.most_cues

    def order(self, verdicts: Sequence[Verdict], cues: Sequence[int]) -> list[tuple[int, float]]:
        """(place, score) of every document: first those at or above the floor, then the others as backfill, each by its score."""
        scores = [self.score(one.contradict, one.support, n) for one, n in zip(verdicts, cues, strict=True)]
        places = sorted(range(len(scores)), key=lambda i: (verdicts[i].contradict < self.floor, -scores[i], i))
        return [(i, scores[i]) for i in places]
