"""What an open question asks for, and which sentences tell it."""

from __future__ import annotations

import pytest

from generation.sentences.aspects import find_aspect, tells_aspect


@pytest.mark.parametrize(
    ("question", "aspect"),
    [
        ("How common is zetosis?", "frequency"),
        ("What proportion of adults outgrow zetosis?", "frequency"),
        ("How accurate is the zeta test for zetosis?", "accuracy"),
        ("Which is better for zetosis, zeta or eta?", "which is better"),
        ("What causes zetosis in adults?", "cause"),
        ("How does zeta lower blood pressure?", "cause"),
        ("How is zetosis treated?", "treatment"),
        ("How do you treat zetosis?", "treatment"),
        ("Which drugs prevent zetosis?", "treatment"),
        ("What are the side effects of zeta?", "harm"),
        ("What is zetosis?", ""),
    ],
)
def test_what_a_question_asks_for(question: str, aspect: str) -> None:
    assert find_aspect(question) == aspect


@pytest.mark.parametrize(
    ("aspect", "telling", "other"),
    [
        ("frequency", "The prevalence of zetosis was 4%.", "Zetosis distresses adults."),
        ("accuracy", "The zeta test had a sensitivity of 88%.", "The zeta test costs little."),
        ("which is better", "Zeta was more effective than eta.", "Zeta was given with eta."),
        ("cause", "Zetosis results from a lack of eta.", "Zetosis-induced pain should be seen in a hospital."),
        ("cause", "Low plasma concentrations of eta predispose adults to zetosis.", "Zetosis should be seen as a cause of pain."),
        (
            "cause",
            "There were rises in eta during zetosis.",
            "Zetosis occurs on the head, involving the ears.",
        ),
        ("treatment", "Zeta reduced zetosis.", "Zetosis is found in the head and neck."),
        ("harm", "Zeta raised the risk of bleeding.", "Zeta was given twice a day."),
    ],
)
def test_a_sentence_that_lacks_the_words_tells_something_else(aspect: str, telling: str, other: str) -> None:
    assert tells_aspect(aspect, telling)
    assert not tells_aspect(aspect, other)
    assert tells_aspect("", other)
