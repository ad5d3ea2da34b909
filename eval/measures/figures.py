"""Figures and their uncertainty: formulas over counts, bootstrap intervals over claims, paired tests between variants.

A figure over claims is kept as a `Tally`: the counts of each claim and the formula that turns their sums into the figure. The
same formula then gives the figure of all claims and of every bootstrap sample of them.

All figures share one matrix of samples, so that two variants are always compared on the same samples of claims and a report is
reproducible to the last digit. A sample is a vector of how often each claim is drawn, so sums over samples are one matrix
product: ten thousand samples of a hundred figures take seconds, where resampling each figure anew takes minutes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Formula = Callable[[Floats], Floats]
"""From sums of counts, [..., parts], to figures, [...]; NaN where there is nothing to measure."""
SEED, RESAMPLES = 20251121, 10_000


def reciprocal_ranks(
    gold: Mapping[str, Collection[str]], run: Mapping[str, Sequence[str]], cut: int | None = None
) -> list[float]:
    """1 / rank of the first gold document for each query of `gold`, in its order; 0 where none is in the (cut) ranking.

    Reciprocal rank: Kantor and Voorhees 2000.
    """
    return [
        next((1 / rank for rank, pmid in enumerate(run[query][:cut], 1) if pmid in documents), 0.0)
        for query, documents in gold.items()
    ]


def share(sums: Floats) -> Floats:
    """The first part over the second: of [..., 2] (numerator, denominator)."""
    return _divide(sums[..., 0], sums[..., 1], np.nan)


def precision(sums: Floats) -> Floats:
    """Right / predicted, of [..., 3] (right, predicted, gold); 0 where nothing is predicted, as in SciFact's evaluator."""
    return _divide(sums[..., 0], sums[..., 1], 0.0)


def recall(sums: Floats) -> Floats:
    """Right / gold, of [..., 3] (right, predicted, gold); 0 where there is no gold, as in SciFact's evaluator."""
    return _divide(sums[..., 0], sums[..., 2], 0.0)


def f1(sums: Floats) -> Floats:
    """The harmonic mean of both (van Rijsbergen 1979), of [..., 3] (right, predicted, gold); 0 where both are 0."""
    p, r = precision(sums), recall(sums)
    return _divide(2 * p * r, p + r, 0.0)


def macro_f1(sums: Floats) -> Floats:
    """The mean of the labels' F1, of [..., 3 × labels]: right, predicted and gold of each."""
    mean: Floats = f1(sums.reshape(*sums.shape[:-1], -1, 3)).mean(axis=-1)
    return mean


def balanced(sums: Floats) -> Floats:
    """The mean of the recalls of those labels that occur, of [..., 2 × labels]: right and gold of each."""
    recalls = share(sums.reshape(*sums.shape[:-1], -1, 2))
    return _divide(np.nansum(recalls, axis=-1), (~np.isnan(recalls)).sum(axis=-1), np.nan)


def _divide(numerator: Floats, denominator: Floats, default: float) -> Floats:
    quotient: Floats = np.divide(numerator, denominator, out=np.full(np.shape(numerator), default), where=denominator != 0)
    return quotient


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """A figure as counts, [claims, parts], and the formula over their sums."""

    counts: Floats
    formula: Formula

    @classmethod
    def of(cls, counts: Iterable[Sequence[float]], formula: Formula) -> Tally:
        """From the counts of each claim, in the order of the claims."""
        return cls(np.array(list(counts), dtype=np.float64), formula)

    @property
    def value(self) -> float:
        """The figure over all claims; NaN where there is nothing to measure."""
        return float(self.formula(self.counts.sum(axis=0)))


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure with its 95 % bootstrap interval over claims."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Difference:
    """A figure minus the baseline's, its 95 % interval and the two-sided p of no difference, on the same samples of claims."""

    value: float | None
    low: float | None
    high: float | None
    p: float | None


class Resampler:
    """Samples of claims, drawn once with replacement; NaN figures of a sample (nothing to measure in it) are left out."""

    def __init__(self, claims: int, resamples: int = RESAMPLES) -> None:
        counts = np.random.default_rng(SEED).multinomial(claims, np.full(claims, 1.0 / claims), size=resamples)
        self._weights: Floats = counts.astype(np.float64)

    def figure(self, tally: Tally) -> Figure:
        """The figure with its 95 % percentile interval (Efron and Tibshirani 1993, section 13.3)."""
        value, samples = tally.value, self._samples(tally)
        return Figure(None if np.isnan(value) else value, *_interval(samples))

    def share(self, hits: Iterable[float], among: Iterable[float] | None = None) -> Figure:
        """The share of hits, with its interval, among all units or, with 1 or 0 for each, `among` some."""
        right = np.array(list(hits), dtype=np.float64)
        counted = np.ones_like(right) if among is None else np.array(list(among), dtype=np.float64)
        return self.figure(Tally(np.stack([right * counted, counted], axis=1), share))

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
