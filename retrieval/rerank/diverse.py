"""Choosing a set: the best of what is left, less what it repeats of what was chosen.

Maximal marginal relevance (Carbonell and Goldstein 1998, doi:10.1145/290941.291025). The caller says what repeating costs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def diversify(
    scores: Floats,
    alike: Callable[[int], NDArray[np.floating]],
    less: Callable[[Floats, Floats], Floats],
    k: int,
    fits: Callable[[int, Sequence[int], float], bool] = lambda row, chosen, repeated: True,
) -> list[int]:
    """The rows of the `k` chosen, in the order of choice; of equals the first. Fewer come back where fewer may be chosen.

    `scores` is [texts], -inf for what must not be chosen; `alike` gives how similar every text is to one, [texts]; `less` what is
    left of scores for repeating so much (the similarity to the nearest of those chosen, at least 0); `fits` whether a row may
    join those chosen, given also how much it repeats: one that may not is passed over for good.
    """
    left, repeated, chosen = np.isfinite(scores), np.zeros(len(scores)), list[int]()
    while len(chosen) < k and left.any():
        row = int(np.argmax(np.where(left, less(scores, repeated), -np.inf)))
        left[row] = False
        if fits(row, chosen, float(repeated[row])):
            chosen.append(row)
            repeated = np.maximum(repeated, alike(row))
    return chosen
