"""The confidence interval of a measure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

Item = TypeVar("Item")


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
