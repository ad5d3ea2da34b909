"""Which sentences of an abstract state what the paper found."""

from __future__ import annotations

from counterpoint.nli.text.roles import find_findings


def test_findings_are_results_and_conclusions() -> None:
    sentences = [
        "The aim of this study was to determine whether zeta lowers blood pressure.",
        "Patients were randomly assigned to zeta or placebo.",
        "Blood pressure was significantly lower with zeta (P<0.01).",
        "We conclude that zeta lowers blood pressure.",
    ]
    assert find_findings(sentences) == [2, 3]
    early = "The results show that zeta is an effective drug for most adults."
    assert find_findings([*sentences[:2], early, "Adults were seen weekly.", *sentences[2:]])[0] == 2
    assert find_findings([]) == []
