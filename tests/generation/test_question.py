"""Questions that ask for yes or no become claims, others do not."""

from __future__ import annotations

import pytest

from generation.leads.grammar import make_past, make_third_person
from generation.leads.question import parse_question


@pytest.mark.parametrize(
    ("question", "claim", "denial"),
    [
        ("Does zeta lower blood pressure?", "zeta lowers blood pressure", "zeta does not lower blood pressure"),
        ("Do sailors carry scurvy?", "sailors carry scurvy", "sailors do not carry scurvy"),
        ("Did zeta stop the cough?", "zeta stopped the cough", "zeta did not stop the cough"),
        ("Is zeta effective for gout?", "zeta is effective for gout", "zeta is not effective for gout"),
        ("Is zeta in men a cause of gout?", "zeta in men is a cause of gout", "zeta in men is not a cause of gout"),
        ("Can early zeta predict gout?", "early zeta can predict gout", "early zeta cannot predict gout"),
        ("Has zeta changed practice?", "zeta has changed practice", "zeta has not changed practice"),
        ("Is there a link of zeta to gout?", "there is a link of zeta to gout", "there is no link of zeta to gout"),
        ("Zeta in gout: does it help?", "Zeta in gout helps", "Zeta in gout does not help"),
        ("Does use of zeta increase the risk?", "use of zeta increases the risk", "use of zeta does not increase the risk"),
        ("Is zeta safe, yes or no?", "zeta is safe", "zeta is not safe"),
        ("Is zeta as safe as eta in gout?", "zeta is as safe as eta in gout", "zeta is not as safe as eta in gout"),
        ("After gout, does zeta prevent falls?", "zeta prevents falls after gout", "zeta does not prevent falls after gout"),
        (
            "Compared with eta, does zeta prevent falls?",
            "zeta prevents falls compared with eta",
            "zeta does not prevent falls compared with eta",
        ),
        (
            "Is closing the wound with zeta quicker than waiting?",
            "closing the wound with zeta is quicker than waiting",
            "closing the wound with zeta is not quicker than waiting",
        ),
        ("Is running the best cure?", "running is the best cure", "running is not the best cure"),
        (
            "Should zeta or eta be given to most sailors?",
            "zeta or eta should be given to most sailors",
            "zeta or eta should not be given to most sailors",
        ),
        ("Does less zeta prevent gout or falls?", "less zeta prevents gout or falls", "less zeta does not prevent gout or falls"),
    ],
)  # fmt: skip
def test_a_question_becomes_its_claim_and_its_denial(question: str, claim: str, denial: str) -> None:
    turned = parse_question(question)
    assert turned is not None
    assert (turned.claim, turned.denial, turned.sound) == (claim, denial, True)


@pytest.mark.parametrize(
    ("question", "claim"),
    [
        (
            "In sailors, cooks and mates, does zeta prevent gout or fits?",
            "zeta prevents gout or fits in sailors, cooks and mates",
        ),
        ("After a fall does zeta prevent gout?", "zeta prevents gout after a fall"),
        ("A year after gout, does zeta prevent falls?", "zeta prevents falls a year after gout"),
        ("Do sailors who take zeta have more gout?", "sailors who take zeta have more gout"),
        ("Do sailors who use zeta or eta have worse gout?", "sailors who use zeta or eta have worse gout"),
        ("Are sailors who carry the gene more likely to limp?", "sailors who carry the gene are more likely to limp"),
        ("Are sailors with strongly marked hands safe?", "sailors with strongly marked hands are safe"),
        ("Is zeta superior to eta for gout or falls?", "zeta is superior to eta for gout or falls"),
        ("Is one zeta a day better than two etas?", "one zeta a day is better than two etas"),
        ("Is zeta injected into the toe better than eta?", "zeta injected into the toe is better than eta"),
        ("Does H. zeta raise the risk of ulcers?", "H. zeta raises the risk of ulcers"),
        ("Does St. Elmo's wort help?", "St. Elmo's wort helps"),
        ("Is zeta easier on the toe than eta?", "zeta is easier on the toe than eta"),
        ("Does dry zeta calm sailors?", "dry zeta calms sailors"),
        (
            "Are men with gout before or after falls more likely to die?",
            "men with gout before or after falls are more likely to die",
        ),
        ("Does having them walk cut gout or keep more of them well?", "having them walk cuts gout or keep more of them well"),
        ("Are sailors treated for gout more likely to fall?", "sailors treated for gout are more likely to fall"),
        ("Is the chance of having a fit high with zeta?", "the chance of having a fit is high with zeta"),
        ("Does zeta make sailors less alert or sleepy?", "zeta makes sailors less alert or sleepy"),
        ("Does zeta tell us which sailors will get gout?", "zeta tells us which sailors will get gout"),
    ],
)
def test_clauses_lists_and_choices_within_a_question_are_kept(question: str, claim: str) -> None:
    turned = parse_question(question)
    assert turned is not None
    assert (turned.claim, turned.sound) == (claim, True)


def test_the_claim_knows_what_it_speaks_of_and_what_it_says_of_it() -> None:
    turned = parse_question("Does zeta in old sailors prevent gout of the toe?")
    assert turned is not None
    assert (turned.subject, turned.predicate) == ("zeta in old sailors", "gout of the toe")


@pytest.mark.parametrize(
    "question",
    [
        "What is zeta used for?",
        "How does zeta help?",
        "Is zeta or eta better for gout?",
        "Do zeta or eta cause more falls?",
        "Is it safer to take zeta or eta?",
        "Is gout better with zeta or eta?",
        "In which sailors does zeta help?",
        "When does zeta help?",
        "Gout treatments",
        "Which zeta is best?",
        "Are there ways to prevent gout or treat it at sea?",
        "Are there any side effects of zeta?",
    ],
)
def test_what_asks_for_something_else_has_no_claim(question: str) -> None:
    assert parse_question(question) is None


def test_a_claim_that_no_rule_makes_is_never_shown_as_english() -> None:
    for question in (
        "Does zeta frobnicate gout?",
        "I have gout. If I walk after taking zeta, does my pulse rise?",
        "I take zeta for gout. Does it help?",
        "The nurse cystoscopist: a feasible option?",
        "Gout in sailors: does age matter?",
    ):
        turned = parse_question(question)
        assert turned is not None
        assert not turned.sound


def test_verbs_are_inflected() -> None:
    assert [make_third_person(verb) for verb in ("carry", "reach", "have", "play", "lower", "undergo")] == [
        "carries",
        "reaches",
        "has",
        "plays",
        "lowers",
        "undergoes",
    ]
    assert [make_past(verb) for verb in ("carry", "reduce", "have", "begin", "lower")] == [
        "carried",
        "reduced",
        "had",
        "began",
        "lowered",
    ]
