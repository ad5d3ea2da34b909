"""What denies a claim by its P values."""

from __future__ import annotations

import pytest

from generation.leads.denial import is_denial, is_insignificant


@pytest.mark.parametrize(
    ("text", "insignificant"),
    [
        ("Zeta lowered the dose by 16 % (NS, P = 0.06).", True),
        ("Zeta lowered the dose (P > 0.05).", True),
        ("Zeta lowered the dose (p=NS).", True),
        ("Zeta lowered the dose (P = 0.03).", False),
        ("Zeta lowered the dose (P<0.001) but not pain (P = 0.4).", False),
        ("Zeta lowered the dose; stages N and NS were alike.", False),
        ("Zeta lowered the dose.", False),
    ],
)
def test_a_difference_is_insignificant_if_no_p_value_is_small(text: str, insignificant: bool) -> None:
    assert is_insignificant(text) is insignificant


def test_an_insignificant_difference_denies_an_effect_and_no_safety() -> None:
    text = "Zeta raised creatinine (P = 0.6)."
    assert is_denial(text, "zeta raises creatinine", lambda clause: 1.0)
    assert not is_denial(text, "zeta is safe", lambda clause: 1.0)
