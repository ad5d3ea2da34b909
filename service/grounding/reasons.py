"""Why a piece of evidence is where it is, in words that claim no more than was computed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nli.decision.select import get_probability
from nli.wording.opposites import find_opposed, find_other_numbers, list_opposites
from retrieval.core.values import NegationScope, Qualifier, Sentence, Stance, Verdict
from service.grounding.claims import state_claim

HALF = 0.5
_VERBS: dict[Stance, str] = {"support": "supports", "contradict": "contradicts"}


@dataclass(frozen=True, slots=True)
class Direction:
    """A word of the sentence that is the opposite of one in the claim; offsets are into the abstract."""

    claim: str
    evidence: str
    start: int
    end: int


def directions(claim: str, stance: Stance, sentence: Sentence | None) -> tuple[Direction, ...]:
    """Every place where a contradicting sentence has the opposite of a word of the claim, about the same outcome.

    Supporting sentences are not examined.
    """
    if sentence is None or stance != "contradict":
        return ()
    return tuple(
        Direction(word, sentence.text[start:end], sentence.start + start, sentence.start + end)
        for word, start, end in find_opposed(state_claim(claim), sentence.text)
    )


def why(
    claim: str,
    stance: Stance,
    sentence: Sentence | None,
    verdict: Verdict | None,
    scopes: Sequence[NegationScope],
    qualifiers: Sequence[Qualifier],
    scored_by: str,
) -> str:
    """One line: the judge's verdict, or that none was asked, and what the sentence negates, reverses or qualifies."""
    parts = []
    if sentence is None:
        parts.append("the document has no sentence to show")
    if verdict is None:
        parts.append(f"ranked by {scored_by}; its stance was not judged")
    else:
        if verdict.of == "document" and verdict.label == "neutral":
            # A figure as low as 14 % reads like a finding; words say what it means.
            doubt = "it more likely says nothing" if verdict.neutral > HALF else "too close to call"
            parts.append(f"the paper may {stance} the claim ({doubt})")
        else:
            what = "paper" if verdict.of == "document" else "sentence"
            parts.append(f"{get_probability(verdict, stance):.0%} likely that the {what} {_VERBS[stance]} the claim")
        if verdict.label != stance and verdict.of == "sentence":
            parts.append(f"the judge's own label is {verdict.label}")
        if verdict.reason:
            parts.append(verdict.reason.rstrip("."))
    if sentence is not None:
        if stance == "contradict":
            parts += _differences(claim, sentence.text)
        for scope in scopes:
            words = _words(sentence, scope.scope_start, scope.scope_end).strip(" .,;:")
            parts.append(f"“{_words(sentence, scope.cue.start, scope.cue.end)}” negates “{words}”")
        parts += [f"{one.kind}: “{_words(sentence, one.start, one.end)}”" for one in qualifiers]
    return "; ".join(parts)


def _differences(claim: str, sentence: str) -> list[str]:
    numbers, others = find_other_numbers(claim, sentence)
    return [
        *(f"opposite words: “{word}” / “{against}”" for word, against in list_opposites(claim, sentence)),
        *([f"different numbers: {', '.join(numbers)} / {', '.join(others)}"] if numbers else []),
    ]


def _words(sentence: Sentence, start: int, end: int) -> str:
    return sentence.text[start - sentence.start : end - sentence.start]
