"""Weigh: the verdict on a claim from all papers read, on one scale for claims, questions and the sentences of a text.

Papers are counted twice: each as one, and each by the probability of its side and the weight of its design (nli.text.designs).
Of several papers on one side that report the same trial, only the one that weighs most is counted. Retracted papers count for
nothing, and are reported separately.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from counterpoint.nli.reader.certainty import find_certainty, measure_agreement
from counterpoint.nli.text.designs import find_design
from counterpoint.retrieval.core.english import format_count
from counterpoint.retrieval.core.values import Evidence, Grounding

Side = Literal["contradict", "uncertain", "support", "silent"]
"""Where a paper belongs: on a side, between the sides, or on neither."""
SIDES: tuple[Side, ...] = get_args(Side)
Outcome = Literal["contradict", "support", "mixed", "uncertain", "silent", "nothing"]
"""Where the weight lies: on one side or on both, or else why on neither."""
MIXED = 0.5
"""The evidence is mixed if the lighter side has at least this share of the heavier side's weight."""
BY_DESIGN = 0.9
"""The most certainty without a systematic review, if no paper is a randomised trial, or all only found no difference."""
_NO_DIFFERENCE = re.compile(
    r"\b(?:no|not|nor|neither|without|similar|comparable|unchanged|failed|fail|lack|absence|unaffected|unaltered)\b|n['’]t\b"
    r"|\bnon-?significant|\bp ?[=>] ?0?\.(?:0[5-9]|[1-9])",
    re.IGNORECASE,
)
_ECOLOGICAL = re.compile(r"\becologic(?:al)? (?:study|studies|analys[ie]s|design|data|correlation|association)", re.IGNORECASE)
SURE, LIKELY = 0.8, 0.6
"""The least probability for stating something outright, and as probable; below both it is only possible. They are fitted to no
model, since the probabilities are calibrated."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A paper that was read, and where it belongs."""

    evidence: Evidence
    side: Side


@dataclass(frozen=True, slots=True)
class Tally:
    """Papers by side, or their weights (0 to 1 a paper)."""

    contradict: float = 0
    uncertain: float = 0
    support: float = 0
    silent: float = 0

    @property
    def total(self) -> float:
        """The sum over all sides."""
        return self.contradict + self.uncertain + self.support + self.silent


@dataclass(frozen=True, slots=True)
class Weighed:
    """The verdict on a claim: its outcome and the probability that it is right (0 to 1); what was counted: `papers`, their
    `weights`, and the `strong` among them (systematic reviews, randomised trials); how many papers were looked at and read.

    `text` is the verdict in one sentence, `detail` the figures in words. `reports` are the papers that were not counted, since
    another report of their trial was.
    """

    outcome: Outcome
    certainty: float
    text: str
    detail: str
    papers: Tally
    weights: Tally
    strong: Tally
    reports: int
    retracted: int
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


def find_side(evidence: Evidence) -> Side:
    """Where a listed paper belongs: on its side only if the judge's own label says so, whatever ranked it there."""
    return evidence.stance if evidence.verdict.label == evidence.stance else "uncertain"


def place_papers(grounding: Grounding) -> tuple[Placed, ...]:
    """Every paper that was decided on, the listed ones first."""
    papers = (*grounding.contradicting, *grounding.supporting, *grounding.uncertain, *grounding.more)
    return (*(Placed(one, find_side(one)) for one in papers), *(Placed(one, "silent") for one in grounding.silent))


def weigh(grounding: Grounding) -> Weighed:
    """The verdict on a grounded claim."""
    return weigh_papers(place_papers(grounding), grounding)


def weigh_papers(placements: Sequence[Placed], grounding: Grounding) -> Weighed:
    """The verdict that these papers give, which were found and read as the grounding says."""
    judged = [one for one in placements if not one.evidence.document.retracted]
    counted = count_trials_once(judged)
    papers, weights = _tally(counted), _tally(counted, weighted=True)
    strong = _tally(one for one in counted if find_design(one.evidence.document).strong)
    reports = len(judged) - len(counted)
    retracted = sum(one.evidence.document.retracted for one in placements)
    outcome = _choose_outcome(papers, weights)
    looked_at, read = grounding.checked.documents, grounding.checked.read
    certainty, (most, limit) = _measure_certainty(counted, weights), _limit_certainty(counted, weights)
    return Weighed(
        outcome=outcome,
        certainty=min(certainty, most),
        text=_say(outcome, papers, looked_at, retracted, len(judged), reports),
        detail=" ".join(
            filter(None, (_tell(papers, weights, strong, reports, retracted, looked_at), limit * (certainty > most)))
        ),
        papers=papers,
        weights=weights,
        strong=strong,
        reports=reports,
        retracted=retracted,
        looked_at=looked_at,
        read=read,
    )


def count_trials_once(placements: Iterable[Placed]) -> list[Placed]:
    """The papers without those that report a trial of which another report on the same side weighs more, or as much."""
    kept: dict[tuple[Side, str], Placed] = {}
    for number, one in enumerate(placements):
        key = (one.side, one.evidence.trial or str(number))
        if key not in kept or _weigh(one) > _weigh(kept[key]):
            kept[key] = one
    return list(kept.values())


def describe_certainty(certainty: float) -> str:
    """A word for the probability that a verdict is right."""
    return "sure" if certainty >= SURE else "probable" if certainty >= LIKELY else "possible"


def _tally(placements: Iterable[Placed], weighted: bool = False) -> Tally:
    sums: dict[Side, float] = {}
    for one in placements:
        sums[one.side] = sums.get(one.side, 0) + (_weigh(one) if weighted else 1)
    return Tally(*(sums.get(side, 0) for side in SIDES))


def _weigh(one: Placed) -> float:
    """The weight of a paper: that of its design and, on a side, the probability that it takes it."""
    likely = one.evidence.verdict.probability(one.side) if one.side in ("contradict", "support") else 1.0
    return find_design(one.evidence.document).weight * likely


def _choose_outcome(papers: Tally, weights: Tally) -> Outcome:
    if not papers.contradict and not papers.support:
        return "uncertain" if papers.uncertain else "silent" if papers.silent else "nothing"
    if papers.contradict and papers.support:
        lighter, heavier = sorted((weights.contradict, weights.support))
        # "Most" must be true both of the papers and of their weight.
        at_odds = (weights.contradict - weights.support) * (papers.contradict - papers.support) <= 0
        if at_odds or lighter >= MIXED * heavier:
            return "mixed"
    return "contradict" if papers.contradict > papers.support else "support"


def _measure_certainty(placements: Iterable[Placed], weights: Tally) -> float:
    """The probability that the heavier side is right, by how sure the readings are; 0 without papers on a side."""
    sided = [one.evidence for one in placements if one.side in ("contradict", "support")]
    if not sided:
        return 0.0
    surest = max(sided, key=lambda one: one.score)
    return find_certainty(surest.scored_by)(measure_agreement((weights.contradict, weights.support)), surest.score)


def _limit_certainty(placements: Iterable[Placed], weights: Tally) -> tuple[float, str]:
    """The most certainty that the designs and findings of the heavier side allow, however sure their readings are, and why."""
    side = "contradict" if weights.contradict > weights.support else "support"
    carrying = [one.evidence for one in placements if one.side == side]
    designs = [find_design(one.document) for one in carrying]
    if not carrying:
        return 1.0, ""
    if all(one.verdict.partial for one in carrying):
        return SURE - 0.01, "Its papers found so only in part, so it is not sure."
    if all(_ECOLOGICAL.search(f"{one.document.title} {one.document.abstract}") for one in carrying):
        return SURE - 0.01, "It rests on comparisons of whole populations, so it is not sure."
    if any(one.group == "review" for one in designs):
        return 1.0, ""
    found_none = side == "contradict" and all(one.sentence and _NO_DIFFERENCE.search(one.sentence.text) for one in carrying)
    if not any(one.strong for one in designs):
        what = "No systematic review and no randomised trial is among its papers"
    elif found_none:
        what = "That a difference was not found does not show that there is none"
    else:
        return 1.0, ""
    return (
        (SURE - 0.01, f"{what}, and it rests on one paper, so it is not sure.")
        if len(carrying) == 1
        else (BY_DESIGN, f"{what}, so the certainty is at most {BY_DESIGN:.0%}.")
    )


def _say(outcome: Outcome, papers: Tally, looked_at: int, retracted: int, read: int, reports: int) -> str:
    match outcome:
        case "mixed":
            return "The evidence found is mixed."
        case "uncertain":
            return "No paper found clearly contradicts or supports this claim."
        case "silent":
            return "The papers read say nothing about this claim."
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


def _tell(papers: Tally, weights: Tally, strong: Tally, reports: int, retracted: int, looked_at: int) -> str:
    sentences = []
    if papers.total:
        numbers = {side: getattr(papers, side) for side in SIDES}
        counts = [f"{n:,.0f} {_verb(side, n)}" for side, n in numbers.items() if n or side in ("contradict", "support")]
        sentences.append(f"Of {format_count(looked_at, 'paper')} found and {papers.total + reports:,.0f} read, {_join(counts)}.")
        shares = [f"{getattr(weights, side) / weights.total:.0%} {_NOUNS[side]}" for side in SIDES if getattr(weights, side)]
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
    return " ".join(sentences)


_NOUNS: dict[Side, str] = {
    "contradict": "contradicting", "uncertain": "uncertain", "support": "supporting", "silent": "silent",
}  # fmt: skip


def _verb(side: Side, papers: float) -> str:
    one = papers == 1
    return {
        "contradict": "contradicts it" if one else "contradict it",
        "uncertain": "is uncertain or mixed" if one else "are uncertain or mixed",
        "support": "supports it" if one else "support it",
        "silent": "says nothing about it" if one else "say nothing about it",
    }[side]


def _join(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
