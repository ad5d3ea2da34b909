"""From a document's sentences to the document: one small model combines its strongest sentences and its relevance.

The most probable sentence alone is unreliable: among ten sentences of an abstract, the judge easily gets one wrong. A second
sentence that says the same makes it likelier, one that says the opposite less likely. A document far behind the best match is
rarely evidence, and one with few of the claim's rare words hardly ever is, even where it is the best match.
Seven numbers weigh these against each other (multinomial logistic regression, symmetric in the two stances but for the biases),
so a document's probabilities are calibrated too. They are fitted on claims that no model was trained on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from retrieval.core.probabilities import softmax
from retrieval.core.values import Label, Verdict

FARTHEST = 4.0
"""Relevance gaps beyond this carry no more information."""
_WIDEST = 8.0
_CLEAR_ODDS = 3.0


@dataclass(frozen=True, slots=True)
class Decision:
    """The weights of a stance's strongest and second sentence, of the other stance's strongest, of the gap and of aboutness; the
    biases; and the probability above which a document is given a stance."""

    strongest: float
    second: float
    against: float
    gap: float
    support: float
    contradict: float
    about: float = 0.0
    thresholds: tuple[float, float] = (0.5, 0.5)

    def worth(self, marks: NDArray[np.float64]) -> NDArray[np.float64]:
        """[documents, 2]: what the sentences of each say for it and against it, without relevance and biases."""
        s1, s2, c1, c2 = marks.T[:4]
        for_it = self.strongest * s1 + self.second * s2 + self.against * c1
        against = self.strongest * c1 + self.second * c2 + self.against * s1
        return np.stack([for_it, against], axis=1)

    def probabilities(self, marks: NDArray[np.float64]) -> NDArray[np.float64]:
        """[documents, 3] from the features [documents, 6], each row made by `make_features`."""
        gap, about = marks.T[4:]
        relevance = self.gap * gap + self.about * about
        for_it, against = self.worth(marks).T + relevance
        scores = np.stack([for_it + self.support, np.zeros_like(for_it), against + self.contradict], axis=1)
        return softmax(scores)

    def label(self, support: float, contradict: float) -> Label:
        """The stance that is further above its threshold, neutral where neither is."""
        over_support, over_contradict = support - self.thresholds[0], contradict - self.thresholds[1]
        if max(over_support, over_contradict) <= 0:
            return "neutral"
        return "support" if over_support >= over_contradict else "contradict"

    def __call__(self, verdicts: Sequence[Verdict], gap: float = 0.0, about: float = 0.0) -> Verdict:
        """The document's verdict from its sentences'; `gap` is how far its relevance lies behind the best candidate's, `about`
        the share of the claim's rare words that it contains (retrieval.words.terms)."""
        support, neutral, contradict = self.probabilities(make_features(compute_margins(verdicts), gap, about)[None, :])[
            0
        ].tolist()
        return Verdict(support, neutral, contradict, decided=self.label(support, contradict))


PLAIN = Decision(strongest=1.0, second=0.0, against=0.0, gap=0.0, support=0.0, contradict=0.0)
"""For judges without a fitted decision: the most probable sentence decides for its document."""


def compute_margins(verdicts: Sequence[Verdict]) -> NDArray[np.float64]:
    """[sentences, 2]: the log odds of support and of contradict against neutral.

    Where a verdict's decision overrides its probabilities (a language model over a small one), the decision counts as clear.
    """
    shares = np.array([[v.support, v.neutral, v.contradict] for v in verdicts]).reshape(-1, 3)
    shares = np.log(np.maximum(shares, 1e-9))
    odds: NDArray[np.float64] = np.clip(shares[:, [0, 2]] - shares[:, [1]], -_WIDEST, _WIDEST)
    for row, verdict in enumerate(verdicts):
        if verdict.decided is not None:
            clear = (verdict.decided == "support", verdict.decided == "contradict")
            odds[row] = [max(o, _CLEAR_ODDS) if yes else min(o, -_CLEAR_ODDS) for o, yes in zip(odds[row], clear, strict=True)]
    return odds


def make_features(odds: NDArray[np.float64], gap: float, about: float) -> NDArray[np.float64]:
    """[6]: the strongest and second support, the strongest and second contradiction, the gap (at most `FARTHEST`), aboutness."""
    rows = np.vstack([odds, np.full((2, 2), -_WIDEST)])
    best = -np.sort(-rows, axis=0)[:2]
    return np.array([best[0, 0], best[1, 0], best[0, 1], best[1, 1], min(max(gap, 0.0), FARTHEST), about])
