"""Reading a paper for a claim: what it says, and the sentence that says it; of claim, paper and reader alone.

A reader reads a paper whole, and then, unless it surely takes no side, the few sentences that may state its finding once more,
each with only the title. Within an abstract it lends each sentence what the others say; read without them, a sentence shows
whether it bears on the claim, and which way. A paper that its best sentence belies is uncertain, and so is one of which only the
background takes a side.

The decision is multinomial logistic regression on six numbers: the log odds of support and of contradiction against neither, for
the paper as a whole, for its strongest sentence within it, and for the strongest of the few sentences that were read once more.
The weights are fitted on claims that no model was trained on, and lie in the model's card (nli.training.reader.fit).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from counterpoint.nli.judge import Abstract, FullTextRule, OppositeRule, Reader, Reading, compute_margins, drop_question
from counterpoint.nli.reader.encode import score_findings
from counterpoint.nli.text.comparisons import turn_comparison
from counterpoint.nli.text.roles import find_background
from counterpoint.nli.text.sizes import denies_size
from counterpoint.retrieval.core.probabilities import softmax
from counterpoint.retrieval.core.values import OPPOSITE, Contrast, Label, Verdict
from counterpoint.retrieval.runtime.asking import AsksInForm

AT_ODDS = "the paper and its best sentence disagree"
OTHER_SIZE = "the claim and the sentence give sizes that disagree"
NOT_OWN = "what it says on this is not among its own findings"
"""Why a paper that is probable enough is given no side."""
_LEAST = 1e-4


@dataclass(frozen=True, slots=True)
class TwoReadings:
    """The reading of a whole paper, and the verdicts by place on the sentences that may state its finding, best first, from a
    second reading if there was one; `background` are the places of sentences that tell what was known or aimed at."""

    whole: Reading
    quoted: dict[int, Verdict]
    background: frozenset[int] = frozenset()


def read_twice(reader: Reader, claim: str, paper: Abstract) -> TwoReadings:
    """Both readings of a paper."""
    (whole,) = reader.read_abstracts(claim, [paper])
    quoted = choose_quotes(claim, paper.sentences, whole)
    if reader.paper.quotes and whole.document.neutral < reader.paper.off_claim:
        places = list(quoted)[: reader.paper.quotes]
        quotes = reader.read_abstracts(claim, [Abstract(paper.title, (paper.sentences[place],)) for place in places])
        quoted = {place: reading.document for place, reading in zip(places, quotes, strict=True)}
    return TwoReadings(whole, quoted, frozenset(find_background(paper.sentences)))


@dataclass(frozen=True, slots=True)
class PaperRead:
    """The verdict on a paper, the place of the sentence that says most for its side (None if none was read), and who read it."""

    verdict: Verdict
    sentence: int | None
    by: str


@runtime_checkable
class PaperReader(Reader, Protocol):
    """A reader with its own way of reading a paper, `at_once` at a time."""

    at_once: int

    def read_paper(self, claim: str, paper: Abstract) -> PaperRead:
        """What the paper says on the claim."""

    def contrast(self, claim: str, first: Abstract, second: Abstract) -> list[Contrast]:
        """What differs between two papers that disagree."""


@runtime_checkable
class LanguageModelReader(PaperReader, AsksInForm, Protocol):
    """A language model that reads papers with the help of an embedded reader, and answers other requests."""

    embedded: Reader

    def weigh(self, claim: str, paper: Abstract, grade: int) -> Verdict:
        """The verdict on a paper that the model graded so, from -2 (contradicts) to 2 (supports)."""


def read_paper(reader: Reader, claim: str, paper: Abstract) -> PaperRead:
    """What a paper says on a claim; it does not support one that gives another size for the effect."""
    if isinstance(reader, PaperReader):
        read = reader.read_paper(claim, paper)
    else:
        read = PaperRead(*read_both_ways(reader, claim, paper), reader.name)
    place = read.sentence if read.verdict.label == "support" else None
    denied = place is not None and denies_size(claim, paper.sentences[place], [drop_question(paper.title), *paper.sentences])
    return replace(read, verdict=replace(read.verdict, decided="neutral", reason=OTHER_SIZE)) if denied else read


def read_both_ways(reader: Reader, claim: str, paper: Abstract) -> tuple[Verdict, int | None]:
    """What `judge_paper` gives; of a comparison, the paper is read for its opposite too, unless it is surely not on the claim."""
    readings = read_twice(reader, claim, paper)
    verdict, place = judge_paper(reader, readings)
    opposite = turn_comparison(claim) if reader.paper.opposite and verdict.neutral < reader.paper.off_claim else None
    if opposite is None:
        return verdict, place
    return judge_paper(reader, readings, judge_paper(reader, read_twice(reader, opposite, paper))[0])


def join_opposite(rule: OppositeRule, verdict: Verdict, opposite: Verdict) -> Verdict:
    """The verdict on a comparison from those on it and on its opposite, their weighted geometric mean.

    What supports one contradicts the other; what finds no difference contradicts both.
    """
    mirrored = (opposite.contradict, opposite.neutral, opposite.support + opposite.contradict)
    own = (verdict.support, verdict.neutral, verdict.contradict)
    means = [max(a, _LEAST) ** (1 - rule.weight) * max(b, _LEAST) ** rule.weight for a, b in zip(own, mirrored, strict=True)]
    support, neutral, contradict = (one / sum(means) for one in means)
    side: Label = "support" if support >= contradict else "contradict"
    decided: Label = side if max(support, contradict) >= rule.side else "neutral"
    return replace(verdict, support=support, neutral=neutral, contradict=contradict, decided=decided)


def judge_paper(reader: Reader, readings: TwoReadings, opposite: Verdict | None = None) -> tuple[Verdict, int | None]:
    """The verdict on the paper, with that on the claim's `opposite`, and the place of the sentence that says most for its side,
    None if none was read."""
    verdict = reader.paper(readings.whole, list(readings.quoted.values()))
    if opposite is not None and reader.paper.opposite:
        verdict = join_opposite(reader.paper.opposite, verdict, opposite)
    side = verdict.side
    said = readings.quoted
    if not said:
        return verdict, None
    # max() takes the first of equals: the sentence that most likely states a finding.
    best = max(said, key=lambda place: said[place].probability(side))
    if verdict.label != "neutral" and said[best].probability(OPPOSITE[side]) > said[best].probability(side):
        return replace(verdict, decided="neutral", reason=AT_ODDS), best
    if verdict.label != "neutral" and best in readings.background:
        # What was known or aimed at is no finding of this paper, unless another of its sentences says the same.
        own = max(said.keys() - readings.background, key=lambda place: said[place].probability(side), default=None)
        if own is None or said[own].label != side:
            return replace(verdict, decided="neutral", reason=NOT_OWN), best
        return verdict, own
    return verdict, best


def choose_quotes(claim: str, sentences: Sequence[str], whole: Reading) -> dict[int, Verdict]:
    """The verdicts on the sentences that were read, by place; first the one that most likely says what was found on the claim.

    The square of the reader's probability that a sentence takes a side is weighted by how far it is a finding on the claim.
    """
    findings = score_findings(claim, sentences)
    read = {place: one for place, one in enumerate(whole.sentences) if one}
    worth = {place: max(one.support, one.contradict) ** 2 * float(findings[place]) for place, one in read.items()}
    return {place: read[place] for place in sorted(read, key=lambda place: -worth[place])}


SILENT = -8.0
"""The log odds of a stance where nothing was read."""
FEATURES = 6


@dataclass(frozen=True, slots=True)
class PaperDecision:
    """`weights` [support and contradict, `FEATURES` + 1], the last for the constant; neither has the score 0.

    A paper is given the more probable side if that has at least the probability `side`. Of one that takes none with the
    probability `off_claim` by its first reading, that reading is the verdict.
    """

    weights: tuple[tuple[float, ...], tuple[float, ...]]
    side: float
    quotes: int = 2
    off_claim: float = 1.0
    full_text: FullTextRule = field(default_factory=FullTextRule)
    opposite: OppositeRule | None = None

    @classmethod
    def read(cls, card: Mapping[str, Any]) -> PaperDecision:
        """The decision in a model's card."""
        fields = card["paper"]
        support, contradict = (tuple(map(float, fields["weights"][name])) for name in ("support", "contradict"))
        rule = FullTextRule(**card.get("full_text", {}))
        opposite = OppositeRule(**fields["opposite"]) if "opposite" in fields else None
        side, quotes, off_claim = float(fields["side"]), int(fields["quotes"]), float(fields.get("off_claim", 1.0))
        return cls((support, contradict), side, quotes, off_claim, rule, opposite)

    def __call__(self, whole: Reading, quoted: Sequence[Verdict]) -> Verdict:
        """The calibrated verdict on the paper."""
        if whole.document.neutral >= self.off_claim:
            return replace(whole.document, decided="neutral", of="document")
        support, contradict = np.asarray(self.weights) @ np.append(make_features(whole, quoted), 1.0)
        shares = softmax(np.array([support, 0.0, contradict])).tolist()
        side: Label = "support" if shares[0] >= shares[2] else "contradict"
        return Verdict(*shares, decided=side if max(shares[0], shares[2]) >= self.side else "neutral", of="document")


def make_features(whole: Reading, quoted: Sequence[Verdict]) -> NDArray[np.float64]:
    """[FEATURES]: log odds of support and contradiction for the paper, its strongest sentence and strongest quote."""
    paper = compute_margins([whole.document])[0]
    return np.array([*paper, *_strongest([one for one in whole.sentences if one]), *_strongest(quoted)])


def _strongest(verdicts: Sequence[Verdict]) -> NDArray[np.float64]:
    """[2]: the highest log odds of either stance."""
    strongest: NDArray[np.float64] = compute_margins(verdicts).max(axis=0) if verdicts else np.full(2, SILENT)
    return strongest


# Reading a sentence without its abstract and title tests whether it may be quoted for what the paper found: within an abstract, a
# reader lends each sentence what the others say ("Serum thromboxane was higher" passes for evidence about blood pressure).
QUOTED = 3
"""How many sentences of a paper are read alone. One of the first three was evidence in 99 % of the papers examined
(docs/research/experiments.md)."""
_SILENT_WEIGHT = 0.15
"""The factor for a sentence that says nothing when it is read alone; the probability that it speaks for the side is added."""


def weigh_quote(worth: float, probability: float) -> float:
    """The root of a sentence's worth within its paper, weighted by the probability of the paper's side in it alone."""
    return math.sqrt(worth) * (_SILENT_WEIGHT + probability)
