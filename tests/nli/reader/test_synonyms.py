"""A claim is read in the words of the paper it is read against."""

from __future__ import annotations

import pytest

from counterpoint.nli.reader.synonyms import add_synonyms


@pytest.mark.parametrize(
    ("claim", "text", "worded"),
    [
        (
            "Statins help.",
            "We gave pravastatin, lovastatin, atorvastatin and simvastatin",
            "Statins such as pravastatin, lovastatin and atorvastatin help.",
        ),
        ("Ritalin calms zebras.", "Methylphenidate in zebras", "Ritalin (methylphenidate) calms zebras."),
        (
            "Zeta prevents heart attacks.",
            "Zeta after myocardial infarction",
            "Zeta prevents heart attacks (myocardial infarction).",
        ),
    ],
)
def test_a_claim_is_worded_with_the_names_in_the_text(claim: str, text: str, worded: str) -> None:
    assert add_synonyms(claim, text) == worded


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("Zeta prevents heart attacks.", "A heart attack is a myocardial infarction."),
        ("Zeta helps sailors.", "A benefit for sailors"),
        ("Headaches go away.", "A trial in migraine"),
        ("Statins and pravastatin differ.", "Pravastatin in sailors"),
        ("Fluoxetine helps.", "Paroxetine in sailors"),
        ("Sailors live longer with zeta.", "Mortality of sailors on zeta"),
    ],
)
def test_other_claims_stay_as_they_are(claim: str, text: str) -> None:
    """The text has the claim's word or name, a common word is meant, a disease is narrower, or the words differ in sense."""
    assert add_synonyms(claim, text) == claim
