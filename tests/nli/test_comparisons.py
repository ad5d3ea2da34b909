"""A comparison's opposite, by rule."""

from __future__ import annotations

import pytest

from counterpoint.nli.text.comparisons import turn_comparison


@pytest.mark.parametrize(
    ("claim", "opposite"),
    [
        ("Zinc eases pain more than honey.", "Zinc eases pain less than honey."),
        (
            "Colds end sooner, and fever is lower, on zinc than on honey.",
            "Colds end sooner, and fever is higher, on zinc than on honey.",
        ),
        ("Colds come back less often with zinc than with honey.", "Colds come back more often with zinc than with honey."),
        ("Zinc eases pain.", None),
        ("Zinc raises more than it lowers less.", None),
        ("Zinc is no better than honey.", None),
        ("Zinc works better.", None),
        ("Zinc leads to a similar or better outcome than honey.", None),
    ],
)
def test_the_comparative_is_replaced_where_there_is_one_and_nothing_is_denied(claim: str, opposite: str | None) -> None:
    assert turn_comparison(claim) == opposite
