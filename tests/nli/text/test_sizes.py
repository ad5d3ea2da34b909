"""Figures in claims and sentences: which disagree, and which cannot be compared."""

from __future__ import annotations

import pytest

from counterpoint.nli.text.sizes import denies_size

FIFTH = "Zeta reduced attacks by 22 % (95 % CI 15 to 68 %; P = 0.6)."
MINUTES = "Zeta shortened attacks by 9 minutes (95 % CI 5 to 90)."


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("Zeta reduces attacks by more than half.", FIFTH),
        ("Zeta reduces attacks by at least 80 %.", "Zeta halved attacks (relative risk 0.50)."),
        ("Zeta shortens attacks by more than one hour.", MINUTES),
        ("Zeta lowers pressure by over ten mmHg.", "Pressure fell by 4 mmHg."),
        ("Zeta reduces attacks by less than 10 %.", FIFTH),
        ("Patients had over 30% fewer attacks on zeta.", "There were 22 percent fewer attacks on zeta."),
        ("Zeta halves attacks.", FIFTH),
        ("Zeta doubles the risk.", "The odds ratio was 1.21 (95 % CI 1.1 to 2.0)."),
        ("Zeta works within twenty minutes.", "Zeta took 45 min (range 30 to 60) to work."),
        ("5 g of zeta helps.", "Zeta 500 mg daily helped."),
        ("Two thirds of patients get well.", "45 ± 60 % of patients got well."),
        ("More than nine in ten get well.", "63 % got well."),
        ("Zeta lowers pressure by thirty mmHg.", "Pressure fell from 161 +/- 9 mm Hg to 151 mm Hg."),
        ("Zeta lowers pressure by five mmHg.", "Pressure fell from 161 to 141 mm Hg."),
        ("Zeta reduces attacks by more than half.", "Attacks: 25 % with zeta, 30 % with placebo."),
        ("Three-fold more have attacks.", "Attacks were 1.3 times as common."),
    ],
)
def test_a_size_out_of_the_claims_bound_is_denied(claim: str, sentence: str) -> None:
    assert denies_size(claim, sentence)


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("Zeta reduces attacks by more than a fifth.", FIFTH),
        ("Zeta reduces attacks by up to a quarter.", FIFTH),
        ("Zeta shortens attacks by more than five minutes.", MINUTES),
        ("Zeta shortens attacks by less than an hour.", MINUTES),
        # A round word for a figure, another unit, another thing, or nothing to compare.
        ("Zeta reduces attacks by a quarter.", FIFTH),
        ("0.5 g of zeta helps.", "Zeta 500 mg daily helped."),
        ("Zeta works within twenty minutes.", "Zeta took 15 min to work."),
        ("Zeta for three months helps.", "Zeta was given for 12 weeks."),
        ("Twice a day, zeta halves attacks.", "There were 48 % fewer attacks."),
        ("Doubling the dose of zeta adds nothing.", FIFTH),
        ("Zeta shortens attacks by more than half.", MINUTES),
        ("Zeta helps women over 50.", "Women were followed for 12 years."),
        ("Zeta reduces attacks by more than half.", "Attacks: 12 % with zeta, 30 % with placebo."),
        ("Zeta reduces attacks by more than half.", "Zeta reduced attacks."),
        ("Zeta reduces attacks.", FIFTH),
        ("Zeta ends attacks by more than 1,2,3 %%.", "by a by 5 of 7,"),
    ],
)
def test_what_cannot_be_compared_denies_nothing(claim: str, sentence: str) -> None:
    assert not denies_size(claim, sentence)


def test_a_figure_that_another_sentence_of_the_paper_gives_is_not_denied() -> None:
    assert not denies_size("Zeta reduces attacks by more than half.", FIFTH, ["In women, attacks were 60 % fewer."])
    assert denies_size("Zeta reduces attacks by more than half.", FIFTH, ["Of the patients, 60 % were women."])
