"""A question is met by a paper that says the same in other words, and by no paper that says something near it."""

from __future__ import annotations

import pytest

from counterpoint.retrieval.words.terms import find_subject, weigh_shared_terms


@pytest.mark.parametrize(
    ("question", "text", "least", "most"),
    [
        ("Does aspirin prevent heart attacks?", "Acetylsalicylic acid prevents myocardial infarction", 1.0, 1.0),
        ("Does aspirin prevent heart attacks?", "Acetylsalicylic acid in the kitchen", 0.0, 0.59),
        ("Do SSRIs help?", "Paroxetine and obsessions", 1.0, 1.0),
        ("Does fluoxetine help?", "Paroxetine and obsessions", 0.0, 0.0),
        ("Do water pills help a weak heart?", "Furosemide in congestive heart failure", 0.51, 1.0),
        ("Does vitamin E help?", "A trial of vitamin C, with the letter E", 0.0, 0.0),
    ],
)
def test_other_words_for_the_same_are_held_and_none_for_something_near(
    question: str, text: str, least: float, most: float
) -> None:
    assert least <= weigh_shared_terms(question, find_subject(question), text) <= most


@pytest.mark.parametrize("question", ["Does zeta clear H. pylori?", "Do antibodies to H. pylori cause gout?"])
def test_the_letter_of_a_genus_does_not_belong_to_the_word_before_it(question: str) -> None:
    wanted = {"pylori": 1.0}
    assert weigh_shared_terms(question, wanted, "H. pylori was eradicated in half of the sailors.") == 1.0
    assert weigh_shared_terms(question, wanted, "Helicobacter pylori was eradicated in half of the sailors.") == 1.0
