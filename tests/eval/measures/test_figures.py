"""The formulas on values computed by hand, and the bootstrap beside SciPy's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import bootstrap

from counterpoint.eval.measures.figures import (
    Resampler,
    Tally,
    f1,
    precision,
    recall,
    share,
)
from counterpoint.eval.scifact.report import PUBLISHED


@pytest.mark.parametrize("name", PUBLISHED["table_1"])
def test_equation_3_on_the_papers_figures_gives_the_papers_column(name: str) -> None:
    row = PUBLISHED["table_1"][name]
    # Three figures rounded to three digits: the inputs and the result may each be half a thousandth off.
    assert (124 * row["support"] + 64 * row["contradict"]) / 188 == pytest.approx(row["weighted"], abs=0.001)


def test_precision_recall_and_f1_of_sums() -> None:
    sums = np.array([2.0, 5.0, 4.0])
    assert [float(precision(sums)), float(recall(sums))] == [0.4, 0.5]
    assert f1(sums) == pytest.approx(4 / 9)
    many = np.array([[0.0, 0.0, 0.0], [0.0, 3.0, 0.0], [1.0, 1.0, 1.0]])
    assert f1(many).tolist() == [0.0, 0.0, 1.0]


def test_intervals_agree_with_scipys() -> None:
    rng = np.random.default_rng(1)
    counts = np.stack([rng.integers(0, 3, 120), rng.integers(1, 4, 120)], axis=1).astype(float)
    ours = Resampler(120).figure(Tally(counts, share))
    theirs = bootstrap(
        (counts[:, 0], counts[:, 1]),
        lambda above, below, axis=-1: above.sum(axis=axis) / below.sum(axis=axis),
        paired=True,
        vectorized=True,
        method="percentile",
        n_resamples=10_000,
        rng=np.random.default_rng(2),
    ).confidence_interval
    assert ours.value == counts[:, 0].sum() / counts[:, 1].sum()
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.005)


def test_the_p_of_a_difference_counts_the_samples_that_lie_as_far() -> None:
    # Of two claims the first alone differs: it is drawn 0, 1 or 2 times with chances 1/4, 1/2, 1/4, so the difference is 0, 1/2
    # or 1 around an observed 1/2, and half the samples lie as far from it as it lies from 0.
    found = Resampler(2).difference(Tally.of([(1, 1), (1, 1)], share), Tally.of([(0, 1), (1, 1)], share))
    assert found.value == 0.5
    assert (found.low, found.high) == (0.0, 1.0)
    assert found.p == pytest.approx(0.5, abs=0.02)


def test_what_cannot_be_measured_is_none() -> None:
    nothing = Tally.of([(0, 0), (0, 0)], share)
    resampler = Resampler(2, resamples=99)
    figure = resampler.figure(nothing)
    assert (figure.value, figure.low, figure.high) == (None, None, None)
    assert resampler.difference(nothing, nothing).p is None
