"""Titles that state a finding, and the same turned round; what the rules are not sure of is left."""

from __future__ import annotations

import pytest

from counterpoint.eval.claims.titles import statement, turn_round


@pytest.mark.parametrize(
    ("title", "stated"),
    [
        ("Aspirin reduces fever in adults with influenza: a randomized trial", "Aspirin reduces fever in adults with influenza."),
        ("Aspirin reduces fever in young adults. The ABC Trial.", "Aspirin reduces fever in young adults."),
        ("[Aspirin is safe in adults with influenza.]", "Aspirin is safe in adults with influenza."),
        ("Does aspirin reduce fever in young adults?", None),
        ("Effect of aspirin is seen in young adults", None),
        ("Fever in young adults with influenza: aspirin reduces the temperature quickly", None),
        ("Aspirin reduces fever quickly", None),
        ("A trial of aspirin to reduce fever in young adults", None),
        (" ".join(["Aspirin reduces fever", *["and"] * 23]), None),
    ],
)
def test_only_a_title_that_states_a_finding_is_a_claim(title: str, stated: str | None) -> None:
    assert statement(title) == stated


@pytest.mark.parametrize(
    ("sentence", "turned"),
    [
        ("Drug reduces fever in mice.", "Drug does not reduce fever in mice."),
        ("Drugs did not reduce fever in mice.", "Drugs reduced fever in mice."),
        ("Drug does not modify fever.", "Drug modifies fever."),
        ("Drug had no clear effect on fever.", "Drug had a clear effect on fever."),
        ("Drug is associated with fever.", "Drug is not associated with fever."),
        ("Drug cannot lower fever.", "Drug can lower fever."),
        ("Drug reduces fever and increases pain in mice.", None),
        ("Drug reduces fever but not pain.", None),
        ("Drug reduces fever without harm.", None),
        ("Drug reduces fever in mice that are old.", None),
        ("Drug is no better than rest.", None),
    ],
)
def test_a_title_with_one_verb_is_turned_round(sentence: str, turned: str | None) -> None:
    assert turn_round(sentence) == turned
