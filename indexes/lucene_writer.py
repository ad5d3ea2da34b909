"""Writing the Lucene side of an index, through Pyserini: ids and terms only, negations kept."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path

from retrieval import java
from retrieval.lucene import on_lucene_thread, pyserini

_BATCH = 500
_THREADS = 2


def contents(title: str, abstract: str) -> str:
    """What BM25 sees of a document: one field, title and abstract."""
    return f"{title} {abstract}".strip()


def add(folder: Path, documents: Iterable[tuple[str, str]], append: bool = False) -> None:
    """Index (pmid, contents) pairs into `folder`; `append` adds to an index that does not hold them yet."""
    arguments = ["-index", str(folder), "-keepStopwords", "-optimize"]
    indexer = on_lucene_thread(lambda: pyserini().indexer(args=arguments, append=append, threads=_THREADS))
    stream = (json.dumps({"id": pmid, "contents": text}) for pmid, text in documents)
    try:
        while batch := list(islice(stream, _BATCH)):
            on_lucene_thread(lambda batch=batch: indexer.add_batch_raw(batch))  # type: ignore[misc]
    finally:
        on_lucene_thread(indexer.close)


def remove(folder: Path, pmids: Sequence[str]) -> None:
    """Delete documents by id, and their share in the statistics that BM25 uses, as if they had never been there."""

    def work() -> None:
        term = java.java_class("org.apache.lucene.index.Term")
        directory = java.java_class("org.apache.lucene.store.FSDirectory").open(
            java.java_class("java.nio.file.Paths").get(str(folder))
        )
        config = java.java_class("org.apache.lucene.index.IndexWriterConfig")()
        writer = java.java_class("org.apache.lucene.index.IndexWriter")(directory, config)
        try:
            for pmid in pmids:
                writer.deleteDocuments(term("id", pmid))
            # Lucene counts deleted documents in its statistics until they are merged away.
            writer.forceMergeDeletes()
            writer.commit()
        finally:
            writer.close()
            directory.close()

    on_lucene_thread(work)


def link(source: Path, target: Path) -> None:
    """A second copy of a Lucene index that shares its files: Lucene never changes a file it has written."""
    target.mkdir()
    for file in sorted(source.iterdir()):
        if file.name != "write.lock":
            os.link(file, target / file.name)
