"""Writing the Lucene part of an index through Pyserini: ids and terms only, negations kept.

Pyserini's indexer reads and analyses documents on all the threads it is given, but only logs what goes wrong (Anserini,
`SimpleIndexer.addToIndex` and `close`): on a full disk it would silently leave documents out. So this module uses the
`IndexWriter` inside it: it checks the count of every batch, and calls the writer directly to merge, commit and close.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from json.encoder import encode_basestring_ascii as quoted
from pathlib import Path
from typing import Any

from retrieval.bm25.lucene import HEAP_VARIABLE, load_java_class, load_pyserini, start_on_lucene_thread
from retrieval.core.errors import BadConfig, BadInput

# Pyserini sets 2 GB, more than the whole heap we give to Java; Lucene itself recommends a few hundred megabytes at most.
_BUFFER_MB = 200.0


class LuceneWriter:
    """A Lucene index being written: it indexes each batch on Java's threads while the caller prepares the next.

    Readers see nothing of it before `finish`; the next call raises the error of a failed batch. With `merge` it ends as one
    segment, with no deleted documents in BM25's statistics; otherwise Lucene merges by its own policy.
    """

    def __init__(self, folder: Path, append: bool, merge: bool = True) -> None:
        self.folder, self._append, self._merge = folder, append, merge
        self._writer: Any = None
        self._indexer: Any = None
        self._job: Future[None] | None = None

    def remove(self, pmids: Sequence[str]) -> None:
        """Remove documents by id; those added after this call stay."""
        if pmids:
            self._start(lambda: self._remove(pmids))

    def add(self, documents: Iterable[tuple[str, str]]) -> None:
        """Index (pmid, contents) pairs that the index does not hold; a document without words is left out."""
        # As JSON with every non-ASCII character escaped: this is what Pyserini reads, and no encoding is left to chance.
        batch = [f'{{"id":{quoted(pmid)},"contents":{quoted(text)}}}' for pmid, text in documents if text]
        if batch:
            self._start(lambda: self._add(batch))

    def finish(self) -> None:
        """Merge if asked to, commit, and close the index."""
        self._start(self._finish)
        self._wait()

    def abandon(self) -> None:
        """Close without keeping anything; after `finish` there is nothing left to abandon."""
        job, self._job = self._job, None
        if job:
            job.exception()
        if self._writer is not None:
            start_on_lucene_thread(self._rollback).exception()

    def _start(self, work: Callable[[], None]) -> None:
        # One batch is being indexed and one prepared: memory stays bounded, and both cores are busy.
        self._wait()
        self._job = start_on_lucene_thread(lambda: self._translate_errors(work))

    def _wait(self) -> None:
        if self._job:
            job, self._job = self._job, None
            job.result()

    def _translate_errors(self, work: Callable[[], None]) -> None:
        """Run `work`, and translate Java's errors into those that the callers of a writer handle."""
        try:
            self._open()
            work()
        except Exception as error:
            message = "\n".join((str(error), *(getattr(error, "stacktrace", None) or ())))
            if "No space left" in message or "Disk quota" in message:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.folder)) from error
            if "OutOfMemory" in message or "Java heap space" in message:
                raise BadConfig(
                    f"Lucene does not have enough memory; give it more, for example with {HEAP_VARIABLE}=2g."
                ) from error
            raise

    def _open(self) -> None:
        if self._writer is None:
            arguments = ["-index", str(self.folder), "-keepStopwords"]
            threads = os.cpu_count() or 1
            self._indexer = load_pyserini().indexer(args=arguments, append=self._append, threads=threads)
            self._writer = self._indexer.writer
            self._writer.getConfig().setRAMBufferSizeMB(_BUFFER_MB)

    def _add(self, batch: list[str]) -> None:
        count = self._indexer.addRawDocuments(batch)
        if count != len(batch):
            cause = self._writer.getTragicException()
            if cause is not None:
                raise OSError(f"Lucene stopped writing: {_list_causes(cause)}")
            raise BadInput(
                f"Lucene took only {count} of the {len(batch)} documents behind {batch[0][:60]}…; one of them has an id or "
                "a text that cannot be indexed."
            )

    def _remove(self, pmids: Sequence[str]) -> None:
        # As one query: the bridge to Java cannot distinguish `deleteDocuments(Term...)` from `deleteDocuments(Query...)`.
        term, ids = load_java_class("org.apache.lucene.index.Term"), load_java_class("java.util.ArrayList")()
        for pmid in pmids:
            ids.add(term("id", pmid).bytes())
        self._writer.deleteDocuments(load_java_class("org.apache.lucene.search.TermInSetQuery")("id", ids))

    def _finish(self) -> None:
        if self._merge:
            # This also rewrites a single segment that still counts deleted documents.
            self._writer.forceMerge(1)
        self._writer.commit()
        # Waits for merges under way.
        self._writer.close()
        self._writer = None

    def _rollback(self) -> None:
        writer, self._writer = self._writer, None
        writer.rollback()


def _list_causes(exception: Any) -> str:
    words = []
    while exception is not None:
        words.append(str(exception.toString()))
        exception = exception.getCause()
    return "; ".join(words)


def link_files(source: Path, target: Path) -> None:
    """Make a folder that shares another's files, not its subfolders; safe, as index files never change once written."""
    target.mkdir()
    for file in sorted(source.iterdir()):
        if file.name == "write.lock" or file.is_dir():
            continue
        try:
            os.link(file, target / file.name)
        except OSError:
            # Some file systems have no hard links.
            shutil.copyfile(file, target / file.name)
