"""Measures of rankings and probabilities, with their confidence intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Item = TypeVar("Item")


def ndcg(ranking: Sequence[int], relevant: Collection[int], depth: int = 10) -> float:
    """nDCG at `depth` with binary relevance (Järvelin and Kekäläinen 2002, doi:10.1145/582415.582418)."""
    gain = sum(1 / math.log2(place + 2) for place, item in enumerate(ranking[:depth]) if item in relevant)
    ideal = sum(1 / math.log2(place + 2) for place in range(min(depth, len(relevant))))
    return gain / ideal if ideal else 0.0


def calibration_error(confidence: NDArray[np.float64], right: NDArray[np.bool_], bins: int = 10) -> float:
    """Expected calibration error (0 to 1): the mean gap between confidence and accuracy over equal-width bins, weighted by size.

    `confidence` [items] is 0 to 1, `right` [items].

    Guo et al. 2017 (arXiv 1706.04599), equation 3.
    """
    places = np.minimum((confidence * bins).astype(int), bins - 1)
    gaps = [abs(confidence[places == b].mean() - right[places == b].mean()) * (places == b).mean() for b in set(places)]
    return float(sum(gaps))


def f1(right: int, predictions: float, gold: int) -> float:
    """F1 in per cent from counts."""
    return 200.0 * right / (predictions + gold) if predictions + gold else 0.0


def macro_f1(gold: NDArray[np.int64], predictions: NDArray[np.int64], classes: int) -> float:
    """Mean of the classes' F1, in per cent; both label indices [items]."""
    guesses, true = [predictions == c for c in range(classes)], [gold == c for c in range(classes)]
    return float(np.mean([f1(int((a & b).sum()), int(a.sum()), int(b.sum())) for a, b in zip(guesses, true, strict=True)]))


def balanced_accuracy(gold: NDArray[np.int64], predictions: NDArray[np.int64]) -> float:
    """Mean of the classes' recall, in per cent; both label indices [items]."""
    return 100.0 * float(np.mean([(predictions[gold == c] == c).mean() for c in set(gold.tolist())]))


def bootstrap_interval(
    measure: Callable[[Sequence[Item]], float], items: Sequence[Item], draws: int = 1000
) -> tuple[float, float, float]:
    """The measure and its 95 % interval by the percentile bootstrap over `items`, two or more (Efron 1979), seed fixed."""
    from scipy.stats import bootstrap

    result = bootstrap(
        (np.arange(len(items)),),
        lambda rows: measure([items[row] for row in rows]),
        n_resamples=draws, vectorized=False, method="percentile", rng=np.random.default_rng(0),
    )  # fmt: skip
    low, high = np.nanpercentile(result.bootstrap_distribution, [2.5, 97.5])
    return measure(items), float(low), float(high)
