"""From the papers found for and against a claim to a verdict in one word; if they disagree, no side is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from retrieval.core.values import Evidence, Grounding
from service.balance.weighing import find_place
from service.grounding.coverage import format_count

TextVerdict = Literal["contradicted", "mixed", "supported", "uncertain", "nothing found", "not a claim"]
VERDICTS: tuple[TextVerdict, ...] = get_args(TextVerdict)


@dataclass(frozen=True, slots=True)
class WeighedVerdict:
    """The verdict and why, in words; the papers that take a side, best first, and those that take none for certain."""

    verdict: TextVerdict
    why: str
    against: tuple[Evidence, ...]
    in_favour: tuple[Evidence, ...]
    uncertain: tuple[Evidence, ...]


def weigh_verdict(grounding: Grounding) -> WeighedVerdict:
    """The verdict on a claim from what was found.

    A paper takes a side if the judge says so. If it is retracted, or is on its side by rank alone, it is uncertain.
    """
    against = tuple(one for one in grounding.contradicting if takes_side(one))
    in_favour = tuple(one for one in grounding.supporting if takes_side(one))
    rest = [one for one in (*grounding.contradicting, *grounding.supporting) if not takes_side(one)]
    uncertain = (*rest, *grounding.uncertain)
    return WeighedVerdict(
        _verdict(against, in_favour, uncertain), _why(against, in_favour, uncertain, grounding), against, in_favour, uncertain
    )


def takes_side(evidence: Evidence) -> bool:
    """Whether a paper counts for the side it was found on."""
    return evidence.standing != "retracted" and find_place(evidence) == evidence.stance


def _verdict(against: Sequence[Evidence], in_favour: Sequence[Evidence], uncertain: Sequence[Evidence]) -> TextVerdict:
    if against and in_favour:
        return "mixed"
    if against or in_favour:
        return "contradicted" if against else "supported"
    return "uncertain" if uncertain else "nothing found"


def _why(against: Sequence[Evidence], in_favour: Sequence[Evidence], uncertain: Sequence[Evidence], grounding: Grounding) -> str:
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
    counts = grounding.checked["contradict"]
    if not counts.documents:
        return "No paper of the index shares a word with it."
    return f"{max(counts.read, grounding.checked['support'].read):,} of {counts.documents:,} papers read, none takes a side."


def _verb(verb: str, side: Sequence[Evidence]) -> str:
    return f"{verb}s it" if len(side) == 1 else f"{verb} it"


def _partial_note(side: Sequence[Evidence]) -> str:
    """How many of the papers say less than the claim: hedged, in a subgroup, in animals."""
    partial = sum(one.standing == "partial" for one in side)
    if not partial:
        return ""
    return " in part" if partial == len(side) else f" ({partial} in part)"
