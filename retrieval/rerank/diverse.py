"""Choosing a set: the best of what is left, less what it repeats of what was chosen.

Maximal marginal relevance (Carbonell and Goldstein 1998, doi:10.1145/290941.291025), with the score and the penalty added
instead of mixed, so that a penalty of 0 is the plain ranking.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def diverse(scores: NDArray[np.float64], vectors: NDArray[np.float32], k: int, penalty: float) -> list[int]:
    """The rows of the `k` chosen, in the order of choice; of equals the first.

    `scores` is [texts], -inf for what must not be chosen; `vectors` [texts, width] of length 1; `penalty` is what a text loses
    whose cosine with one already chosen is 1. Fewer come back where fewer may be chosen.
    """
    left, repeated, chosen = scores.astype(np.float64), np.zeros(len(scores)), list[int]()
    while len(chosen) < k and np.isfinite(left).any():
        row = int(np.argmax(left - penalty * repeated))
        chosen.append(row)
        left[row] = -np.inf
        repeated = np.maximum(repeated, vectors @ vectors[row])
    return chosen
