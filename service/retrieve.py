"""The first step of a branch: one ranking for a claim's queries, from one source, or from several by reciprocal rank fusion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from retrieval.encoder import Encoder
from retrieval.fusion import reciprocal_rank_fusion
from retrieval.index import Index
from retrieval.spelling import both_spellings
from retrieval.values import Hit
from service.config import Retrieve


def retrieve(step: Retrieve, queries: Sequence[str], index: Index, encoders: Mapping[str, Encoder]) -> list[Hit]:
    """The best `k` documents for the queries, best first."""
    depth = step.each or step.k
    rankings: list[list[Hit]] = []
    for source in step.sources:
        if source == "bm25":
            texts = [both_spellings(query) for query in queries] if step.spellings else queries
            rankings += [index.search(text, depth) for text in texts]
        else:
            encoder = encoders[step.encoder]
            rankings += index.dense(encoder.name).search(encoder.queries(queries), depth)
    return reciprocal_rank_fusion(rankings, step.rrf)[: step.k] if step.fused else rankings[0]


def ranked_by(step: Retrieve, encoders: Mapping[str, Encoder]) -> str:
    """What the scores of that ranking are, in one word for each source."""
    names = [source if source == "bm25" else encoders[step.encoder].name for source in step.sources]
    return f"rrf({', '.join(names)})" if step.fused else names[0]
