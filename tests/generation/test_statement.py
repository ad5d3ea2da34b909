"""From an open question and an answer to a statement and its opposite."""

from __future__ import annotations

import pytest

from counterpoint.generation.statement import state_question


@pytest.mark.parametrize(
    ("question", "statement", "opposite"),
    [
        ("Which tablets lower gout?", "Zeta lowers gout.", "Zeta raises gout."),
        ("How can gout be prevented in sailors?", "Gout can be prevented with zeta in sailors.",
         "Gout can not be prevented with zeta in sailors."),
        ("Side effects of omega oil", "Omega oil causes zeta.", "Omega oil prevents zeta."),
        ("Which drugs lower and prevent gout?", "Zeta lowers and prevents gout.", "Zeta raises and causes gout."),
        ("What slows down gout when nothing else has worked?", "Zeta slows down gout when nothing else has worked.",
         "Zeta speeds up gout when nothing else has worked."),
        ("How can sailors slow down gout?", "Zeta can help sailors slow down gout.", "Zeta can help sailors speed up gout."),
        ("How can you treat gout?", "Zeta can treat gout.", "Zeta can worsen gout."),
        ("What does gout cause?", "Gout causes zeta.", "Gout prevents zeta."),
        ("What helps gout?", "Zeta helps gout.", "Zeta does not help gout."),
        ("Please list drugs that cure gout", "Zeta cures gout.", "Zeta worsens gout."),
        ("As of 2019, which genes are linked to gout?", "Zeta is linked to gout.", "Zeta is not linked to gout."),
        ("Best treatment for gout", "Zeta is effective in gout.", "Zeta is ineffective in gout."),
        ("Risk factors for gout, especially in sailors", "Zeta raises the risk of gout.", "Zeta lowers the risk of gout."),
        ("Diseases for which omega oil is given", "Omega oil is given for zeta.",
         "It is not so that omega oil is given for zeta."),
        ("Mutations in which genes cause gout?", "Mutations in zeta cause gout.", "Mutations in zeta prevent gout."),
    ],
)  # fmt: skip
def test_a_question_and_an_answer_make_a_statement_and_its_opposite(question: str, statement: str, opposite: str) -> None:
    made = state_question(question)
    assert made is not None
    assert made.state("zeta") == (statement, opposite)


def test_a_question_that_only_names_a_kind_of_thing_makes_no_sure_statement() -> None:
    made = state_question("What are the benefits of omega oil?")
    assert made is not None
    assert (made.state("less gout")[0], made.sure) == ("Less gout is among the benefits of omega oil.", False)


@pytest.mark.parametrize(
    "question", ["Why do sailors get gout?", "Which tablets are there for gout?", "What do I need against gout?", "?"]
)
def test_of_other_questions_no_statement_is_made(question: str) -> None:
    assert state_question(question) is None
