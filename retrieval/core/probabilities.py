"""From scores to probabilities. scipy.special.softmax does the same, but importing it takes a quarter of a second."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def softmax(scores: ArrayLike) -> NDArray[np.float64]:
    """[..., classes] from scores [..., classes]: exp(x_i) / Σ_j exp(x_j), shifted by the largest so that nothing overflows."""
    values = np.asarray(scores, dtype=np.float64)
    shares = np.exp(values - values.max(axis=-1, keepdims=True))
    probabilities: NDArray[np.float64] = shares / shares.sum(axis=-1, keepdims=True)
    return probabilities
