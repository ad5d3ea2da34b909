"""Choosing a diverse set: each time the best remaining text, penalised for what it repeats of those chosen.

Maximal marginal relevance (Carbonell and Goldstein 1998, doi:10.1145/290941.291025). The caller sets the penalty.
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
    fits: Callable[[int, Sequence[int], float], bool] = lambda row, rows, repetition: True,
) -> list[int]:
    """The rows of the `k` chosen texts, in the order of choice; ties go to the first. Fewer if fewer may be chosen.

    `scores` is [texts], -inf for what must not be chosen; `alike` gives the similarity of every text to one, [texts]; `less`
    reduces scores by how much each text repeats (its similarity to the nearest chosen text, at least 0); `fits` says whether a
    row may join those chosen, given also how much it repeats: one that may not is skipped for good.
    """
    candidates, repetition, rows = np.isfinite(scores), np.zeros(len(scores)), list[int]()
    while len(rows) < k and candidates.any():
        row = int(np.argmax(np.where(candidates, less(scores, repetition), -np.inf)))
        candidates[row] = False
        if fits(row, rows, float(repetition[row])):
            rows.append(row)
            repetition = np.maximum(repetition, alike(row))
    return rows
