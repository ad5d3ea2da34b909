"""What the sentences chosen from a paper say about a hypothesis, in one sentence: what a reader wants to know first."""

from __future__ import annotations

from collections.abc import Sequence

from nli.evidence import EvidenceSentence


def conclude(evidence: Sequence[EvidenceSentence]) -> str:
    """Which way the chosen sentences point, and how many of them; nothing is claimed about the rest of the paper."""
    labels = [one.verdict.label for one in evidence if one.verdict]
    against, for_it = labels.count("contradict"), labels.count("support")
    if not against and not for_it:
        return "None of the sentences chosen clearly contradicts or supports the hypothesis."
    counts = (
        f"{against} of the {len(evidence)} sentences chosen {_verb('contradict', against)} it and "
        f"{for_it} {_verb('support', for_it)} it."
    )
    if against and for_it:
        direction = (
            "points both ways"
            if against == for_it
            else f"mostly {'contradicts' if against > for_it else 'supports'} the hypothesis"
        )
        return f"What this paper says {direction}: {counts}"
    return f"This paper {'contradicts' if against else 'supports'} the hypothesis: {counts}"


def _verb(verb: str, sentences: int) -> str:
    return f"{verb}s" if sentences == 1 else verb
