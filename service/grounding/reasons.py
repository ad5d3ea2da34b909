"""Why a piece of evidence is where it is, in words that claim no more than was computed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from counterpoint.retrieval.core.values import Contrast, NegationScope, Qualifier, Sentence, Stance, Verdict

if TYPE_CHECKING:
    from counterpoint.service.grounding.schemas import ContrastOut

HALF = 0.5
_VERBS: dict[Stance, str] = {"support": "supports", "contradict": "contradicts"}


def why(
    stance: Stance,
    sentence: Sentence | None,
    verdict: Verdict,
    scopes: Sequence[NegationScope],
    qualifiers: Sequence[Qualifier],
) -> str:
    """One line: the judge's verdict, and what the sentence negates or qualifies."""
    if verdict.equal:
        return "the paper found it no different from what it compared it with"
    parts = []
    if sentence is None:
        parts.append("the document has no sentence to show")
    if verdict.of == "document" and verdict.label == "neutral":
        # A figure as low as 14 % reads like a finding; words say what it means.
        doubt = "it more likely says nothing" if verdict.neutral > HALF else "too close to call"
        parts.append(f"the paper may {stance} the claim ({doubt})")
    else:
        what = "paper" if verdict.of == "document" else "sentence"
        partly = " in part" if verdict.partial else ""
        parts.append(f"{verdict.probability(stance):.0%} likely that the {what} {_VERBS[stance]} the claim{partly}")
    if verdict.label != stance and verdict.of == "sentence":
        parts.append(f"the judge's own label is {verdict.label}")
    if verdict.reason:
        parts.append(verdict.reason.rstrip("."))
    if sentence is not None:
        for scope in scopes:
            words = _words(sentence, scope.scope_start, scope.scope_end).strip(" .,;:")
            parts.append(f"“{_words(sentence, scope.cue.start, scope.cue.end)}” negates “{words}”")
        parts += [f"{one.kind}: “{_words(sentence, one.start, one.end)}”" for one in qualifiers]
    return "; ".join(parts)


def describe_direction(side: str, stance: str, standing: str) -> str:
    """What a paper on this side says of a claim: "supports in part", "may contradict", "no different from another"."""
    if standing == "equal":
        return "no different from another"
    return f"may {stance}" if side != stance else f"{stance}s{' in part' if standing == 'partial' else ''}"


def describe_contrasts(contrasts: Sequence[Contrast] | Sequence[ContrastOut]) -> str:
    """One line on what differs between the first papers of either side, in the words of both; "" for nothing."""
    parts = [f"{one.aspect} (“{one.first}” against “{one.second}”)" for one in contrasts]
    return f"The first papers of the two sides differ in {'; '.join(parts)}." if parts else ""


def _words(sentence: Sentence, start: int, end: int) -> str:
    return sentence.text[start - sentence.start : end - sentence.start]
