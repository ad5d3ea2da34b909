"""A paper that a text cites, held against what it is cited for: the same judge reads this one paper."""

from __future__ import annotations

from nli.decision.select import get_probability
from nli.judges.judge import Abstract, Judge, Reader, drop_question
from nli.reader.decision import decide
from retrieval.core.values import Label, Premise, Sentence, Stance, Verdict
from retrieval.rerank.reranker import make_passage
from retrieval.store.documents import Entry
from retrieval.words.aboutness import measure_aboutness
from service.checking.citations import Cited
from service.checking.schemas import CitedOut, CitedStatus
from service.grounding.ground import Grounder
from service.grounding.schemas import SentenceOut, facts_of

_STATUS: dict[Label, CitedStatus] = {"support": "bears it out", "contradict": "contradicts it", "neutral": "does not say it"}


def cited_paper(grounder: Grounder, claim: str, cited: Cited) -> CitedOut:
    """What the cited paper says of the claim, where the index holds it (a DOI may be a document's id, too)."""
    store = grounder.index.store
    entry = store.get_by_doi(cited.id) if cited.kind == "doi" else None
    entry = entry or store.get(cited.id)
    if entry is None:
        return CitedOut(kind=cited.kind, id=cited.id, status="not in the index")
    facts = facts_of(entry.document)
    known = {"title": facts["title"], "year": facts["year"], "journal": facts["journal"], "retracted": facts["retracted"]}
    step = grounder.config.contradict.judge
    if step is None or not len(entry):
        return CitedOut(kind=cited.kind, id=cited.id, status="not judged", **known)
    verdict, sentence = _read(grounder.models.judges[step.model], claim, entry)
    return CitedOut(
        kind=cited.kind, id=cited.id, status=_STATUS[verdict.label], sentence=SentenceOut.model_validate(sentence),
        likely=round(get_probability(verdict, _side(verdict)), 6), **known,
    )  # fmt: skip


def _side(verdict: Verdict) -> Stance:
    return verdict.leaning if verdict.label == "neutral" else verdict.label


def _read(judge: Judge, claim: str, entry: Entry) -> tuple[Verdict, Sentence]:
    """The verdict on one paper, taken for the best match as whoever cites it does, and the sentence that speaks most for it."""
    sentences, title = entry.sentences(), entry.document.title
    aboutness = measure_aboutness(claim, make_passage(entry.document))
    if isinstance(judge, Reader):
        (reading,) = judge.read_abstracts(claim, [Abstract(drop_question(title), tuple(one.text for one in sentences))])
        whole = decide(judge.decision, reading, 0.0, aboutness)
        own = [(one, verdict) for one, verdict in zip(sentences, reading.sentences, strict=True) if verdict is not None]
    else:
        own = list(zip(sentences, judge(claim, [Premise(one.text, title) for one in sentences]), strict=True))
        whole = judge.decision([verdict for _, verdict in own], 0.0, aboutness)
    best, _ = max(own, key=lambda pair: get_probability(pair[1], _side(whole)))
    return whole, best
