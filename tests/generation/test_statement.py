"""From an open question and an answer to a statement and its opposite."""

from __future__ import annotations

import pytest

from generation.statement import state_question


@pytest.mark.parametrize(
    ("question", "statement", "opposite"),
    [
        ("Which tablets lower gout?", "Zeta lowers gout.", "Zeta raises gout."),
        ("How can gout be prevented in sailors?", "Gout can be prevented with zeta in sailors.",
         "Gout can not be prevented with zeta in sailors."),
        ("Side effects of omega oil", "Omega oil causes zeta.", "Omega oil prevents zeta."),
        ("Mutations in which genes cause gout?", "Mutations in zeta cause gout.", "Mutations in zeta prevent gout."),
    ],
)  # fmt: skip
def test_a_question_and_an_answer_make_a_statement_and_its_opposite(question: str, statement: str, opposite: str) -> None:
    made = state_question(question)
    assert made is not None
    assert made.state("zeta") == (statement, opposite)


@pytest.mark.parametrize("question", ["Why do sailors get gout?", "Which tablets are there for gout?"])
def test_of_other_questions_no_statement_is_made(question: str) -> None:
    assert state_question(question) is None
