"""Reading a paper for a claim: what it says, and the sentence that says it; of claim, paper and reader alone.

A reader reads a paper whole, and then the few sentences that may state its finding once more, each with only the title. Within an
abstract it lends each sentence what the others say; read without them, a sentence shows whether it bears on the claim, and which
way. One fitted decision (`nli.reader.decision`) weighs the two readings. A paper that its best sentence belies is uncertain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from nli.decision.select import get_probability
from nli.judges.judge import Abstract, Reader, Reading
from nli.reader.abridge import score_findings
from retrieval.core.values import OPPOSITE, Verdict

AT_ODDS = "the paper and its best sentence disagree"
"""Why a paper that is probable enough is given no side."""


@dataclass(frozen=True, slots=True)
class TwoReadings:
    """The reading of a whole paper, and the verdicts by place on the sentences that may state its finding, best first, from a
    second reading if the decision asks for one."""

    whole: Reading
    quoted: dict[int, Verdict]


def read_twice(reader: Reader, claim: str, paper: Abstract) -> TwoReadings:
    """Both readings of a paper."""
    (whole,) = reader.read_abstracts(claim, [paper])
    quoted = choose_quotes(claim, paper.sentences, whole)
    if reader.paper.quotes:
        places = list(quoted)[: reader.paper.quotes]
        quotes = reader.read_abstracts(claim, [Abstract(paper.title, (paper.sentences[place],)) for place in places])
        quoted = {place: reading.document for place, reading in zip(places, quotes, strict=True)}
    return TwoReadings(whole, quoted)


def judge_paper(reader: Reader, readings: TwoReadings) -> tuple[Verdict, int | None]:
    """The verdict on a paper, and the place of the sentence that says most for its side, None if none was read."""
    verdict = reader.paper(readings.whole, list(readings.quoted.values()))
    side = verdict.side
    said = readings.quoted
    if not said:
        return verdict, None
    # max() takes the first of equals: the sentence that most likely states a finding.
    best = max(said, key=lambda place: get_probability(said[place], side))
    if verdict.label != "neutral" and get_probability(said[best], OPPOSITE[side]) > get_probability(said[best], side):
        return replace(verdict, decided="neutral", reason=AT_ODDS), best
    return verdict, best


def choose_quotes(claim: str, sentences: Sequence[str], whole: Reading) -> dict[int, Verdict]:
    """The verdicts on the sentences that were read, by place; first the one that most likely says what was found on the claim.

    The square of the reader's probability that a sentence takes a side is weighted by how far it is a finding on the claim.
    """
    findings = score_findings(claim, sentences)
    read = {place: one for place, one in enumerate(whole.sentences) if one}
    worth = {place: max(one.support, one.contradict) ** 2 * float(findings[place]) for place, one in read.items()}
    return {place: read[place] for place in sorted(read, key=lambda place: -worth[place])}
