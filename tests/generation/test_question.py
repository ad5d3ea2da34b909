"""Questions that ask for yes or no become claims, and claims become questions."""

from __future__ import annotations

import pytest

from generation.question import parse_question, write_question


@pytest.mark.parametrize(
    ("question", "claim"),
    [
        ("Does zeta lower blood pressure?", "zeta lowers blood pressure"),
        ("Does vitamin A lower child mortality?", "vitamin A lowers child mortality"),
        ("Do sailors carry scurvy?", "sailors carry scurvy"),
        ("Did zeta stop the cough?", "zeta stopped the cough"),
        ("Is zeta effective for gout?", "zeta is effective for gout"),
        ("Can early zeta predict gout?", "early zeta can predict gout"),
        ("Is zeta injected into the toe better than eta?", "zeta injected into the toe is better than eta"),
        ("Does zeta tell us which sailors will get gout?", "zeta tells us which sailors will get gout"),
        ("Do sailors who use zeta or eta have worse gout?", "sailors who use zeta or eta have worse gout"),
        ("Is the chance of having a fit high with zeta?", "the chance of having a fit is high with zeta"),
        ("Has zeta changed practice?", "zeta has changed practice"),
        ("Is there a link of zeta to gout?", "there is a link of zeta to gout"),
        ("Is zeta safe, yes or no?", "zeta is safe"),
        ("Is zeta as safe as eta in gout?", "zeta is as safe as eta in gout"),
        ("After gout, does zeta prevent falls?", "zeta prevents falls after gout"),
        ("Is closing the wound with zeta quicker than waiting?", "closing the wound with zeta is quicker than waiting"),
        ("Should zeta or eta be given to most sailors?", "zeta or eta should be given to most sailors"),
        ("A year after gout, does zeta prevent falls?", "zeta prevents falls a year after gout"),
        ("Are sailors with strongly marked hands safe?", "sailors with strongly marked hands are safe"),
        (
            "Are men with gout before or after falls more likely to die?",
            "men with gout before or after falls are more likely to die",
        ),
        ("Does zeta make sailors less alert or sleepy?", "zeta makes sailors less alert or sleepy"),
    ],
)
def test_a_question_becomes_its_claim(question: str, claim: str) -> None:
    parsed = parse_question(question)
    assert parsed is not None
    assert (parsed.claim, parsed.sound) == (claim, True)


@pytest.mark.parametrize(
    "question",
    [
        "What is zeta used for?", "Is zeta or eta better for gout?", "Do zeta or eta cause more falls?",
        "Is it safer to take zeta or eta?", "Is gout better with zeta or eta?", "In which sailors does zeta help?",
        "When does zeta help?", "Gout treatments", "Are there ways to prevent gout or treat it at sea?",
    ],
)  # fmt: skip
def test_what_asks_for_something_else_has_no_claim(question: str) -> None:
    assert parse_question(question) is None


@pytest.mark.parametrize(
    "question",
    [
        "Does zeta frobnicate gout?",
        "I have gout. If I walk after taking zeta, does my pulse rise?",
        "I take zeta for gout. Does it help?",
        "The nurse cystoscopist: a feasible option?",
        "Gout in sailors: does age matter?",
    ],
)
def test_a_claim_that_no_rule_makes_is_never_shown_as_english(question: str) -> None:
    parsed = parse_question(question)
    assert parsed is not None
    assert not parsed.sound


@pytest.mark.parametrize(
    ("claim", "question"),
    [
        ("Beta-carotene reduces the risk of lung cancer.", "Does beta-carotene reduce the risk of lung cancer?"),
        ("Zeta improved survival in septic shock.", "Did zeta improve survival in septic shock?"),
        ("Statins are safe in older adults.", "Are statins safe in older adults?"),
        ("Zeta does not lower blood pressure.", "Does zeta lower blood pressure?"),
        ("Niacin raised HDL and lowered triglycerides.", None),
        ("Zeta.", None),
    ],
)
def test_a_claim_becomes_the_question_that_it_answers(claim: str, question: str | None) -> None:
    assert write_question(claim) == question
