"""Find: the papers of an index that a claim may be about, by BM25 and vectors, best first."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from counterpoint.nli.text.designs import is_notice
from counterpoint.retrieval.core.values import Claim, Hit
from counterpoint.retrieval.dense.encoder import Encoder
from counterpoint.retrieval.index import DEEPER, Index, lead_to_papers, reciprocal_rank_fusion
from counterpoint.retrieval.store.documents import Entry
from counterpoint.service.configuration.config import Retrieve
from counterpoint.service.configuration.models import Models

Only = Callable[[Sequence[str]], Collection[str]]
"""Returns those of these PMIDs that a claim may be grounded against; the others are never read."""


def find(index: Index, models: Models, step: Retrieve, claim: Claim, only: Only | None = None) -> list[Entry]:
    """At most `step.k` papers, best first, without notices of a retraction or correction, which repeat another paper's words."""
    deep = step if only is None else step.model_copy(update={"k": step.k * DEEPER, "each": step.each and step.each * DEEPER})
    query = make_query(claim, step.query)
    queries = [query, f"{query} {claim.words}"] if claim.words else [query]
    hits = retrieve(deep, queries, index, models.encoders, claim.own)
    if only is not None:
        pmids = only([hit.pmid for hit in hits])
        hits = [hit for hit in hits if hit.pmid in pmids]
    entries = index.entries([hit.pmid for hit in hits])
    return [entry for entry in entries if not is_notice(entry.document)][: step.k]


def search_abstracts(index: Index, text: str, most: int) -> list[Entry]:
    """The best papers for a text by BM25 alone, without those that are retracted or have no abstract."""
    entries = index.entries([hit.pmid for hit in index.search(text, most, True)])
    return [entry for entry in entries if len(entry) and not entry.document.retracted]


def make_query(claim: Claim, parts: str) -> str:
    """What is searched for: the claim, or the claim behind the question that it answers."""
    return f"{claim.question} {claim.text}".strip() if parts == "question+claim" else claim.text


def retrieve(
    step: Retrieve, queries: Sequence[str], index: Index, encoders: Mapping[str, Encoder], without: Collection[str] = ()
) -> list[Hit]:
    """The best `k` documents for the queries, best first, except those in `without`; as many more are fetched in their place.

    Several rankings are fused by reciprocal rank (Cormack et al. 2009, doi:10.1145/1571941.1572114). A paper's rank by its
    passages and its rank by its abstract are one vote, the better of the two: a paper is not better for its full text.
    """
    depth, limit = (step.each or step.k) + len(without), step.k + len(without)
    rankings: list[list[Hit]] = []
    weights: list[float] = []
    votes: list[int] = []
    for source in step.sources:
        if source == "bm25":
            rankings += [index.search(query, depth, step.spellings) for query in queries]
            votes += range(len(queries))
            if step.passages == "if-present":
                rankings += [lead_to_papers(index.search_passages(query, depth, step.spellings)) for query in queries]
                votes += range(len(queries))
        else:
            encoder = encoders[step.encoder]
            rankings += index.search_vectors(encoder.name, encoder.queries(queries), depth)
            votes += range(len(queries), 2 * len(queries))
        weights += [step.weigh(source, index.manifest.dense)] * (len(rankings) - len(weights))
    fused = len(rankings) > 1
    ranking = reciprocal_rank_fusion(rankings, step.rrf, weights, votes)[:limit] if fused else rankings[0]
    return [hit for hit in ranking if hit.pmid not in without][: step.k]
