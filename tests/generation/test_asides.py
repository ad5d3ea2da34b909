"""Sentences that are beside what a study found, and findings that only compare treatments."""

from __future__ import annotations

import pytest

from generation.leads.comparing import is_combined, is_joint
from generation.sentences.asides import is_aside
from generation.sentences.phrases import compile_phrases

ASKED = "Does zeta lower blood pressure?"


@pytest.mark.parametrize(
    ("text", "outcome", "aside"),
    [
        ("In the subgroup of smokers zeta lowered blood pressure.", 1.0, True),
        ("Zeta lowered blood pressure in all, including the subgroup of smokers.", 1.0, False),
        ("A post hoc analysis found lower blood pressure.", 1.0, True),
        ("Groups were similar in blood pressure at baseline.", 1.0, True),
        ("Previous studies have shown that zeta lowers blood pressure.", 1.0, True),
        ("It has been reported that zeta lowers blood pressure.", 1.0, True),
        ("Three patients discontinued zeta because of a lack of response.", 0.0, True),
        ("Zeta was well tolerated.", 0.0, True),
        ("Patients with low blood pressure were significantly older.", 1.0, True),
        ("Zeta is a very cost-effective way to lower blood pressure.", 1.0, True),
        ("Zeta lowered blood pressure and was well tolerated.", 1.0, False),
        ("Blood pressure fell from baseline by 12 mm Hg.", 1.0, False),
        ("Zeta lowered blood pressure.", 1.0, False),
    ],
)
def test_asides_are_told_by_their_words(text: str, outcome: float, aside: bool) -> None:
    assert is_aside(text, ASKED, outcome) is aside


def test_what_the_question_asks_about_is_no_aside() -> None:
    assert not is_aside("Zeta was well tolerated.", "Is zeta well tolerated?", 0.0)
    assert not is_aside("Zeta was cost-effective.", "Does zeta reduce the costs of care?", 0.5)
    assert not is_aside("Zeta was economically attractive.", "Is zeta good value for money?", 0.5)
    assert not is_aside("In the subgroup of smokers zeta lowered it.", "Does zeta help a subgroup of patients?", 0.5)


@pytest.mark.parametrize(
    ("text", "none"),
    [
        ("It remains to be determined whether zeta lowers blood pressure.", True),
        ("Whether zeta lowers blood pressure deserves further study.", True),
        ("This highlights the need for larger trials of zeta.", True),
        ("Larger studies of zeta are awaited.", True),
        ("This has led to speculation that zeta lowers blood pressure.", True),
        ("While those who took eta had only a small rise.", True),
        ("While those who took eta had only a small rise, zeta raised it.", False),
        ("Zeta lowered blood pressure in children who need to sleep.", False),
        ("Blood pressure remained lower with zeta.", False),
    ],
)
def test_what_is_still_to_be_studied_is_no_finding(text: str, none: bool) -> None:
    assert bool(compile_phrases("no finding").search(text)) is none


@pytest.mark.parametrize(
    ("finding", "question", "joint"),
    [
        ("Both zeta and eta were effective.", "Does zeta lower blood pressure more than eta?", True),
        ("Pressure fell with either zeta or eta.", "Is zeta as good as eta?", True),
        ("Pressure fell in all groups.", "Is zeta superior to eta?", True),
        ("Zeta reduced both systolic and diastolic pressure.", "Does zeta lower blood pressure more than eta?", False),
        ("Both lower blood pressure, zeta more than eta.", "Does zeta lower blood pressure more than eta?", False),
        ("Pressure fell by 9 and 4 mmHg in the two groups, both P < 0.01.", "Is zeta better than eta?", False),
        ("Both zeta and eta lower blood pressure.", ASKED, False),
    ],
)
def test_what_is_said_of_both_does_not_tell_which_is_better(finding: str, question: str, joint: bool) -> None:
    assert is_joint(finding, question) is joint


@pytest.mark.parametrize(
    ("finding", "question", "combined"),
    [
        ("Zeta-based triple therapy cured gout.", "Can zeta on its own cure gout?", True),
        ("Zeta plus eta cured gout.", "Does zeta alone cure gout?", True),
        ("Zeta plus eta cured gout, zeta alone did not.", "Does zeta alone cure gout?", False),
        ("Zeta cured gout.", "Does zeta alone cure gout?", False),
        ("Zeta plus eta cured gout.", "Does zeta cure gout?", False),
        ("Zeta plus eta cured gout.", "Is zeta plus eta better than zeta alone?", False),
    ],
)
def test_a_combination_tells_nothing_of_a_treatment_alone(finding: str, question: str, combined: bool) -> None:
    assert is_combined(finding, question) is combined
