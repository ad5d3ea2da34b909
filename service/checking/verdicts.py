"""The verdict on a sentence of a text, in one word: the outcome of weighing its claim, as for a claim that is asked alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, get_args

from retrieval.core.values import Evidence, Grounding
from service.grounding.coverage import format_count
from service.grounding.weigh import Outcome, find_place, weigh

TextVerdict = Literal["contradicted", "mixed", "supported", "uncertain", "nothing found", "not a claim"]
VERDICTS: tuple[TextVerdict, ...] = get_args(TextVerdict)
_WORDS: Mapping[Outcome, TextVerdict] = {
    "contradict": "contradicted",
    "support": "supported",
    "mixed": "mixed",
    "uncertain": "uncertain",
    "unjudged": "uncertain",
    "silent": "nothing found",
    "nothing": "nothing found",
}


def find_verdict(grounding: Grounding) -> TextVerdict:
    """The verdict on a claim; retracted papers alone leave it uncertain."""
    outcome = weigh(grounding)
    return "uncertain" if outcome.outcome == "nothing" and outcome.retracted else _WORDS[outcome.outcome]


def split_sides(grounding: Grounding) -> tuple[list[Evidence], list[Evidence], list[Evidence]]:
    """The listed papers that contradict, those that support, and the uncertain ones: a retracted paper takes no side."""

    def takes_side(evidence: Evidence) -> bool:
        return evidence.standing != "retracted" and find_place(evidence) == evidence.stance

    against, in_favour = ([one for one in side if takes_side(one)] for side in (grounding.contradicting, grounding.supporting))
    rest = [one for one in (*grounding.contradicting, *grounding.supporting) if not takes_side(one)]
    return against, in_favour, [*rest, *grounding.uncertain]


def explain(sides: tuple[Sequence[Evidence], Sequence[Evidence], Sequence[Evidence]], grounding: Grounding) -> str:
    """How many papers take each side (`split_sides`), in words."""
    against, in_favour, uncertain = sides
    parts = [
        f"{format_count(len(side), 'paper')} {_verb(verb, side)}{_partial_note(side)}"
        for side, verb in ((against, "contradict"), (in_favour, "support"))
        if side
    ]
    if uncertain:
        retractions = sum(one.standing == "retracted" for one in uncertain)
        close = len(uncertain) - retractions
        parts += [f"{close} {'is' if close == 1 else 'are'} uncertain"] * bool(close)
        parts += [f"{retractions} retracted and not counted"] * bool(retractions)
    if parts:
        return "; ".join(parts) + "."
    weighed = weigh(grounding)
    if not weighed.looked_at:
        return "No paper of the index shares a word with it."
    return f"{weighed.read:,} of {weighed.looked_at:,} papers read, none takes a side."


def _verb(verb: str, side: Sequence[Evidence]) -> str:
    return f"{verb}s it" if len(side) == 1 else f"{verb} it"


def _partial_note(side: Sequence[Evidence]) -> str:
    """How many of the papers say less than the claim: hedged, in a subgroup, in animals."""
    partial = sum(one.standing == "partial" for one in side)
    if not partial:
        return ""
    return " in part" if partial == len(side) else f" ({partial} in part)"
