"""Why a piece of evidence is where it is, in words that claim no more than was computed."""

from __future__ import annotations

from collections.abc import Sequence

from nli.select import probability
from retrieval.values import NegationScope, Sentence, Stance, Verdict

_VERBS: dict[Stance, str] = {"support": "supports", "contradict": "contradicts"}


def why(
    stance: Stance, sentence: Sentence | None, verdict: Verdict | None, scopes: Sequence[NegationScope], scored_by: str
) -> str:
    """One line: what the judge thinks of the sentence and what it negates; says so where no judge was asked."""
    parts = []
    if sentence is None:
        parts.append("the document has no sentence to show")
    if verdict is None:
        parts.append(f"ranked by {scored_by}; its stance was not judged")
    else:
        parts.append(f"{probability(verdict, stance):.0%} likely that the sentence {_VERBS[stance]} the claim")
        if verdict.label != stance:
            parts.append(f"the judge's own label for it is {verdict.label}")
        if verdict.reason:
            parts.append(verdict.reason.rstrip("."))
    if sentence is not None:
        for scope in scopes:
            cue = sentence.text[scope.cue.start - sentence.start : scope.cue.end - sentence.start]
            negated = sentence.text[scope.scope_start - sentence.start : scope.scope_end - sentence.start].strip(" .,;:")
            parts.append(f"“{cue}” negates “{negated}”")
    return "; ".join(parts)
