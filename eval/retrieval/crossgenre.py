"""Lay claims and the abstracts of their studies (Zuo, Acharya and Banerjee 2020, EMNLP): candidates by BM25 and BM25+, reranked.

A headline is a query for the abstracts that it reports. Candidates are found with and without the preprocessing of
eval.retrieval.lay_query, so that its effect can be measured; a pointwise reranker then orders the best of them by the original
headline.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.measures.names import check_names, find_repeated
from eval.retrieval.abstract_views import check_view, make_view
from eval.retrieval.kept_index import KEPT, KeptScores, open_index, order_by_scores, show_progress
from eval.retrieval.lay_query import Tokens, make_lay_query, split_lower_case, stem_texts
from eval.retrieval.ranking import RankingReport, Run, make_report
from indexes.guard import report_interrupt
from indexes.readers.base import jsonl
from indexes.readers.base.fields import describe_keys, read_id, read_text
from indexes.readers.base.records import RecordError
from retrieval.bm25.bm25_plus import DELTA, TermIndex
from retrieval.core.code_hash import hash_code
from retrieval.core.errors import GO_ON, BadInput, translate_write_errors
from retrieval.index import Index
from retrieval.store.journal import Origin
from retrieval.store.manifest import write_atomically
from retrieval.words.abbreviations import expand
from service.trec.task_b.topics import read_topics

DEPTH = 500
CANDIDATES = ("R@1", "R@5", "R@20", "R@100", "R@500", "RR")
RERANKED = ("R@1", "R@3", "R@5", "R@20", "RR")
_CHUNK = 1000
_SEED = 8


@dataclass(frozen=True, slots=True)
class CrossGenreMethod:
    """How candidates are found: the terms of documents and queries, the preprocessing of queries, and BM25+'s δ (0: BM25)."""

    name: str
    title: str
    terms: str
    ready: Callable[[str], str]
    delta: float


TERMS: dict[str, Tokens] = {"words": split_lower_case, "stems": stem_texts}
QUERIES: dict[str, tuple[str, str, Callable[[str], str]]] = {
    "plain": ("words", "lower-cased words", str),
    "stems": ("stems", "stems without stop words", str),
    "abbreviations": ("stems", "stems, abbreviations written out", expand),
    "lay": ("stems", "stems, abbreviations, question words dropped", make_lay_query),
}
"""By the suffix of a method's name: the terms of documents and queries, a description, and the preprocessing of queries."""
METHODS = {
    name: CrossGenreMethod(name, f"{name.partition('-')[0].upper()}, {title}", terms, ready, delta)
    for start, delta in (("bm25", 0.0), ("bm25+", DELTA))
    for name, (terms, title, ready) in ((f"{start}-{end}", query) for end, query in QUERIES.items())
}


def methods(names: Sequence[str]) -> list[CrossGenreMethod]:
    """The methods with these names, without duplicates; `all` stands for every one."""
    return [METHODS[name] for name in check_names(names, METHODS, "method")]


@dataclass(frozen=True, slots=True)
class Headline:
    """A lay claim and the documents that it reports; none where they are not known."""

    id: str
    text: str
    abstracts: tuple[str, ...] = ()


# By the keys of its records: the lay claim and the documents that it reports.
_FORMATS = (("headline", "abstracts"), ("QUESTION", "pmid"), ("body", "pmids"))


def read_headlines(path: Path) -> list[Headline]:
    """Headlines from JSON lines: `headline` with `abstracts` (ids), or records of PubMedQA or BioASQ; from a .json file: topics.

    Raises a one-sentence `BadInput` for anything else.
    """
    if path.suffix == ".json":
        return [Headline(topic.id, topic.question) for topic in read_topics(path)]
    headlines = jsonl.read_some(path, _headline, "headline", "headline and abstracts")
    duplicate = find_repeated(one.id for one in headlines)
    if duplicate is not None:
        raise BadInput(f"{path} has the headline {duplicate} twice; every id must be unique.")
    return headlines


def _headline(record: Mapping[str, Any], number: int) -> Headline:
    keys = next((keys for keys in _FORMATS if set(keys) <= record.keys()), None)
    if keys is None:
        formats = " or ".join(" with ".join(pair) for pair in _FORMATS)
        raise RecordError(f"expected {formats}, got {describe_keys(record)}")
    question_key, documents_key = keys
    words = read_text(record, question_key)
    if not words:
        raise RecordError(f'expected words in "{question_key}", got an empty text')
    value = record[documents_key]
    # BioASQ's lists contain occasional empty ids.
    ids = [one for one in value if one != ""] if isinstance(value, list) else [value]
    pmids = [read_id(one, documents_key) for one in ids]
    return Headline(str(record.get("id", record.get("pmid", number))), words, tuple(dict.fromkeys(pmids)))


@dataclass(frozen=True)
class CrossGenre:
    """The tables: candidates, and reranked ones where requested; `agreement` where no headline has a document to find."""

    asked: int
    known: int
    candidates: RankingReport | None
    again: RankingReport | None
    agreement: Mapping[str, Mapping[int, float]]


@report_interrupt("the benchmark", KEPT)
def measure(
    headlines: Sequence[Headline],
    corpus: Path,
    method_list: Sequence[CrossGenreMethod],
    work: Path,
    command: str,
    view: str = "whole",
    titles: bool = True,
    reranker: KeptScores | None = None,
    depth: int = DEPTH,
    sample: int | None = None,
) -> CrossGenre:
    """Measure the candidates of every headline by every method, and rerank them; texts and scores are kept in `work`.

    Only documents that the corpus holds can be found, and headlines without one are left out of the figures. Candidates are
    reranked for `sample` headlines (the same ones every time).
    """
    check_view(view)
    index = open_index(corpus, work)
    try:
        pmids = index.store.holds(sorted({one for headline in headlines for one in headline.abstracts}))
        qrels = {one.id: {pmid: 1 for pmid in one.abstracts if pmid in pmids} for one in headlines}
        qrels = {one: grades for one, grades in qrels.items() if grades}
        if not qrels and any(one.abstracts for one in headlines):
            raise BadInput(f"None of the abstracts that the headlines report is in {corpus}; name the corpus that contains them.")
        queries = {one.id: one.text for one in headlines if one.id in qrels or not qrels}
        postings = {
            terms: _postings(index, terms, view, titles, work) for terms in dict.fromkeys(one.terms for one in method_list)
        }
        runs: dict[str, Run] = {one.title: _candidates(one, queries, postings[one.terms]) for one in method_list}
        name = f"{corpus.name}, view {view}, {'with' if titles else 'without'} titles"
        if not qrels:
            return CrossGenre(len(headlines), 0, None, None, _agreement(list(runs.items())))
        report = make_report(f"Candidates in {name}", qrels, runs, CANDIDATES, command)
        reranking = None
        if reranker:
            sample_ids = set(random.Random(_SEED).sample(sorted(qrels), min(sample or len(qrels), len(qrels))))
            few = {one: grades for one, grades in qrels.items() if one in sample_ids}
            words = {one: queries[one] for one in few}
            first = next(iter(runs))
            # In the same table as the reranked ones, so that the gain from reranking is a difference over the same headlines.
            better: dict[str, Run] = {f"{first}, not reranked": {one: runs[first][one] for one in few}}
            better |= _rerank_all(runs, words, index, reranker, depth, view, titles)
            reranking = make_report(f"The best {depth} reranked by {reranker.name} in {name}", few, better, RERANKED, command)
        return CrossGenre(len(headlines), len(qrels), report, reranking, {})
    finally:
        index.close()


def _postings(index: Index, terms: str, view: str, titles: bool, work: Path) -> TermIndex:
    """The corpus in this view as postings; its terms are kept in `work`, because analysing the texts takes longest."""
    # Two builds can hold the same texts with different sections, and a view depends on the sections.
    content = [index.manifest.id, index.manifest.version, index.manifest.created]
    origin = Origin(content, [terms, view, titles], hash_code([__name__]))
    path = origin.path(work, "terms", ".txt")
    if not path.exists():
        pmids = [pmid for batch in index.store.texts(_CHUNK) for pmid, _, _ in batch]
        lines: list[str] = []
        pieces = {str(at): "" for at in range(0, len(pmids), _CHUNK)}
        for at, _ in show_progress(f"reading thousands of abstracts as {terms}", pieces):
            some = pmids[int(at) : int(at) + _CHUNK]
            token_lists = TERMS[terms]([make_view(entry, view, titles) for entry in index.entries(some)])
            lines += [f"{pmid}\t{' '.join(each)}\n" for pmid, each in zip(some, token_lists, strict=True)]
        with translate_write_errors("the terms", work, GO_ON):
            work.mkdir(parents=True, exist_ok=True)
            write_atomically(path, "".join(lines))
    with path.open(encoding="utf-8") as file:
        parts = (line.rstrip("\n").partition("\t") for line in file)
        return TermIndex((pmid, words.split(" ") if words else ()) for pmid, _, words in parts)


def _candidates(method: CrossGenreMethod, queries: Mapping[str, str], postings: TermIndex) -> dict[str, list[str]]:
    run: dict[str, list[str]] = {}
    for one, words in show_progress(method.title, queries):
        (terms,) = TERMS[method.terms]([method.ready(words)])
        run[one] = [hit.pmid for hit in postings.search(terms, DEPTH, method.delta)]
    return run


def _rerank_all(
    runs: Mapping[str, Run],
    queries: Mapping[str, str],
    index: Index,
    reranker: KeptScores,
    depth: int,
    view: str,
    titles: bool,
) -> dict[str, Run]:
    """Rerank every method's candidates; a document that several methods find is scored once."""
    results: dict[str, dict[str, list[str]]] = {title: {} for title in runs}
    for one, words in show_progress(f"reranking by {reranker.name}", queries):
        pmids = sorted({pmid for run in runs.values() for pmid in run[one][:depth]})
        texts = [make_view(entry, view, titles) for entry in index.entries(pmids)]
        scores = dict(zip(pmids, reranker(words, texts), strict=True))
        for title, run in runs.items():
            results[title][one] = order_by_scores(scores, run[one], depth)
    return dict(results)


def _agreement(runs: Sequence[tuple[str, Run]]) -> dict[str, dict[int, float]]:
    """The mean overlap of each other method's best documents with the same number of the first method's."""
    (_, first), *others = runs
    return {
        title: {
            k: sum(len({*first[one][:k]} & {*run[one][:k]}) / max(1, len(first[one][:k])) for one in first) / len(first)
            for k in (5, 20, 100)
        }
        for title, run in others
    }
