"""Indexes that a work folder keeps between runs of a benchmark, so that a stopped run can resume."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from counterpoint.indexes.build import build
from counterpoint.indexes.vectors import add_vectors
from counterpoint.retrieval.bm25.analysis import BIOMEDICAL
from counterpoint.retrieval.core.code_hash import hash_code
from counterpoint.retrieval.core.errors import GO_ON, translate_write_errors
from counterpoint.retrieval.dense.encoder import Encoder
from counterpoint.retrieval.index import Index
from counterpoint.retrieval.store.journal import Origin, hash_file


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
