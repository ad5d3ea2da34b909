"""The lead: what the papers of an index say on a yes-or-no question, which is grounded as the claim that it asks about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from generation.draft import Finding
from generation.leads.lead import write_lead
from generation.leads.question import YesNoQuestion, parse_question
from nli.text.designs import find_design
from retrieval.core.answers import Citation, CitedSentence, Lead, LeadVerdict
from retrieval.core.values import Claim, Document, Evidence, Grounding, Verdict
from service.grounding.ground import Grounder
from service.grounding.values import OnStage
from service.grounding.weigh import Outcome, Weighed, describe_certainty, place_papers, weigh

NEAREST = 3
"""Papers that a refusal names."""
_VERDICTS: dict[Outcome, LeadVerdict] = {"support": "yes", "contradict": "no", "mixed": "mixed", "uncertain": "unclear"}


@dataclass(frozen=True, slots=True)
class Studied:
    """What was found for a question: the claim that it asks about, and what the papers of the index say on that.

    `papers` are those to cite, first the ones that carry the `lead`; without a lead there are none.
    """

    asked: YesNoQuestion
    grounding: Grounding
    weighed: Weighed
    lead: Lead | None
    papers: tuple[Evidence, ...]


def study(grounder: Grounder, question: str, tell: OnStage | None = None) -> Studied | None:
    """What the index's papers say on a question; None if it is not a yes-or-no question."""
    asked = parse_question(question)
    return make_study(asked, grounder.ground(Claim(asked.claim), tell)) if asked else None


def make_study(asked: YesNoQuestion, grounding: Grounding) -> Studied:
    """The lead that a grounding of the question's claim makes; there is none if no paper is on the question."""
    weighed = weigh(grounding)
    placed = [one for one in place_papers(grounding) if not one.evidence.document.retracted and one.evidence.sentence]
    sides = {side: tuple(one.evidence for one in placed if one.place == side) for side in ("support", "contradict", "uncertain")}
    verdict = _VERDICTS.get(weighed.outcome)
    if verdict is None or not placed:
        return Studied(asked, grounding, weighed, None, ())
    rest = int(weighed.papers.total) - len(sides["support"]) - len(sides["contradict"])
    lead = Lead(asked.claim, verdict, weighed.certainty, sides["support"], sides["contradict"], rest)
    return Studied(asked, grounding, weighed, lead, _list_carrying(lead, sides["uncertain"]))


def _list_carrying(lead: Lead, uncertain: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """The papers to cite: the heavier side before the lighter, both in turn where the evidence is mixed; if there are none on
    either, those that may take a side."""
    match lead.verdict:
        case "yes":
            return (*lead.supporting, *lead.contradicting)
        case "no":
            return (*lead.contradicting, *lead.supporting)
        case "mixed":
            pairs = zip_longest(lead.supporting, lead.contradicting)
            return tuple(one for pair in pairs for one in pair if one)
        case "unclear":
            return tuple(uncertain)


def write_lead_sentence(question: str, studied: Studied, most: int) -> CitedSentence | None:
    """The answer's first sentence, with at most `most` citations of the papers that carry it."""
    lead = studied.lead
    if lead is None:
        return None
    for_it, against = ([find_design(one.document).says for one in side] for side in (lead.supporting, lead.contradicting))
    word = describe_certainty(lead.certainty)
    text = write_lead(question, studied.asked, lead.verdict, word, for_it, against, len(studied.papers))
    side = {"yes": "support", "no": "contradict"}.get(lead.verdict)
    carrying = [one for one in studied.papers if side is None or one.stance == side]
    return CitedSentence(text, tuple(_cite(one) for one in carrying[:most]))


def collect_findings(studied: Studied) -> dict[str, Finding]:
    """What each paper to cite found, by PMID."""
    takes_side = studied.lead is not None and studied.lead.verdict != "unclear"
    return {
        one.document.pmid: Finding(one.sentence.index, one.stance if takes_side else None, find_design(one.document).says)
        for one in studied.papers
        if one.sentence
    }


def describe_not_studied(studied: Studied) -> str:
    """The note for a question that no paper is on, with the papers that come nearest."""
    whether = f"whether {studied.asked.claim}" if studied.asked.sound else "what was asked"
    weighed = studied.weighed
    none = f"none of the {weighed.read} papers read reports" if weighed.read > 1 else "no paper reports"
    return f"Not studied here: {none} {whether}.{name_nearest(list_nearest(studied))}"


def list_nearest(studied: Studied) -> list[Document]:
    """The papers that came nearest, most probable first."""
    placed = sorted(place_papers(studied.grounding), key=lambda one: -one.evidence.score)
    return [one.evidence.document for one in placed][:NEAREST]


def name_nearest(documents: Sequence[Document]) -> str:
    """ " Nearest papers: “Title” (PMID); …", "" where there are none."""
    titles = [f"“{one.title.rstrip('.')}” ({one.pmid})" for one in documents[:NEAREST] if one.title]
    return f" Nearest papers: {'; '.join(titles)}." if titles else ""


def _cite(evidence: Evidence) -> Citation:
    """The paper, cited for the side on which the lead counts it: `support` is the probability that it found so."""
    assert evidence.sentence is not None
    verdict = evidence.verdict or Verdict(0.0, 1.0, 0.0)
    if evidence.stance == "contradict":
        verdict = replace(verdict, support=verdict.contradict, contradict=verdict.support, decided=None)
    return Citation(evidence.document, evidence.sentence, verdict)
