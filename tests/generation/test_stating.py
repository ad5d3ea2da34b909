"""What an answer to an open question states."""

from __future__ import annotations

import pytest

from generation.leads.stating import state_answer


@pytest.mark.parametrize(
    ("question", "statement"),
    [
        ("What are the side effects of using zeta that patients might notice?", "zeta causes side effects"),
        ("How can I lower my uric acid?", "the intervention is effective to lower uric acid"),
        ("How can gout be treated/managed?", "the treatment is effective for gout"),
        ("What are the symptoms and treatments for gout?", "the treatment is effective for gout"),
        ("Which drugs are used to treat gout?", "the treatment is effective for gout"),
        ("What causes gout?", "the factor causes gout"),
        ("What are the risk factors associated with gout in sailors?", "the factor increases the risk of gout in sailors"),
        ("What tests are used to diagnose gout?", "the test detects gout"),
        ("How does zeta affect the kidneys?", "zeta affects the kidneys"),
        ("What is zeta used for?", "zeta is an effective treatment"),
        ("What is gout and what causes it?", ""),
        ("What is the prevalence of gout during treatment for hypertension?", ""),
        ("Zeta is used for the treatment of which disease?", ""),
        ("Why do sailors limp?", ""),
    ],
)
def test_the_statement_follows_from_the_question(question: str, statement: str) -> None:
    assert state_answer(question) == statement
