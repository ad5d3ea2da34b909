"""The uncertainty of a figure: bootstrap intervals over claims and paired tests between variants.

All figures share one matrix of samples, so that two variants are always compared on the same samples of claims and a report is
reproducible to the last digit. A sample is a vector of how often each claim is drawn, so sums over samples are one matrix
product: ten thousand samples of a hundred figures take seconds, where resampling each figure anew takes minutes.
"""

from __future__ import annotations

import numpy as np

from eval.measures.formulas import Floats, Tally
from eval.measures.report_data import Difference, Figure

SEED, RESAMPLES = 20251121, 10_000


class Resampler:
    """Samples of claims, drawn once with replacement; NaN figures of a sample (nothing to measure in it) are left out."""

    def __init__(self, claims: int, resamples: int = RESAMPLES) -> None:
        counts = np.random.default_rng(SEED).multinomial(claims, np.full(claims, 1.0 / claims), size=resamples)
        self._weights: Floats = counts.astype(np.float64)

    def figure(self, tally: Tally) -> Figure:
        """The figure with its 95 % percentile interval (Efron and Tibshirani 1993, section 13.3)."""
        value, samples = tally.value, self._samples(tally)
        return Figure(_number(value), *_interval(samples))

    def difference(self, tally: Tally, baseline: Tally) -> Difference:
        """The figure minus the baseline's on the same claims, its 95 % interval, and the two-sided p-value for no difference.

        The p-value is the share of samples whose difference lies at least as far from the observed one as that lies from 0,
        counting the observed one (the shift method: Efron and Tibshirani 1993, section 16.4; Berg-Kirkpatrick et al. 2012).
        """
        difference = tally.value - baseline.value
        samples = self._samples(tally) - self._samples(baseline)
        samples = samples[~np.isnan(samples)]
        if np.isnan(difference) or not len(samples):
            return Difference(None, None, None, None)
        # A tolerance, so that rounding in the sums cannot make an equal difference look smaller.
        as_far = int((np.abs(samples - difference) >= abs(difference) - 1e-12).sum())
        return Difference(difference, *_interval(samples), p=(1 + as_far) / (1 + len(samples)))

    def _samples(self, tally: Tally) -> Floats:
        return tally.formula(self._weights @ tally.counts)


def _interval(samples: Floats) -> tuple[float | None, float | None]:
    values = samples[~np.isnan(samples)]
    if not len(values):
        return None, None
    low, high = np.percentile(values, [2.5, 97.5])
    return float(low), float(high)


def _number(value: float) -> float | None:
    return None if np.isnan(value) else value
