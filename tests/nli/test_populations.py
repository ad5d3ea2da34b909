"""Whether two studies were done in different people."""

from __future__ import annotations

import pytest

from nli.text.populations import differ_in_people


@pytest.mark.parametrize(
    ("one", "other", "differ"),
    [
        ("Zeta in children", "Zeta in elderly patients", True),
        ("Zeta in pregnant women", "Zeta in older men", True),
        ("Zeta in healthy volunteers", "Zeta in patients with gout", True),
        ("Zeta in children and adults", "Zeta in older women", False),
        ("Zeta in women", "Zeta: a randomised trial", False),
        ("Zeta", "Eta", False),
    ],
)
def test_titles_differ_where_they_name_groups_and_share_none(one: str, other: str, differ: bool) -> None:
    assert differ_in_people(one, other) is differ
    assert differ_in_people(other, one) is differ
