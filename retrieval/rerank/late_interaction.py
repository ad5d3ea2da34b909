"""Late interaction: how well the words of a text answer the words of a query, from vectors computed separately for both.

Each query word looks for its best match among the text's words (MaxSim of ColBERT, Khattab and Zaharia 2020, arXiv
2004.12832), with more weight on rare words; besides, the whole query is compared with the best stretch of the text. Since a
text's vectors do not depend on the query, they are computed once and kept.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
STRETCH, STRIDE = 48, 24
"""Tokens in a stretch, and between the starts of two stretches."""


def score_rare_words(query: Vectors, text: Vectors, weights: NDArray[np.float32]) -> float:
    """MaxSim, weighted: query [q, width] and text [t, width] of length 1, weights [q]; -1 to 1."""
    best = (query @ text.T).max(axis=1)
    return float(best @ weights / max(float(weights.sum()), 1e-9))


def score_best_stretch(query: Vectors, text: Vectors) -> float:
    """The highest cosine of the mean of query [q, width] with the mean of a stretch of text [t, width]; -1 to 1."""
    sums = np.vstack([np.zeros((1, text.shape[1]), dtype=np.float32), np.cumsum(text, axis=0, dtype=np.float32)])
    starts = np.arange(0, max(1, len(text) - STRIDE), STRIDE)
    means = sums[np.minimum(starts + STRETCH, len(text))] - sums[starts]
    whole = query.sum(axis=0)
    lengths = np.linalg.norm(means, axis=1) * float(np.linalg.norm(whole))
    return float(((means @ whole) / np.maximum(lengths, 1e-9)).max())
