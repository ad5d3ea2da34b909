"""What denies a claim by its P values or confidence intervals."""

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
        ("Zeta lowered the risk (relative risk 0.74, 95 % confidence interval 0.26 to 2.13).", True),
        ("Falls were rarer (odds ratio, 0.8 [95% CI, 0.6-1.1]).", True),
        ("Falls were rarer (HR 0.7; 95% CI 0.5–0.9), fits were not (HR 0.9; 95% CI 0.6–1.3).", False),
        ("Falls were rarer (HR 0.9 with 95% CI 0.6-1.3; with more zeta, 0.57 (0.44-0.75)).", False),
        ("Falls were rarer (HR 0.7; 95% CI 0.4–1.1; P = 0.04).", False),
        ("Pressure fell by 5 mm Hg (95% CI 0.4 to 9.6).", False),
        ("Zeta lowered the dose.", False),
    ],
)
def test_a_difference_is_insignificant_if_no_p_value_is_small(text: str, insignificant: bool) -> None:
    assert is_insignificant(text) is insignificant


def test_what_is_called_into_question_is_denied() -> None:
    assert is_denial("This calls into question whether zeta lowers pressure.", "zeta lowers pressure", lambda clause: 1.0)
    assert not is_denial("Zeta lowers pressure without question.", "zeta lowers pressure", lambda clause: 1.0)


@pytest.mark.parametrize(
    ("text", "denied"),
    [
        ("This calls into question whether zeta, at any dose, lowers pressure.", True),
        ("There is no evidence that zeta, or indeed eta, lowers pressure.", True),
        ("There is no evidence that eta, or iota, raises it, but zeta lowers pressure.", False),
        ("Eta did not, at any dose, lower it; zeta lowers pressure.", False),
    ],
)
def test_a_denial_holds_for_the_whole_clause_that_it_governs(text: str, denied: bool) -> None:
    claim = "zeta lowers pressure"
    assert is_denial(text, claim, lambda clause: 1.0 if "lowers pressure" in clause else 0.1) is denied


def test_an_insignificant_difference_denies_an_effect_and_no_safety() -> None:
    text = "Zeta raised creatinine (P = 0.6)."
    assert is_denial(text, "zeta raises creatinine", lambda clause: 1.0)
    assert not is_denial(text, "zeta is safe", lambda clause: 1.0)
