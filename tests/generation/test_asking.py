"""From a claim to its question."""

from __future__ import annotations

import pytest

from generation.leads.asking import write_question


@pytest.mark.parametrize(
    ("claim", "question"),
    [
        ("Beta-carotene reduces the risk of lung cancer.", "Does beta-carotene reduce the risk of lung cancer?"),
        ("Zeta improved survival in septic shock.", "Did zeta improve survival in septic shock?"),
        ("Statins are safe in older adults.", "Are statins safe in older adults?"),
        ("HDL was associated with fewer strokes.", "Was HDL associated with fewer strokes?"),
        ("Zeta does not lower blood pressure.", "Does zeta lower blood pressure?"),
        ("Niacin raised HDL and lowered triglycerides.", None),
        ("Zeta.", None),
        ("Beta-carotene and the lung.", None),
    ],
)
def test_a_claim_becomes_the_question_that_it_answers(claim: str, question: str | None) -> None:
    assert write_question(claim) == question
