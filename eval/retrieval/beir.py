"""Retrievers on a BEIR-style collection, side by side: BM25, vectors, their fusion, reranking.

BEIR's layout (Thakur et al. 2021, arXiv 2104.08663) is read as distributed: corpus.jsonl with _id, title and text,
queries.jsonl with _id and text, and qrels either as its tab-separated table with a header or as TREC's four columns.
ir_measures computes the measures, with bootstrap intervals over the queries and paired differences from the first method.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ir_measures

from counterpoint.eval.measures.figures import Resampler, Tally, share
from counterpoint.eval.measures.report import Report, Table, show, show_difference
from counterpoint.eval.measures.resuming import record_each
from counterpoint.eval.retrieval.kept_index import open_index
from counterpoint.indexes.readers.base import jsonl
from counterpoint.indexes.readers.base.fields import RecordError, check_required, raise_bad, read_id, read_text
from counterpoint.indexes.readers.json_formats import make_scifact
from counterpoint.retrieval.bm25.analysis import BIOMEDICAL
from counterpoint.retrieval.core.code_hash import hash_code
from counterpoint.retrieval.core.errors import BadInput, BadRecord, translate_write_errors
from counterpoint.retrieval.core.values import Document, Hit
from counterpoint.retrieval.dense.encoder import Encoder
from counterpoint.retrieval.index import Index, reciprocal_rank_fusion
from counterpoint.retrieval.rerank.reranker import make_passage
from counterpoint.retrieval.store.journal import Origin, hash_file
from counterpoint.retrieval.store.manifest import write_atomically
from counterpoint.service.configuration.config import Profile
from counterpoint.service.configuration.models import load_encoder, load_reranker
from counterpoint.service.evidence.finder import ENCODER

Run = Mapping[str, Sequence[str]]
"""For each query, the documents found, best first."""
DEPTH = 100
"""The minimum search depth of BM25 and vectors: as deep as the deepest measure looks."""
Qrels = Mapping[str, Mapping[str, int]]
"""For each query, the grades of its judged documents; a grade above 0 means relevant."""


@dataclass(frozen=True)
class Collection:
    """Queries by id, their qrels, and the file of documents in Counterpoint's own format."""

    name: str
    documents: Path
    queries: Mapping[str, str]
    qrels: Qrels


def read_beir(corpus: Path, queries: Path, qrels: Path, work: Path) -> Collection:
    """A collection in BEIR's layout, plain or gzipped; its documents are written into `work` in our own format.

    Only queries with a relevant document count, as in BEIR. Raises a one-sentence `BadInput` for a file of another form.
    """
    grades = read_qrels(qrels)
    texts = {one: words for one, words in jsonl.read_records(queries, _query) if one in grades}
    lacking = next((query for query in grades if query not in texts), None)
    if lacking is not None:
        raise BadInput(f"{qrels} judges the query {lacking}, which is not in {queries}; name the matching queries.")
    documents = write_documents(corpus, work, lambda: (document for _, document in jsonl.read_records(corpus, _document)))
    return Collection(corpus.name, documents, texts, grades)


def read_scifact_as_beir(claims: Path, corpus: Path, work: Path) -> Collection:
    """SciFact as in BEIR: the 300 claims of the dev set are the queries, and every document that a claim cites is relevant."""
    texts: dict[str, str] = {}
    grades: dict[str, dict[str, int]] = {}
    for one, (claim, documents) in jsonl.read_records(claims, _claim):
        texts[one], grades[one] = claim, dict.fromkeys(documents, 1)
    if not texts:
        raise BadInput(f"{claims} holds no claims that cite a document.")
    corpus_file = write_documents(corpus, work, lambda: jsonl.read_documents(corpus, make_scifact, raise_bad))
    return Collection("SciFact", corpus_file, texts, grades)


def read_qrels(path: Path) -> dict[str, dict[str, int]]:
    """Relevant documents by query: BEIR's table (query-id, corpus-id, score) or TREC's (query, 0, document, grade).

    Raises `BadRecord` for an invalid line and `BadInput` where no document is relevant.
    """
    grades: dict[str, dict[str, int]] = {}
    for number, line in jsonl.read_lines(path):
        parts = line.decode("utf-8", "replace").split()
        if number == 1 and parts[:2] == ["query-id", "corpus-id"]:
            continue
        try:
            query, document, grade = parts if len(parts) == 3 else (parts[0], *parts[2:])
            if int(grade) > 0:
                grades.setdefault(query, {})[document] = int(grade)
        except (ValueError, IndexError):
            hint = "expected a query, a document and a grade, or TREC's four columns with a 0 between the first two"
            raise BadRecord(path, f"line {number}", f"{hint}; got {len(parts)} columns.") from None
    if not grades:
        raise BadInput(f"{path} names no relevant document; expected a table of queries, documents and grades.")
    return grades


def write_documents(source: Path, work: Path, documents: Any) -> Path:
    """The documents of `source` in Counterpoint's format in `work`, written once for each content of the file."""
    path = Origin(hash_file(source), source.name, hash_code([documents.__module__])).path(work, "documents", ".jsonl")
    if not path.exists():
        with translate_write_errors("the documents", work):
            work.mkdir(parents=True, exist_ok=True)
            write_atomically(path, "".join(_lines(documents())))
    return path


def _lines(documents: Iterable[Document]) -> Iterator[str]:
    pmids = set()
    for one in documents:
        if one.pmid in pmids:
            raise BadInput(f"The document {one.pmid} appears twice; every id must be unique.")
        pmids.add(one.pmid)
        yield json.dumps({"pmid": one.pmid, "title": one.title, "abstract": one.abstract}) + "\n"
    if not pmids:
        raise BadInput("The corpus contains no document; an index needs at least one.")


def _query(record: Mapping[str, Any], _number: int) -> tuple[str, str]:
    check_required(record, "_id", "text")
    return read_id(record["_id"], "_id"), read_text(record, "text")


def _document(record: Mapping[str, Any], _number: int) -> tuple[str, Document]:
    check_required(record, "_id", "text")
    one = read_id(record["_id"], "_id")
    return one, Document(one, read_text(record, "title"), read_text(record, "text"))


def _claim(record: Mapping[str, Any], _number: int) -> tuple[str, tuple[str, list[str]]]:
    check_required(record, "id", "claim", "cited_doc_ids")
    documents = record["cited_doc_ids"]
    if not isinstance(documents, list):
        raise RecordError('expected a list in "cited_doc_ids"')
    return read_id(record["id"], "id"), (read_text(record, "claim"), [str(document) for document in documents])


def by_query(qrels: Qrels, run: Run, measures: Sequence[str]) -> dict[str, list[float]]:
    """Each measure for each query of `qrels`, in its order; 0 for a query without hits.

    Measures are named as ir_measures does (nDCG@10, R@100, RR); trec_eval computes them.
    """
    # Scores that decrease with rank encode the order, so that ties are never reordered.
    scores = {query: {one: float(-rank) for rank, one in enumerate(found)} for query in qrels if (found := run.get(query))}
    metrics = {name: ir_measures.parse_measure(name) for name in measures}
    judged = ir_measures.iter_calc(list(metrics.values()), {**qrels}, scores) if scores else ()
    values = {(one.measure, one.query_id): float(one.value) for one in judged}
    return {name: [values.get((metric, query), 0.0) for query in qrels] for name, metric in metrics.items()}


def make_report(title: str, qrels: Qrels, runs: Mapping[str, Run], measures: Sequence[str]) -> Report:
    """The mean of each measure for every run with its interval, then each run's differences from the first one.

    Bootstrap samples are over queries and the same for all runs.
    """
    resampler = Resampler(len(qrels))
    tallies: dict[str, dict[str, Tally]] = {}
    for method, run in runs.items():
        values = by_query(qrels, run, measures)
        tallies[method] = {name: Tally.of([(value, 1.0) for value in values[name]], share) for name in measures}
    figures = {method: {name: resampler.figure(own[name]) for name in measures} for method, own in tallies.items()}
    first, *others = tallies
    differences = {
        method: {name: resampler.difference(tallies[method][name], tallies[first][name]) for name in measures}
        for method in others
    }
    rows = [[method, *(show(own[name], ".4f") for name in measures)] for method, own in figures.items()]
    blocks: list[Table | str] = [Table("Mean and 95 % bootstrap interval", ["method", *measures], rows)]
    if others:
        less = [[method, *(show_difference(own[name], "+.4f") for name in measures)] for method, own in differences.items()]
        blocks.append(Table(f"Difference from {first}", ["method", *measures], less))
    data = {
        "title": title,
        "queries": len(qrels),
        "rows": [
            {"method": method, "figures": own, "differences": differences.get(method, {})} for method, own in figures.items()
        ],
    }
    return Report(f"{title}, {len(qrels):,} queries", blocks, data)


def measure(
    collection: Collection,
    work: Path,
    profile: Profile,
    measures: Sequence[str],
    rerank: str | None = None,
    depth: int = 100,
    dense: bool = False,
    analyzer: str = BIOMEDICAL,
) -> Report:
    """Measure the collection, with BM25 first; `work` keeps indexes and reranked queries, so that a stopped run resumes."""
    deep = max(DEPTH, depth if rerank else 0)
    reranker = load_reranker(rerank, profile) if rerank else None
    encoder = load_encoder(ENCODER, profile) if dense else None
    index = open_index(collection.documents, work, [encoder] if encoder else [], analyzer=analyzer)
    try:
        found = {one: index.search(text, deep) for one, text in collection.queries.items()}
        runs: dict[str, Run] = {"BM25": list_ids(found)}
        if encoder:
            runs |= search_vectors(index, encoder, collection.queries, found, deep)
        if reranker:
            queries = [_RankedQuery(text, tuple(runs["BM25"][one])) for one, text in collection.queries.items()]

            def order(query: _RankedQuery) -> list[str]:
                pmids = query.pmids[:depth]
                scores = reranker(query.text, [make_passage(entry.document) for entry in index.entries(pmids)])
                best = sorted(zip(scores, pmids, strict=True), key=lambda pair: -pair[0])
                return [*(pmid for _, pmid in best), *query.pmids[depth:]]

            settings = [reranker.name, depth, profile.model_dump(mode="json")["rerankers"]]
            origin = Origin(index.manifest.id, settings, hash_code([type(reranker).__module__]))
            orders = record_each(queries, order, origin, work, "reranking", "queries")
            runs[f"BM25, the best {depth} reranked by {reranker.name}"] = dict(zip(collection.queries, orders, strict=True))
    finally:
        index.close()
    return make_report(collection.name, collection.qrels, runs, measures)


@dataclass(frozen=True, slots=True)
class _RankedQuery:
    """A query with the documents that BM25 finds, best first."""

    text: str
    pmids: tuple[str, ...]


def list_ids(results: Mapping[str, Sequence[Hit]]) -> Run:
    """The documents of each query's hits, in their order."""
    return {one: [hit.pmid for hit in hits] for one, hits in results.items()}


def search_vectors(
    index: Index, encoder: Encoder, queries: Mapping[str, str], words: Mapping[str, Sequence[Hit]], depth: int
) -> dict[str, Run]:
    """Two runs to `depth`: the encoder's vectors alone, and fused with the BM25 hits `words` by reciprocal rank fusion."""
    vectors = index.dense(encoder.name)
    neighbours = {one: vectors.search(encoder.queries([text]), depth)[0] for one, text in queries.items()}
    fusion = {one: reciprocal_rank_fusion([words[one], neighbours[one]])[:depth] for one in queries}
    return {f"vectors, {encoder.name}": list_ids(neighbours), "BM25 and vectors fused": list_ids(fusion)}
