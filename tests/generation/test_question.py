"""Questions that ask for yes or no become claims, and claims become questions."""

from __future__ import annotations

import pytest

from counterpoint.generation.question import offers_many, parse_choice, parse_question, write_question


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
        ("Should sailors with gout or falls take zeta?", "sailors with gout or falls should take zeta"),
        ("Does zeta prevent or delay gout?", "zeta prevents or delays gout"),
        ("Does zeta help men or women?", "zeta helps men or women"),
        ("Does zeta help before or after surgery?", "zeta helps before or after surgery"),
        ("Is zeta safe in sailors aged 80 or older?", "zeta is safe in sailors aged 80 or older"),
        ("Is zeta effective in high or low blood pressure?", "zeta is effective in high or low blood pressure"),
        ("Does eating less help with pain or fever?", "eating less helps with pain or fever"),
        ("Do sailors with gout or falls have a higher risk of colds?", "sailors with gout or falls have a higher risk of colds"),
        ("Is zeta or eta better than placebo?", "zeta or eta is better than placebo"),
        ("Does zeta work or not?", "zeta works"),
        ("Does tight zeta control lower mortality?", "tight zeta control lowers mortality"),
        ("Does adding zeta to a nerve block make pain less?", "adding zeta to a nerve block makes pain less"),
        ("Zeta reduces falls, does it not?", "zeta reduces falls"),
        ("Zeta and eta are safe, aren't they?", "zeta and eta are safe"),
        ("Zeta is an antidote, yes or no?", "zeta is an antidote"),
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
        "Is zeta, eta or theta better for gout?",
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


@pytest.mark.parametrize(
    ("question", "names", "claims"),
    [
        ("Does zeta raise or lower the risk of falls?", "raise lower",
         ["zeta raises the risk of falls", "zeta lowers the risk of falls"]),
        ("Does zeta increase, decrease, or not affect pressure?", "increase decrease",
         ["zeta increases pressure", "zeta decreases pressure"]),
        ("Is zeta linked to an increased or a decreased risk of falls?", "increased decreased",
         ["zeta is linked to an increased risk of falls", "zeta is linked to a decreased risk of falls"]),
        ("Is zeta good or bad for the heart?", "good bad", ["zeta is good for the heart", "zeta is bad for the heart"]),
        ("Is pain higher, lower, or the same when comparing zeta to eta?", "higher lower",
         ["pain is higher with zeta than with eta", "pain is lower with zeta than with eta"]),
        ("Does zeta or eta prevent more strokes in sailors?", "zeta eta",
         ["zeta prevents more strokes than eta in sailors", "eta prevents more strokes than zeta in sailors"]),
        ("Which is the better tablet for gout, zeta or eta?", "zeta eta",
         ["zeta is a better tablet than eta for gout", "eta is a better tablet than zeta for gout"]),
        ("Is zeta or eta the best treatment for gout?", "zeta eta",
         ["zeta is a better treatment than eta for gout", "eta is a better treatment than zeta for gout"]),
        ("Are pills or surgery safer for gout?", "pills surgery",
         ["pills are safer than surgery for gout", "surgery is safer than pills for gout"]),
        ("Which is better for gout, zeta or eta?", "zeta eta",
         ["zeta is better than eta for gout", "eta is better than zeta for gout"]),
        ("Zeta versus eta for gout?", "zeta eta", ["zeta is better than eta for gout", "eta is better than zeta for gout"]),
        ("For relieving gout, zeta or eta?", "zeta eta",
         ["zeta is better than eta for relieving gout", "eta is better than zeta for relieving gout"]),
        ("Zeta or eta in gout: which works better?", "zeta eta",
         ["zeta works better than eta in gout", "eta works better than zeta in gout"]),
        ("Is gout better treated with zeta or eta?", "zeta eta",
         ["gout is better treated with zeta than with eta", "gout is better treated with eta than with zeta"]),
        ("Is it safer to take zeta or eta?", "zeta eta",
         ["it is safer to take zeta than eta", "it is safer to take eta than zeta"]),
        ("Should sailors be given zeta for three or seven days?", "three days/seven days",
         ["sailors should be given zeta for three days rather than seven days",
          "sailors should be given zeta for seven days rather than three days"]),
        ("Should zeta or eta be given to most sailors?", "zeta eta",
         ["zeta rather than eta should be given to most sailors", "eta rather than zeta should be given to most sailors"]),
        ("Is oral or intravenous zeta better?", "oral zeta/intravenous zeta",
         ["oral zeta is better than intravenous zeta", "intravenous zeta is better than oral zeta"]),
        ("Is zeta 50 mg or 100 mg better for gout?", "zeta 50 mg/zeta 100 mg",
         ["zeta 50 mg is better than zeta 100 mg for gout", "zeta 100 mg is better than zeta 50 mg for gout"]),
    ],
)  # fmt: skip
def test_a_choice_is_two_claims_each_against_the_other(question: str, names: str, claims: list[str]) -> None:
    choice = parse_choice(question)
    assert choice is not None and parse_question(question) is None
    assert [*choice.names] == names.split("/" if "/" in names else " ")
    assert [one.claim for one in choice.claims] == claims
    assert all(one.sound for one in choice.claims)


@pytest.mark.parametrize(
    "question",
    [
        "Is zeta, eta or theta better for gout?", "Which is better for gout: zeta, eta, or theta?",
        "Zeta, eta or theta in gout: which works better?", "Should zeta, eta or theta be used for gout?",
        "Should treatment last three, five or seven days?",
    ],
)  # fmt: skip
def test_more_than_two_sides_are_neither_a_choice_nor_a_claim(question: str) -> None:
    assert offers_many(question) and parse_choice(question) is None and parse_question(question) is None


@pytest.mark.parametrize("question", ["Which is better for gout: zeta or eta?", "In gout, which is safer, zeta or eta?"])
def test_a_heading_is_no_third_side(question: str) -> None:
    assert not offers_many(question) and parse_choice(question) is not None


def test_both_sides_of_a_choice_can_be_named_in_one() -> None:
    named = {
        "Does zeta raise or lower pressure?": "zeta raises or lowers pressure",
        "Who falls more, men or women?": "men or women fall more",
    }
    for question, both in named.items():
        choice = parse_choice(question)
        assert choice and choice.both.claim == both


@pytest.mark.parametrize(
    "question", ["Does zeta help with pain or fever?", "Zeta?", "or", "Zeta or?", "Is or better?", "A versus?", "",
                 "drugs for gout or scurvy", "adverse effects of strong vs second-line tablets on falls",
                 "massage to calm sailors in port or around a storm"]
)  # fmt: skip
def test_what_offers_no_choice_has_none(question: str) -> None:
    assert parse_choice(question) is None


@pytest.mark.parametrize(
    "question", ["List two uses of zeta?", "best tablet or injection for gout", "Name a cure for gout or scurvy?"]
)
def test_an_order_asks_for_more_than_yes_or_no(question: str) -> None:
    assert parse_question(question) is None
    assert parse_choice(question) is None
