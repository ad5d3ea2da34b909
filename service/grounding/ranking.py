"""The first steps of a branch: the documents to choose from, without the known ones, in the reranker's order.

Notices of a retraction, a correction or a concern are left out: they repeat what another paper said.
"""

from __future__ import annotations

from dataclasses import replace

from nli.text.designs import is_notice
from retrieval.core.values import Claim
from retrieval.rerank.reranker import make_passage
from retrieval.words.adversarial import make_adversarial_queries
from retrieval.words.lexical import find_most_alike
from service.configuration.config import Retrieve
from service.grounding.request import Request
from service.grounding.retrieve import describe_ranking
from service.grounding.values import RankedDocument

DEEPER = 10
"""If only some documents may be chosen, the ranking is searched this many times deeper."""


def find(request: Request) -> list[RankedDocument]:
    """The documents to choose from, best first; others replace the known ones."""
    # The rule "likeliest" uses the distance from the best match, which must be the same document on both sides. It leaves out
    # documents of the other side after all are decided (service.grounding.rules); other rules do so before anything is read.
    without = frozenset[str]() if request.branch.select.rule == "likeliest" else request.without
    if request.only:
        step = request.branch.retrieve
        deeper = step.model_copy(update={"k": step.k * DEEPER, "each": step.each and step.each * DEEPER})
        return _retrieve(request, request.known_pmids, without, deeper)[: step.k]
    return _retrieve(request, request.known_pmids, without)


def rank(request: Request, documents: list[RankedDocument]) -> list[RankedDocument]:
    """The documents in the reranker's order, each with its distance from the best match; as found if there is no reranker."""
    if request.branch.rerank is None or not documents:
        return documents
    ranking = _rerank(request, documents)
    others = _rerank(request, _retrieve(replace(request, only=None))) if _another_may_lead(request) else []
    best = max(one.score for one in (*ranking[:1], *others[:1]))
    return [replace(one, behind=best - one.score) for one in ranking]


def _another_may_lead(request: Request) -> bool:
    """Whether the best match may be a document that cannot be chosen, and the decision uses the distance from it."""
    is_restricted = bool(request.known_pmids) or request.only is not None
    return request.branch.select.rule == "likeliest" and is_restricted and request.judge.decision.gap != 0.0


def _retrieve(
    request: Request,
    known_pmids: frozenset[str] = frozenset(),
    without: frozenset[str] = frozenset(),
    step: Retrieve | None = None,
) -> list[RankedDocument]:
    """The ranking of the first step: other documents replace the `known_pmids`, none replace those in `without`."""
    step, claim, encoders = step or request.branch.retrieve, request.claim, request.models.encoders
    texts = make_adversarial_queries(claim.text) if step.queries == "adversarial" else [claim.text]
    queries = [_query(replace(claim, text=text), step.query) for text in texts]
    ranking = request.retrieved.rank(step, queries, request.index, encoders, known_pmids)
    hits = [hit for hit in ranking if hit.pmid not in without]
    if request.only:
        pmids = request.only([hit.pmid for hit in hits])
        hits = [hit for hit in hits if hit.pmid in pmids]
    entries = request.retrieved.read(request.index, [hit.pmid for hit in hits])
    scored_by = describe_ranking(step, encoders)
    papers = [(hit, entry) for hit, entry in zip(hits, entries, strict=True) if not is_notice(entry.document)]
    return [RankedDocument(i, hit.score, scored_by, entry) for i, (hit, entry) in enumerate(papers)]


def _rerank(request: Request, documents: list[RankedDocument]) -> list[RankedDocument]:
    step = request.branch.rerank
    assert step is not None
    reranker, query = request.models.rerankers[step.model], _query(request.claim, step.query)
    texts = [make_passage(one.entry.document) for one in documents]
    if step.first:
        places = find_most_alike(query, texts, step.first)
        documents, texts = [documents[place] for place in places], [texts[place] for place in places]
    # sorted() is stable: of two equal scores, the better earlier rank comes first.
    ranking = sorted(zip(documents, reranker(query, texts), strict=True), key=lambda pair: -pair[1])
    return [RankedDocument(i, score, reranker.name, one.entry) for i, (one, score) in enumerate(ranking)]


def _query(claim: Claim, parts: str) -> str:
    return f"{claim.question} {claim.text}".strip() if parts == "question+claim" else claim.text
