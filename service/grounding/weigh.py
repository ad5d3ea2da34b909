"""Weigh: the verdict on a claim from all papers read, on one scale for claims, questions and the sentences of a text.

Papers are counted twice: each as one, and each by the probability of its side and the weight of its design (nli.text.designs).
Of several papers on one side that report the same trial, only the one that weighs most is counted. Retracted papers, and those
whose stance no model judged, count for nothing. Both are reported separately.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from nli.text.designs import find_design
from retrieval.core.english import format_count
from retrieval.core.probabilities import log_odds, logistic
from retrieval.core.values import Evidence, Grounding

Place = Literal["contradict", "uncertain", "support", "silent", "unjudged"]
"""Where a paper belongs: on a side, between the sides, or on neither; or no model judged it."""
Counted = Literal["contradict", "uncertain", "support", "silent"]
COUNTED: tuple[Counted, ...] = get_args(Counted)
Outcome = Literal["contradict", "support", "mixed", "uncertain", "silent", "unjudged", "nothing"]
"""Where the weight lies: on one side or on both, or else why on neither."""
MIXED = 0.5
"""The evidence is mixed if the lighter side has at least this share of the heavier side's weight."""
CONSTANT, AGREEMENT, STRONGEST = 0.05, 0.80, 0.70
"""The certainty of a verdict in log odds: a constant; how far the sides agree, from 0 to 1; and the log odds of the strongest
paper. Fitted on the questions of PubMedQA (docs/research/answers.md)."""
SURE, LIKELY = 0.8, 0.6
"""The least certainty for stating a verdict outright, and as probable; below both it is only possible."""


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
class Weighed:
    """The verdict on a claim: its outcome and the probability that it is right (0 to 1); what was counted: `papers`, their
    `weights`, and the `strong` among them (systematic reviews, randomised trials); how many papers were looked at and read.

    `says` is the verdict in one sentence, `detail` the figures in words. `reports` are the papers that were not counted, since
    another report of their trial was.
    """

    outcome: Outcome
    certainty: float
    says: str
    detail: str
    papers: Tally
    weights: Tally
    strong: Tally
    reports: int
    retracted: int
    unjudged: int
    looked_at: int
    read: int

    @property
    def word(self) -> str:
        """The certainty in one word (`describe_certainty`)."""
        return describe_certainty(self.certainty)

    @property
    def certain(self) -> str:
        """How certain the verdict is, in a sentence; "" if it takes no side."""
        if self.outcome not in ("contradict", "support"):
            return ""
        share = f"{self.certainty:.0%} certain."
        return share if self.word == "sure" else f"{'Probably' if self.word == 'probable' else 'Possibly'} right: {share}"


def find_place(evidence: Evidence) -> Place:
    """Where a listed paper belongs: on its side only if the judge's own label says so, whatever ranked it there."""
    if evidence.verdict is None:
        return "unjudged"
    return evidence.stance if evidence.verdict.label == evidence.stance else "uncertain"


def place_papers(grounding: Grounding) -> tuple[Placed, ...]:
    """Every paper that was decided on, the listed ones first."""
    papers = (*grounding.contradicting, *grounding.supporting, *grounding.uncertain, *grounding.more)
    return (*(Placed(one, find_place(one)) for one in papers), *(Placed(one, "silent") for one in grounding.silent))


def weigh(grounding: Grounding) -> Weighed:
    """The verdict on a grounded claim."""
    return weigh_papers(place_papers(grounding), grounding)


def weigh_papers(placements: Sequence[Placed], grounding: Grounding) -> Weighed:
    """The verdict that these papers give, which were found and read as the grounding says."""
    judged = [one for one in placements if not one.evidence.document.retracted and one.place != "unjudged"]
    counted = count_trials_once(judged)
    papers, weights = _tally(counted), _tally(counted, weighted=True)
    strong = _tally(one for one in counted if find_design(one.evidence.document).strong)
    reports = len(judged) - len(counted)
    retracted = sum(one.evidence.document.retracted for one in placements)
    unjudged = sum(one.place == "unjudged" and not one.evidence.document.retracted for one in placements)
    looked_at, read = (max(getattr(counts, name) for counts in grounding.checked.values()) for name in ("documents", "read"))
    outcome = _choose_outcome(papers, weights, unjudged)
    return Weighed(
        outcome=outcome,
        certainty=_measure_certainty(counted, weights, strong),
        says=_say(outcome, papers, looked_at, retracted, len(judged), reports),
        detail=_tell(papers, weights, strong, reports, retracted, unjudged, looked_at),
        papers=papers,
        weights=weights,
        strong=strong,
        reports=reports,
        retracted=retracted,
        unjudged=unjudged,
        looked_at=looked_at,
        read=read,
    )


def count_trials_once(placements: Iterable[Placed]) -> list[Placed]:
    """The papers without those that report a trial of which another report on the same side weighs more, or as much."""
    kept: dict[tuple[Place, str], Placed] = {}
    for number, one in enumerate(placements):
        key = (one.place, one.evidence.trial or str(number))
        if key not in kept or _weigh(one) > _weigh(kept[key]):
            kept[key] = one
    return list(kept.values())


def describe_certainty(certainty: float) -> str:
    """A word for the probability that a verdict is right."""
    return "sure" if certainty >= SURE else "probable" if certainty >= LIKELY else "possible"


def _tally(placements: Iterable[Placed], weighted: bool = False) -> Tally:
    sums: dict[Place, float] = {}
    for one in placements:
        sums[one.place] = sums.get(one.place, 0) + (_weigh(one) if weighted else 1)
    return Tally(*(sums.get(place, 0) for place in COUNTED))


def _weigh(one: Placed) -> float:
    """The weight of a paper: that of its design and, on a side, the probability that it takes it."""
    verdict, on_a_side = one.evidence.verdict, one.place in ("contradict", "support")
    likely = one.evidence.score if on_a_side and verdict and verdict.of == "document" else 1.0
    return find_design(one.evidence.document).weight * likely


def _choose_outcome(papers: Tally, weights: Tally, unjudged: int) -> Outcome:
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


def _measure_certainty(placements: Iterable[Placed], weights: Tally, strong: Tally) -> float:
    """The probability that the heavier side is right; 0 without papers on a side. One paper alone that is no strong study is
    never sure."""
    sided = [one.evidence.score for one in placements if one.place in ("contradict", "support")]
    if not sided:
        return 0.0
    lighter, heavier = sorted((weights.contradict, weights.support))
    agreement = (heavier - lighter) / heavier if heavier else 0.0
    certainty = logistic(CONSTANT + AGREEMENT * agreement + STRONGEST * log_odds(min(max(sided), 1.0), 0.001))
    alone = len(sided) == 1 and not (strong.contradict or strong.support)
    return min(certainty, SURE - 0.01) if alone else certainty


def _say(outcome: Outcome, papers: Tally, looked_at: int, retracted: int, read: int, reports: int) -> str:
    match outcome:
        case "mixed":
            return "The evidence found is mixed."
        case "uncertain":
            return "No paper found clearly contradicts or supports this claim."
        case "silent":
            return "The papers read say nothing about this claim."
        case "unjudged":
            return "These papers match the claim; no model judged whether they contradict or support it."
        case "nothing":
            if retracted:
                return "Only retracted papers were found for this claim."
            return "No paper found is about this claim." if looked_at else "No paper in the index matches this claim."
    verb, other = ("contradicts", "supports") if outcome == "contradict" else ("supports", "contradicts")
    on_side = papers.contradict if outcome == "contradict" else papers.support
    if papers.contradict and papers.support:
        return f"Most evidence found {verb} this claim."
    all_on_side = on_side + reports
    if on_side > 1:
        every, what = "Both" if on_side == 2 else f"All {on_side:,.0f}", "studies" if reports else "papers"
        several = f", in {all_on_side:,.0f} papers" if reports else ""
        return f"{every} {what} that take a side {verb.removesuffix('s')} this claim{several}."
    none = f"; none of the {read:,} papers read {other} it" if read > 1 else ""
    return f"{f'One trial, in {all_on_side:,.0f} reports,' if reports else 'One paper'} {verb} this claim{none}."


def _tell(papers: Tally, weights: Tally, strong: Tally, reports: int, retracted: int, unjudged: int, looked_at: int) -> str:
    sentences = []
    if papers.total:
        numbers = {place: getattr(papers, place) for place in COUNTED}
        counts = [f"{n:,.0f} {_verb(place, n)}" for place, n in numbers.items() if n or place in ("contradict", "support")]
        sentences.append(f"Of {format_count(looked_at, 'paper')} found and {papers.total + reports:,.0f} read, {_join(counts)}.")
        shares = [
            f"{getattr(weights, place) / weights.total:.0%} {_NOUNS[place]}" for place in COUNTED if getattr(weights, place)
        ]
        sentences += [f"Weighted by study design: {_join(shares)}."] * (len(shares) > 1)
    if strong.contradict or strong.support:
        sentences.append(
            f"Among systematic reviews and randomised trials, {strong.contradict:,.0f} "
            f"{_verb('contradict', strong.contradict)} and {strong.support:,.0f} {_verb('support', strong.support)}."
        )
    if reports:
        are = "is another report of a trial" if reports == 1 else "are further reports of trials"
        sentences.append(f"{format_count(reports, 'paper')} {are} counted already.")
    if retracted:
        sentences.append(f"{format_count(retracted, 'paper')} {'is' if retracted == 1 else 'are'} retracted and not counted.")
    if unjudged:
        sentences.append(f"{format_count(unjudged, 'paper')} {'was' if unjudged == 1 else 'were'} not judged.")
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
