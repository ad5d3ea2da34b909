"""The weights of the score's three parts, fitted on train-side claims held out of the encoder's training."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Candidates = tuple[NDArray[np.float64], NDArray[np.bool_]]
"""Of one query: parts [texts, 3] and which texts are relevant [texts]."""


def fit_weights(queries: Sequence[Candidates], pull: float = 1e-3, rounds: int = 400) -> NDArray[np.float64]:
    """[3]: weights that put relevant texts above the others of their query (logistic loss on differences, RankNet's).

    Burges et al. 2005 (doi:10.1145/1102351.1102363).
    """
    differences = np.vstack([one - parts[~right] for parts, right in queries for one in parts[right]])
    spread = np.maximum(differences.std(axis=0), 1e-9)
    ratios, weights = differences / spread, np.zeros(differences.shape[1])
    for _ in range(rounds):
        gradient = -(ratios / (1 + np.exp(ratios @ weights))[:, None]).mean(axis=0) + pull * weights
        weights -= 2.0 * gradient
    result: NDArray[np.float64] = weights / spread
    return result
