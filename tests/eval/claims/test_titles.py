"""Titles that state a finding, and the same turned round; what the rules are not sure of is left."""

from __future__ import annotations

import pytest

from eval.claims.titles import Turning, statement, turn_round


@pytest.mark.parametrize(
    ("title", "stated"),
    [
        ("Aspirin reduces fever in adults with influenza: a randomized trial", "Aspirin reduces fever in adults with influenza."),
        ("Aspirin reduces fever in young adults. The ABC Trial.", "Aspirin reduces fever in young adults."),
        ("Statins and aspirin reduce mortality in older people", "Statins and aspirin reduce mortality in older people."),
        ("Aspirin has no effect on mortality in women", "Aspirin has no effect on mortality in women."),
        ("Does aspirin reduce fever in young adults?", None),
        ("Effect of aspirin is seen in young adults", None),
        ("Fever in adults: aspirin reduces the temperature quickly", None),
        ("Aspirin reduces fever quickly", None),
        ("A trial of aspirin to reduce fever in young adults", None),
        ("Aspirin may reduce fever in young adults with influenza", None),
        ("Pressure changes and increases in young adults with fever", None),
        ("ASPIRIN REDUCES FEVER IN ADULTS WITH INFLUENZA", None),
        (" ".join(["Aspirin reduces fever", *["and"] * 23]), None),
    ],
)
def test_only_a_title_that_states_a_finding_is_a_claim(title: str, stated: str | None) -> None:
    assert statement(title) == stated


@pytest.mark.parametrize(
    ("sentence", "first", "text", "how"),
    [
        ("Drug reduces fever in mice.", "opposite", "Drug increases fever in mice.", "opposite"),
        ("Drugs reduce fever in mice.", "negation", "Drugs do not reduce fever in mice.", "negation"),
        ("Drug reduces fever by inhibiting the enzyme.", "negation", "Drug does not reduce fever.", "negation"),
        ("Drug predicts fever in mice.", "opposite", "Drug does not predict fever in mice.", "negation"),
        ("Drug does not significantly modify fever.", "negation", "Drug modifies fever.", "negation"),
        ("Drugs did not reduce fever in mice.", "negation", "Drugs reduced fever in mice.", "negation"),
        ("Drug has no effect on fever.", "negation", "Drug has an effect on fever.", "negation"),
        ("Drug has no significant effect on fever.", "negation", "Drug has a significant effect on fever.", "negation"),
        ("Drug is associated with fever.", "opposite", "Drug is not associated with fever.", "negation"),
        ("Drug is associated with an increased risk.", "opposite", "Drug is associated with a reduced risk.", "opposite"),
        ("Drug is inversely associated with fever.", "opposite", "Drug is positively associated with fever.", "opposite"),
        ("Drug is more effective than rest.", "opposite", "Drug is less effective than rest.", "opposite"),
        ("Drug is effective and safe.", "opposite", "Drug is not effective and safe.", "negation"),
        ("Drug induces less fever than rest.", "opposite", "Drug induces more fever than rest.", "opposite"),
        ("Drug results in improved sleep.", "opposite", "Drug results in worse sleep.", "opposite"),
        ("Drug cannot lower fever.", "negation", "Drug can lower fever.", "negation"),
        ("Drug reduces fever and pain in mice.", "opposite", "Drug increases fever and pain in mice.", "opposite"),
    ],
)
def test_a_title_is_turned_round(sentence: str, first: Turning, text: str, how: Turning) -> None:
    made = turn_round(sentence, first)
    assert made is not None
    assert (made.text, made.how) == (text, how)


@pytest.mark.parametrize(
    "sentence",
    [
        "Drug reduces fever and increases pain in mice.", "Drug reduces fever but not pain.",
        "Drug, but not rest, reduces fever.",
        "Drug reduces fever without harm.", "Some drugs reduce fever in mice.", "Drug is often associated with fever.",
        "Drug is not only associated with fever.", "Drug reduces fever in mice that are old.", "Drug is no better than rest.",
        "Drug does not effective on fever.", "Drug and fever.",
    ],
)  # fmt: skip
@pytest.mark.parametrize("first", ["negation", "opposite"])
def test_what_no_safe_rule_turns_is_left(sentence: str, first: Turning) -> None:
    assert turn_round(sentence, first) is None
