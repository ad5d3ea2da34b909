"""Indexes and scores that a work folder keeps between runs of a benchmark, so that a stopped run can resume."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from counterpoint.indexes.build import build
from counterpoint.indexes.vectors import add_vectors
from counterpoint.retrieval.bm25.analysis import BIOMEDICAL
from counterpoint.retrieval.core.code_hash import hash_code
from counterpoint.retrieval.core.errors import GO_ON, translate_write_errors
from counterpoint.retrieval.dense.encoder import Encoder
from counterpoint.retrieval.index import Index
from counterpoint.retrieval.rerank.reranker import Reranker
from counterpoint.retrieval.store.journal import Journal, Origin, hash_file, hash_json

KEPT = "what was read and scored is saved, and the same command resumes from there"


def open_index(
    corpus: Path, work: Path, encoders: Sequence[Encoder] = (), format: str = "counterpoint", analyzer: str = BIOMEDICAL
) -> Index:
    """The index of a file of documents, with the encoders' vectors, built in `work` unless it is there already."""
    # An index holds one encoder's vectors, so another encoder needs another index.
    code = hash_code(["counterpoint.indexes.build", *sorted({type(one).__module__ for one in encoders})])
    folder = Origin(hash_file(corpus), [format, analyzer, *(one.name for one in encoders)], code).path(work, "index")
    with translate_write_errors("the index", work, GO_ON):
        work.mkdir(parents=True, exist_ok=True)
        if not folder.exists():
            build([corpus], folder, format=format, analyzer=analyzer)
        for encoder in encoders:
            add_vectors(folder, encoder)
    return Index(folder)


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
