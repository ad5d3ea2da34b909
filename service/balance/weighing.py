"""The verdict at a glance: how many of the papers read contradict a claim, are uncertain, support it or say nothing about it.

Papers are counted twice: each as one, and each by the weight of its design (nli.text.designs; leads of answers use the same
weights). Retracted papers, and those whose stance no model judged, count for nothing and are reported separately.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from nli.text.designs import find_design
from retrieval.core.values import Evidence, Grounding
from service.configuration.answers import MIXED

Place = Literal["contradict", "uncertain", "support", "silent", "unjudged"]
"""Where a paper belongs: on a side, between the sides, or on neither; or no model judged it."""
Counted = Literal["contradict", "uncertain", "support", "silent"]
COUNTED: tuple[Counted, ...] = get_args(Counted)
Leaning = Literal["contradict", "support", "mixed", "uncertain", "silent", "unjudged", "nothing"]
"""Where the weight lies: on one side or on both, or else why on neither."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A paper that was read, and where it belongs."""

    evidence: Evidence
    place: Place


@dataclass(frozen=True, slots=True)
class Tally:
    """Papers by place, or their weights (0 to 1 a paper)."""

    contradict: float = 0
    uncertain: float = 0
    support: float = 0
    silent: float = 0

    @property
    def total(self) -> float:
        """The sum over all places."""
        return self.contradict + self.uncertain + self.support + self.silent


@dataclass(frozen=True, slots=True)
class Balance:
    """What was counted: `papers`, their `weights` by design, and the `strong` among them (systematic reviews, randomised trials).

    `says` is the verdict in one sentence, `detail` the figures in words.
    """

    leans: Leaning
    says: str
    detail: str
    papers: Tally
    weights: Tally
    strong: Tally
    retracted: int
    unjudged: int


def find_place(evidence: Evidence) -> Place:
    """Where a listed paper belongs: on its side only if the judge's own label says so, whatever ranked it there."""
    if evidence.verdict is None:
        return "unjudged"
    return evidence.stance if evidence.verdict.label == evidence.stance else "uncertain"


def place_papers(grounding: Grounding) -> tuple[Placed, ...]:
    """Every paper that was decided on, the listed ones first."""
    papers = (*grounding.contradicting, *grounding.supporting, *grounding.uncertain, *grounding.more)
    return (*(Placed(one, find_place(one)) for one in papers), *(Placed(one, "silent") for one in grounding.silent))


def weigh_balance(grounding: Grounding) -> Balance:
    """The verdict at a glance on a grounded claim."""
    placements = place_papers(grounding)
    counted_papers = [one for one in placements if not one.evidence.document.retracted and one.place != "unjudged"]
    papers, weights = _tally(counted_papers), _tally(counted_papers, weighted=True)
    strong = _tally(one for one in counted_papers if find_design(one.evidence.document).strong)
    retracted = sum(one.evidence.document.retracted for one in placements)
    unjudged = sum(one.place == "unjudged" and not one.evidence.document.retracted for one in placements)
    leans = _lean(papers, weights, unjudged)
    return Balance(
        leans, _say(leans, papers, grounding), _tell(papers, weights, strong, retracted, unjudged), papers, weights, strong,
        retracted, unjudged,
    )  # fmt: skip


def _tally(placements: Iterable[Placed], weighted: bool = False) -> Tally:
    sums: dict[Place, float] = {}
    for one in placements:
        sums[one.place] = sums.get(one.place, 0) + (find_design(one.evidence.document).weight if weighted else 1)
    return Tally(*(sums.get(place, 0) for place in COUNTED))


def _lean(papers: Tally, weights: Tally, unjudged: int) -> Leaning:
    if not papers.contradict and not papers.support:
        if unjudged:
            return "unjudged"
        return "uncertain" if papers.uncertain else "silent" if papers.silent else "nothing"
    if papers.contradict and papers.support:
        lighter, heavier = sorted((weights.contradict, weights.support))
        # "Most" must be true both of the papers and of their weight.
        at_odds = (weights.contradict - weights.support) * (papers.contradict - papers.support) <= 0
        if at_odds or lighter >= MIXED * heavier:
            return "mixed"
    return "contradict" if papers.contradict > papers.support else "support"


def _say(leans: Leaning, papers: Tally, grounding: Grounding) -> str:
    match leans:
        case "mixed":
            return "The evidence found is mixed."
        case "uncertain":
            return "No paper found clearly contradicts or supports this claim."
        case "silent":
            return "The papers read say nothing about this claim."
        case "unjudged":
            return "These papers match the claim; no model judged whether they contradict or support it."
        case "nothing":
            if any(one.evidence.document.retracted for one in place_papers(grounding)):
                return "Only retracted papers were found for this claim."
            has_documents = any(counts.documents for counts in grounding.checked.values())
            return "No paper found is about this claim." if has_documents else "No paper in the index matches this claim."
    verb, other = ("contradicts", "supports") if leans == "contradict" else ("supports", "contradicts")
    on_side = papers.contradict if leans == "contradict" else papers.support
    if papers.contradict and papers.support:
        return f"Most evidence found {verb} this claim."
    if on_side > 1:
        every = "Both" if on_side == 2 else f"All {on_side:,.0f}"
        return f"{every} papers that take a side {verb.removesuffix('s')} this claim."
    return f"One paper {verb} this claim; none {other} it."


def _tell(papers: Tally, weights: Tally, strong: Tally, retracted: int, unjudged: int) -> str:
    sentences = []
    if papers.total:
        numbers = {place: getattr(papers, place) for place in COUNTED}
        counts = [f"{n:,.0f} {_verb(place, n)}" for place, n in numbers.items() if n or place in ("contradict", "support")]
        sentences.append(f"Of {_count(papers.total)} read, {_join(counts)}.")
        shares = [
            f"{getattr(weights, place) / weights.total:.0%} {_NOUNS[place]}" for place in COUNTED if getattr(weights, place)
        ]
        sentences += [f"Weighted by study design: {_join(shares)}."] * (len(shares) > 1)
    if strong.contradict or strong.support:
        sentences.append(
            f"Among systematic reviews and randomised trials, {strong.contradict:,.0f} "
            f"{_verb('contradict', strong.contradict)} and {strong.support:,.0f} {_verb('support', strong.support)}."
        )
    if retracted:
        sentences.append(f"{_count(retracted)} {'is' if retracted == 1 else 'are'} retracted and not counted.")
    if unjudged:
        sentences.append(f"{_count(unjudged)} {'was' if unjudged == 1 else 'were'} not judged.")
    return " ".join(sentences)


_NOUNS: dict[Counted, str] = {
    "contradict": "contradicting", "uncertain": "uncertain", "support": "supporting", "silent": "silent",
}  # fmt: skip


def _verb(place: Counted, papers: float) -> str:
    one = papers == 1
    return {
        "contradict": "contradicts it" if one else "contradict it",
        "uncertain": "is uncertain or mixed" if one else "are uncertain or mixed",
        "support": "supports it" if one else "support it",
        "silent": "says nothing about it" if one else "say nothing about it",
    }[place]


def _join(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _count(papers: float) -> str:
    return f"{papers:,.0f} paper{'' if papers == 1 else 's'}"
