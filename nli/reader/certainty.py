"""How certain a verdict on a claim is: the probability that the side that its papers are on is the right one.

The numbers depend on how sure a reader is of single papers, so they are fitted to its weights and lie in its card
(nli.training.reader.fit).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache

from counterpoint.nli.reader.judge import LARGE, SMALL
from counterpoint.retrieval.core.probabilities import log_odds, logistic
from counterpoint.retrieval.runtime.engine import check_numbers, make_model_name

NEAREST = 0.001
"""How near to 0 and 1 a paper's probability is taken to be at most."""


@dataclass(frozen=True, slots=True)
class Certainty:
    """The certainty in log odds: a constant; how far the sides agree, from 0 to 1; and the log odds of the surest paper (Platt
    1999)."""

    constant: float
    agreement: float
    surest: float

    def __call__(self, agreement: float, surest: float) -> float:
        """The probability that the heavier side is right."""
        return logistic(self.constant + self.agreement * agreement + self.surest * log_odds(surest, NEAREST))


def measure_agreement(weights: tuple[float, float]) -> float:
    """How far two sides of these weights agree: 1 where one has none, 0 where they are equal, and where there is no weight."""
    lighter, heavier = sorted(weights)
    return (heavier - lighter) / heavier if heavier else 0.0


@cache
def find_certainty(reader: str) -> Certainty:
    """The numbers of the shipped reader that `reader` names, alone or with others; of the large one for any other name.

    Raises `ModelUnusable` where they were fitted to other weights.
    """
    cards = {folder: json.loads((folder / "model.json").read_text("utf-8")) for folder in (LARGE, SMALL)}
    folder = next((folder for folder, card in cards.items() if make_model_name(card) in reader), LARGE)
    check_numbers(cards[folder], folder)
    return Certainty(**cards[folder]["certainty"])
