"""Retrievers on a BEIR-style collection, side by side: BM25 by two analyzers, vectors, their fusion, reranking.

ir_measures computes the measures, with bootstrap intervals over the queries and paired differences from the first method.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import ir_measures

from eval.measures.figures import Difference, Figure, Resampler, Tally, share
from eval.measures.report import Report, Table, show, show_difference
from eval.retrieval.collection import Collection, Qrels
from eval.retrieval.kept_index import KEPT, KeptScores, StandardBM25, open_index, show_progress
from indexes.plan import report_interrupt
from retrieval.core.values import Hit
from retrieval.dense.encoder import Encoder
from retrieval.index import Index, reciprocal_rank_fusion
from retrieval.rerank.reranker import make_passage
from service.configuration.config import Profile
from service.configuration.models import load_encoder, load_reranker
from service.reading.evidence import ENCODER

Run = Mapping[str, Sequence[str]]
"""For each query, the documents found, best first."""
DEPTH = 100
"""The minimum search depth of BM25 and vectors: as deep as the deepest measure looks."""


@dataclass(frozen=True, slots=True)
class RankingRow:
    """A method: each measure's mean over the queries with its 95 % interval, and its difference from the first row's."""

    method: str
    figures: Mapping[str, Figure]
    differences: Mapping[str, Difference]


@dataclass(frozen=True, slots=True)
class RankingReport:
    """The measurements, the number of queries, and the provenance."""

    title: str
    queries: int
    command: str
    rows: tuple[RankingRow, ...]


def by_query(qrels: Qrels, run: Run, measures: Sequence[str]) -> dict[str, list[float]]:
    """Each measure for each query of `qrels`, in its order; 0 for a query without hits.

    Measures are named as ir_measures does (nDCG@10, R@100, RR); trec_eval computes them.
    """
    # Scores that decrease with rank encode the order, so that ties are never reordered.
    scores = {query: {one: float(-rank) for rank, one in enumerate(run.get(query, ()))} for query in qrels}
    scores = {query: ranks for query, ranks in scores.items() if ranks}
    metrics = [ir_measures.parse_measure(name) for name in measures]
    judgements = {query: dict(grades) for query, grades in qrels.items()}
    values: dict[str, dict[str, float]] = {str(one): {} for one in metrics}
    for one in ir_measures.iter_calc(metrics, judgements, scores) if scores else ():
        values[str(one.measure)][one.query_id] = float(one.value)
    return {name: [values[str(one)].get(query, 0.0) for query in qrels] for name, one in zip(measures, metrics, strict=True)}


def make_report(title: str, qrels: Qrels, runs: Mapping[str, Run], measures: Sequence[str], command: str) -> RankingReport:
    """Measure every run; bootstrap samples are over queries and the same for all runs."""
    resampler = Resampler(len(qrels))
    rows: list[RankingRow] = []
    first: dict[str, Tally] = {}
    for method, run in runs.items():
        values = by_query(qrels, run, measures)
        tallies = {name: Tally.of([(value, 1.0) for value in values[name]], share) for name in measures}
        first = first or tallies
        figures = {name: resampler.figure(tallies[name]) for name in measures}
        differences = {name: resampler.difference(tallies[name], first[name]) for name in measures} if rows else {}
        rows.append(RankingRow(method, figures, differences))
    return RankingReport(title, len(qrels), command, tuple(rows))


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
        progress = show_progress("BM25, standard analyzer", collection.queries)
        runs["BM25, stop words taken out"] = {one: standard(text, deep) for one, text in progress}
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


def ids(results: Mapping[str, Sequence[Hit]]) -> Run:
    """The documents of each query's hits, in their order."""
    return {one: [hit.pmid for hit in hits] for one, hits in results.items()}


def by_vectors(
    index: Index, encoder: Encoder, queries: Mapping[str, str], words: Mapping[str, Sequence[Hit]], depth: int
) -> dict[str, Run]:
    """Two runs to `depth`: the encoder's vectors alone, and fused with the BM25 hits `words` by reciprocal rank fusion."""
    vectors = index.dense(encoder.name)
    neighbours = {one: vectors.search(encoder.queries([text]), depth)[0] for one, text in show_progress("vectors", queries)}
    fusion = {one: reciprocal_rank_fusion([words[one], neighbours[one]])[:depth] for one in queries}
    return {f"vectors, {encoder.name}": ids(neighbours), "BM25 and vectors fused": ids(fusion)}


def order_by_scores(scores: Mapping[str, float], pmids: Sequence[str], depth: int) -> list[str]:
    """The first `depth` of `pmids` in the order of their scores, ties in their original order; then the others."""
    return [*sorted(pmids[:depth], key=lambda pmid: -scores[pmid]), *pmids[depth:]]


def show_ranking(report: RankingReport) -> Report:
    """The means with their intervals, then each method's differences from the first."""
    first, *others = report.rows
    measures = list(first.figures)
    rows = [[row.method, *(show(row.figures[name], ".4f") for name in measures)] for row in report.rows]
    less = [[row.method, *(show_difference(row.differences[name], "+.4f") for name in measures)] for row in others]
    blocks: list[Table | str] = [Table("Mean and 95 % bootstrap interval", ["method", *measures], rows)]
    if less:
        blocks.append(Table(f"Difference from {first.method}", ["method", *measures], less))
    return Report(f"{report.title}, {report.queries:,} queries", blocks, report, made_with={"command": report.command})
