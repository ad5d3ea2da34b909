"""A count agrees with its noun."""

from __future__ import annotations

import pytest

from retrieval.core.counts import format_count


@pytest.mark.parametrize(("count", "said"), [(0, "0 papers"), (1, "1 paper"), (2, "2 papers"), (2000, "2,000 papers")])
def test_a_count_agrees_with_its_noun(count: int, said: str) -> None:
    assert format_count(count, "paper") == said
