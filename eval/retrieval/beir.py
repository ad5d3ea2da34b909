"""Retrievers on a BEIR-style collection, side by side: BM25 by two analyzers, vectors, their fusion, reranking."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from eval.retrieval.collection import Collection
from eval.retrieval.kept_index import (
    KEPT,
    KeptScores,
    StandardBM25,
    by_vectors,
    ids,
    open_index,
    order_by_scores,
    run_of,
    show_progress,
)
from eval.retrieval.ranking import RankingReport, Run, make_report
from indexes.plan import report_interrupt
from retrieval.rerank.reranker import make_passage
from service.configuration.config import Profile
from service.configuration.models import load_encoder, load_reranker
from service.reading.evidence import ENCODER

DEPTH = 100
"""The minimum search depth of BM25 and vectors: as deep as the deepest measure looks."""


@report_interrupt("the benchmark", KEPT)
def measure(
    collection: Collection,
    work: Path,
    profile: Profile,
    measures: Sequence[str],
    command: str,
    rerank: str | None = None,
    depth: int = 100,
    dense: bool = False,
) -> RankingReport:
    """Measure the collection, with our BM25 first; indexes and scores are kept in `work`."""
    deep = max(DEPTH, depth if rerank else 0)
    reranker = KeptScores(load_reranker(rerank, profile), work, profile.model_dump(mode="json")["rerankers"]) if rerank else None
    encoder = load_encoder(ENCODER, profile) if dense else None
    index = open_index(collection.documents, work, [encoder] if encoder else [])
    standard = StandardBM25(collection.documents, work)
    try:
        ours = {one: index.search(text, deep) for one, text in show_progress("BM25", collection.queries)}
        runs: dict[str, Run] = {"BM25, every word kept (ours)": ids(ours)}
        standard_run = run_of("BM25, standard analyzer", collection.queries, lambda text: standard(text, deep))
        runs["BM25, stop words taken out"] = standard_run
        if encoder:
            runs |= by_vectors(index, encoder, collection.queries, ours, deep)
        if reranker:
            reranking: dict[str, list[str]] = {}
            for one, text in show_progress(f"reranking by {reranker.name}", collection.queries):
                pmids = [hit.pmid for hit in ours[one]]
                texts = [make_passage(entry.document) for entry in index.entries(pmids[:depth])]
                scores = dict(zip(pmids[:depth], reranker(text, texts), strict=True))
                reranking[one] = order_by_scores(scores, pmids, depth)
            runs[f"BM25, the best {depth} reranked by {reranker.name}"] = reranking
    finally:
        standard.close()
        index.close()
    return make_report(collection.name, collection.qrels, runs, measures, command)
