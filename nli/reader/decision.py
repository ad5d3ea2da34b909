"""From the readings of a paper to a verdict on it: multinomial logistic regression on what the readings say.

Six numbers: the log odds of support and of contradiction against neither, for the paper as a whole, for its strongest sentence
within it, and for the strongest of the few sentences that were read once more with only the title. The weights are fitted on
claims that no model was trained on, and lie in the model's card (nli.training.reader.fit).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nli.decision.document import compute_margins
from nli.judges.judge import Reading
from retrieval.core.probabilities import softmax
from retrieval.core.values import Label, Verdict

SILENT = -8.0
"""The log odds of a stance where nothing was read."""
FEATURES = 6


@dataclass(frozen=True, slots=True)
class PaperDecision:
    """`weights` [support and contradict, `FEATURES` + 1], the last for the constant; neither has the score 0.

    A paper is given the more probable side if that has at least the probability `side`.
    """

    weights: tuple[tuple[float, ...], tuple[float, ...]]
    side: float
    quotes: int = 2

    @classmethod
    def read(cls, card: Mapping[str, Any]) -> PaperDecision:
        """The decision in a model's card."""
        fields = card["paper"]
        support, contradict = (tuple(map(float, fields["weights"][name])) for name in ("support", "contradict"))
        return cls((support, contradict), float(fields["side"]), int(fields["quotes"]))

    def __call__(self, whole: Reading, quoted: Sequence[Verdict]) -> Verdict:
        """The calibrated verdict on the paper."""
        support, contradict = np.asarray(self.weights) @ np.append(make_features(whole, quoted), 1.0)
        shares = softmax(np.array([support, 0.0, contradict])).tolist()
        return Verdict(*shares, decided=self._label(shares[0], shares[2]), of="document")

    def _label(self, support: float, contradict: float) -> Label:
        if max(support, contradict) < self.side:
            return "neutral"
        return "support" if support >= contradict else "contradict"


def make_features(whole: Reading, quoted: Sequence[Verdict]) -> NDArray[np.float64]:
    """[FEATURES]: log odds of support and contradiction for the paper, its strongest sentence and strongest quote."""
    paper = compute_margins([whole.document])[0]
    return np.array([*paper, *_strongest([one for one in whole.sentences if one]), *_strongest(quoted)])


def _strongest(verdicts: Sequence[Verdict]) -> NDArray[np.float64]:
    """[2]: the highest log odds of either stance."""
    strongest: NDArray[np.float64] = compute_margins(verdicts).max(axis=0) if verdicts else np.full(2, SILENT)
    return strongest
