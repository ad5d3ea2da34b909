"""Statements, questions and mere names are told apart, whatever their letters look like."""

from __future__ import annotations

import pytest

from counterpoint.nli.text.forms import FORMS, FORMS_MODEL, load_form_model


@pytest.mark.parametrize(
    ("text", "form"),
    [
        # Verbs that are nouns as well, behind "A and B", a plural or "of".
        ("Smoking and obesity affect wound healing", "statement"), ("Sailors benefit from zetaril", "statement"),
        ("Drugs such as zetaril cause falls", "statement"), ("High doses of zetaril cause headaches", "statement"),
        ("The OR of relapse was lower with zetaril", "statement"),
        # Statements without a verb.
        ("No difference between zetaril and placebo in pain", "statement"),
        ("Zetaril no better than placebo for gout", "statement"),
        ("does zetaril lower blood pressure", "question"), ("which drugs prevent gout", "question"),
        ("in sailors with gout, does zetaril help", "question"),
        ("zetaril side effects", "phrase"), ("Prevention of falls in older sailors", "phrase"),
        ("effects of zetaril on blood pressure", "phrase"), ("gout AND (zetaril OR omegane)", "phrase"),
        ("A randomised trial of zetaril in sailors with gout", "phrase"),
    ],
)  # fmt: skip
def test_each_form_is_told(text: str, form: str) -> None:
    for written in (text, text.upper(), f"{text}.", f" {text} …"):
        scores = load_form_model().score(written)
        assert load_form_model().choose(written) == form and sum(scores.values()) == pytest.approx(1)


def test_any_text_has_a_score() -> None:
    for text in ("", " ", ".", "?", "42", "[1]", "а", "热", "x" * 5000, "word " * 5000, "- - -", "\ud800"):
        assert set(load_form_model().score(text)) == set(FORMS)


def test_the_model_is_small() -> None:
    assert FORMS_MODEL.stat().st_size < 500_000
