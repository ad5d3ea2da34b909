"""A cited paper, checked against what it is cited for: it is read as a paper that a search finds."""

from __future__ import annotations

from nli.text.designs import has_findings
from retrieval.core.values import Claim, Label
from service.checking.citations import CitedPaper, find_cited
from service.checking.schemas import CitedOut, CitedStatus
from service.grounding.ground import Grounder
from service.schemas import SentenceOut, facts_of

_STATUS: dict[Label, CitedStatus] = {"support": "bears it out", "contradict": "contradicts it", "neutral": "does not say it"}


def cited_paper(grounder: Grounder, claim: str, citation: CitedPaper) -> CitedOut:
    """What the cited paper says about the claim, if the index holds it (a DOI may also be a document's id).

    A protocol has no findings yet, so it takes no side and is not judged; nor is a paper without an abstract, or any paper by a
    variant of *Negation is Not Semantic*, which judges no paper as a whole.
    """
    entry = find_cited(grounder.index.store, citation)
    if entry is None:
        return CitedOut(kind=citation.kind, id=citation.id, status="not in the index")
    facts = facts_of(entry.document)
    details = {"title": facts["title"], "year": facts["year"], "journal": facts["journal"], "retracted": facts["retracted"]}
    if grounder.reader is None or not len(entry) or not has_findings(entry.document):
        return CitedOut(kind=citation.kind, id=citation.id, status="not judged", **details)
    (reading,) = grounder.read(Claim(claim), [entry])
    verdict = reading.verdict
    quote = None if reading.sentence is None else SentenceOut.model_validate(entry.sentences()[reading.sentence])
    likely = round(verdict.probability(verdict.side), 6)
    return CitedOut(kind=citation.kind, id=citation.id, status=_STATUS[verdict.label], likely=likely, sentence=quote, **details)
