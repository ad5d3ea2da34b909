"""Indexes and scores that a work folder keeps between runs of a benchmark, so that a stopped run can resume."""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from tqdm import tqdm

from indexes.build import build
from indexes.readers import read
from indexes.vectors import add_vectors
from retrieval.bm25.lucene import K1, B, load_pyserini, make_contents, run_on_lucene_thread
from retrieval.core.code_hash import hash_code
from retrieval.core.errors import GO_ON, BadInput, translate_write_errors
from retrieval.core.values import Document
from retrieval.dense.encoder import Encoder
from retrieval.index import Index
from retrieval.rerank.reranker import Reranker
from retrieval.store.journal import Journal, Origin, hash_file, hash_json

KEPT = "what was read and scored is saved, and the same command resumes from there"
_BATCH = 1000


def open_index(corpus: Path, work: Path, encoders: Sequence[Encoder] = (), format: str = "counterpoint") -> Index:
    """The index of a file of documents, with the encoders' vectors, built in `work` unless it is there already."""
    # An index holds one encoder's vectors, so another encoder needs another index.
    code = hash_code(["indexes.build", *sorted({type(one).__module__ for one in encoders})])
    folder = Origin(hash_file(corpus), [format, *(one.name for one in encoders)], code).path(work, "index")
    with translate_write_errors("the index", work, GO_ON):
        work.mkdir(parents=True, exist_ok=True)
        if not folder.exists():
            build([corpus], folder, format=format)
        for encoder in encoders:
            add_vectors(folder, encoder)
    return Index(folder)


class StandardBM25:
    """BM25 as in Anserini's flat BEIR indexes: title and text in one field, with its default English analyzer.

    That analyzer removes 33 stop words ("no" and "not" among them) and applies the Porter stemmer; k1 0.9, b 0.4. It is a
    baseline for our own index, which keeps every word.
    """

    def __init__(self, corpus: Path, work: Path) -> None:
        folder = Origin(hash_file(corpus), None, hash_code([__name__])).path(work, "standard")
        with translate_write_errors("the index", work, GO_ON):
            if not folder.exists():
                _index_standard(corpus, folder)

        def open_searcher() -> Any:
            modules = load_pyserini()
            searcher = modules.searcher(str(folder))
            searcher.set_bm25(K1, B)
            searcher.set_analyzer(modules.analyzer(stopwords=True))
            return searcher

        self._searcher = run_on_lucene_thread(open_searcher)

    def __call__(self, query: str, k: int) -> list[str]:
        """The ids of the best `k` documents, best first."""
        return run_on_lucene_thread(lambda: [hit.docid for hit in self._searcher.search(query, k)])

    def close(self) -> None:
        """Close the index's files."""
        run_on_lucene_thread(self._searcher.close)


def _index_standard(corpus: Path, folder: Path) -> None:
    temporary = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}")
    documents = (one for one in read(corpus, "counterpoint") if isinstance(one, Document))
    try:
        indexer = run_on_lucene_thread(lambda: load_pyserini().indexer(["-index", str(temporary)], False, 1))
        while batch := list(islice(documents, _BATCH)):
            lines = [json.dumps({"id": one.pmid, "contents": make_contents(one.title, one.abstract)}) for one in batch]
            count = run_on_lucene_thread(lambda lines=lines: indexer.addRawDocuments(lines))  # type: ignore[misc]
            if count != len(lines):
                raise BadInput(f"Lucene took only {count} of {len(lines)} documents of {corpus}.")
        run_on_lucene_thread(indexer.close)
        os.rename(temporary, folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def show_progress(name: str, queries: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The queries, with a progress bar."""
    yield from tqdm(queries.items(), desc=name, unit=" queries", disable=None)


class KeptScores:
    """A reranker whose scores are kept on disk, one line per query: a resumed run scores no query twice.

    `settings` are the settings it was loaded with.
    """

    def __init__(self, reranker: Reranker, work: Path, settings: Any = None) -> None:
        self.name, self._reranker = reranker.name, reranker
        origin = Origin(None, [reranker.name, settings], hash_code([type(reranker).__module__]))
        self._journal = Journal.of(origin, work, "scores")

    def __call__(self, query: str, texts: Sequence[str]) -> list[float]:
        """One score per text, in order."""
        key = hash_json([query, list(texts)])
        return [float(score) for score in self._journal.fill(key, lambda: self._reranker(query, texts))]
