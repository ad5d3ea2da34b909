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
from retrieval.core.values import OPPOSITE, Document, Verdict
from retrieval.rerank.reranker import make_passage
from retrieval.words.aboutness import find_rare_words
from retrieval.words.synonyms import weigh_shared_terms

AT_ODDS = "the paper and its best sentence disagree"
"""Why a paper that is probable enough is given no side."""


@dataclass(frozen=True, slots=True)
class TwoReadings:
    """The reading of a whole paper, and by place the verdicts on the sentences that were read once more, best first."""

    whole: Reading
    quoted: dict[int, Verdict]
    share: float


def read_twice(reader: Reader, claim: str, paper: Abstract, subject: str = "") -> TwoReadings:
    """Both readings of a paper, and the share of the rare words of `subject` (if "", of the claim) that it contains."""
    (whole,) = reader.read_abstracts(claim, [paper])
    places = choose_quotes(claim, paper.sentences, whole, reader.paper.quotes)
    quotes = reader.read_abstracts(claim, [Abstract(paper.title, (paper.sentences[place],)) for place in places])
    quoted = {place: reading.document for place, reading in zip(places, quotes, strict=True)}
    return TwoReadings(whole, quoted, measure_share(subject or claim, paper))


def judge_paper(reader: Reader, readings: TwoReadings) -> tuple[Verdict, int | None]:
    """The verdict on a paper, and the place of the sentence that says most for its side, None if none was read."""
    verdict = reader.paper(readings.whole, list(readings.quoted.values()), readings.share)
    side = verdict.leaning if verdict.label == "neutral" else verdict.label
    said = readings.quoted or {place: one for place, one in enumerate(readings.whole.sentences) if one}
    if not said:
        return verdict, None
    best = max(said, key=lambda place: get_probability(said[place], side))
    if verdict.label != "neutral" and get_probability(said[best], OPPOSITE[side]) > get_probability(said[best], side):
        return replace(verdict, decided="neutral", reason=AT_ODDS), best
    return verdict, best


def choose_quotes(claim: str, sentences: Sequence[str], whole: Reading, most: int) -> list[int]:
    """The places of the `most` sentences that may state what the paper found on the claim, best first.

    The square of the reader's probability that a sentence takes a side is weighted by how far it is a finding on the claim.
    """
    if not most:
        return []
    findings = score_findings(claim, sentences)
    worth = {
        place: max(one.support, one.contradict) ** 2 * float(findings[place]) for place, one in enumerate(whole.sentences) if one
    }
    return sorted(worth, key=lambda place: -worth[place])[:most]


def measure_share(subject: str, paper: Abstract) -> float:
    """The share (0 to 1) of the rare words of `subject` that a paper contains, in the same or other words."""
    passage = make_passage(Document("", paper.title, " ".join(paper.sentences)))
    return weigh_shared_terms(subject, find_rare_words(subject), passage)
