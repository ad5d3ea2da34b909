"""The reader by itself: how its labels and the sides to which it leans are counted."""

from __future__ import annotations

import pytest

from counterpoint.eval.claims.given import Judged, measure_labels
from counterpoint.nli.training.reader.lesson import CONTRADICT, NEUTRAL, SUPPORT


def test_labels_and_sides_are_counted_apart() -> None:
    judged = [
        Judged(SUPPORT, SUPPORT, SUPPORT),
        Judged(SUPPORT, NEUTRAL, SUPPORT),
        Judged(NEUTRAL, NEUTRAL, CONTRADICT),
        Judged(CONTRADICT, SUPPORT, SUPPORT),
    ]
    figures = measure_labels("some", judged)
    assert figures["some: macro-F1"].value == pytest.approx((1 / 2 + 2 / 3 + 0) / 3)
    assert figures["some: side, balanced accuracy"].value == 0.5
    assert measure_labels("one side", judged[:3])["one side: side, balanced accuracy"].value == 1.0
