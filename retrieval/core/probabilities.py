"""From scores to probabilities and back. scipy.special has the same functions, but importing it takes a quarter of a second."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray


def softmax(scores: ArrayLike) -> NDArray[np.float64]:
    """[..., classes] from scores [..., classes]: exp(x_i) / Σ_j exp(x_j), shifted by the largest so that nothing overflows."""
    values = np.asarray(scores, dtype=np.float64)
    shares = np.exp(values - values.max(axis=-1, keepdims=True))
    probabilities: NDArray[np.float64] = shares / shares.sum(axis=-1, keepdims=True)
    return probabilities


def logistic(odds: float) -> float:
    """The probability with these log odds."""
    return 1 / (1 + math.exp(-odds))


def log_odds(probability: float, margin: float) -> float:
    """The log odds of a probability, which is kept `margin` away from 0 and 1."""
    bounded = min(max(probability, margin), 1 - margin)
    return math.log(bounded / (1 - bounded))
