"""Writing documents into a store, with their sentences and cues, so that a killed build can resume where it stopped, and into
Lucene through Pyserini: ids and terms only, negations kept.

Pyserini's indexer reads and analyses documents on all the threads it is given, but only logs what goes wrong (Anserini,
`SimpleIndexer.addToIndex` and `close`): on a full disk it would silently leave documents out. So this module uses the
`IndexWriter` inside it: it checks the count of every batch, and calls the writer directly to merge, commit and close.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from counterpoint.indexes.full_texts import Placed, TextTables, is_better, list_passages, make_own_record
from counterpoint.indexes.readers.base.fields import Deletion
from counterpoint.indexes.readers.exports.entry import make_id
from counterpoint.nli.text.negation import find_cues_by_sentence, load_cue_list
from counterpoint.nli.text.sentences import split_document
from counterpoint.retrieval.bm25.analysis import CONTENTS, FIELDS, make_contents, make_fields
from counterpoint.retrieval.bm25.lucene import (
    HEAP_VARIABLE,
    load_analyzer_of_fields,
    load_java_class,
    load_pyserini,
    start_on_lucene_thread,
)
from counterpoint.retrieval.core.errors import BadConfig, BadInput
from counterpoint.retrieval.core.values import Author, Document, FullText
from counterpoint.retrieval.store.documents import COLUMNS, POINTERS, SCHEMA, TALLIED, Row, Tally, find_targets, read_rows
from counterpoint.retrieval.store.manifest import LUCENE, PASSAGES, IndexCounts, TextPart
from counterpoint.retrieval.store.packing import pack
from counterpoint.retrieval.store.texts import StoredText, has_texts, make_part

Text = tuple[str, str, str, str, str, int | None]
"""What is searched of a document: PMID, title, abstract, authors (JSON, as the store keeps them), journal, year."""

# How far each source has been read, the records before that point that repeated an id, and what the build is made from.
_JOURNAL = """
CREATE TABLE IF NOT EXISTS progress (source INTEGER PRIMARY KEY, records INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS repeats (source INTEGER NOT NULL, record INTEGER NOT NULL, pmid TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS plan (fingerprint TEXT NOT NULL);
"""
_INSERT = f"INSERT OR REPLACE INTO main.documents ({COLUMNS}, written) VALUES ({', '.join('?' * 17)})"
_RETRACTED = COLUMNS.split(", ").index("retracted")
# Rows of about 2 kB would waste a third of SQLite's default 4 kB pages.
_PAGE_BYTES = 16384


@dataclass(frozen=True, slots=True)
class Change:
    """What a batch did to a store: the PMIDs whose earlier text was removed, and the texts that were written; the same of the
    passages of full texts."""

    removed: list[str]
    written: list[Text]
    passages_removed: list[str] = field(default_factory=list)
    passages_written: list[Text] = field(default_factory=list)


def settle(
    records: Sequence[Document | Deletion], stored_versions: Mapping[str, int], newest: bool
) -> dict[str, Document | None]:
    """What a batch leaves under each id that it changes: a document, or None if deleted; `stored_versions` are those stored.

    With `newest`, the higher of two versions of one PMID stands (PubMed's rule), else the later record.
    """
    versions = dict(stored_versions)
    state: dict[str, Document | None] = {}
    for record in records:
        if isinstance(record, Deletion):
            state[record.pmid] = None
            versions.pop(record.pmid, None)
        elif not newest or versions.get(record.pmid, 0) <= record.version:
            state[record.pmid] = record
            versions[record.pmid] = record.version
    return state


def annotate(document: Document, cue_ids: dict[str, int]) -> Row:
    """A document as the store keeps it, with its sentences and cues: the only place where texts are split and scanned."""
    spans = split_document(document)
    cues = find_cues_by_sentence(document.abstract, spans)
    return (
        document.pmid,
        document.title,
        document.abstract,
        document.year,
        document.journal,
        _dump_json(document.types),
        _dump_json([(n.kind, n.pmid) for n in document.notices]),
        _dump_json([(s.label, s.start, s.end) for s in document.sections]),
        document.version,
        int(document.retracted),
        pack(spans),
        pack((index, cue_ids[cue.name], cue.start, cue.end) for index, cue in cues),
        _dump_json([_list_names(author) for author in document.authors]),
        document.doi,
        document.pmcid,
        _dump_json(document.mesh),
    )


def take_text(row: Row | tuple[Any, ...]) -> Text:
    """What is searched of a row."""
    return row[0], row[1], row[2], row[12], row[4], row[3]


def _list_names(author: Author) -> list[str]:
    names = [author.family, author.given, author.suffix]
    while len(names) > 1 and not names[-1]:
        names.pop()
    return names


def _dump_json(items: Sequence[object]) -> str:
    return json.dumps(items) if items else "[]"


class StoreWriter:
    """A store being written: documents replaced by PMID, deletions, and how far each source has been read.

    `version` numbers the build or update under way; a row remembers which one wrote it.
    """

    tables: TextTables | None = None
    """The full texts; None if neither the index nor this build or update has any."""

    def __init__(self, path: Path, version: int, texts: bool = False) -> None:
        self.path, self.version, self._has_texts = path, version, texts
        fresh = not path.exists()
        self._db = sqlite3.connect(path, isolation_level=None, uri=True)
        # Nobody else reads an unfinished store; this lock avoids the shared-memory file, which cannot grow on a full disk.
        self._db.execute("PRAGMA locking_mode=EXCLUSIVE")
        self._db.execute(f"PRAGMA page_size={_PAGE_BYTES}")
        # Survives a killed process; a power cut may cost the unfinished build, never a finished index.
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=NORMAL")
        if fresh:
            self._db.executescript(SCHEMA)
        self._db.executescript(POINTERS)
        self._db.executescript(_JOURNAL)
        self._look_below()
        self._db.executemany(
            "INSERT OR IGNORE INTO main.cue_names (name) VALUES (?)", [(entry.name,) for entry in load_cue_list().cues]
        )
        self._cue_names = {int(i): str(name) for i, name in self._db.execute("SELECT id, name FROM cue_names")}
        self._cue_ids = {name: i for i, name in self._cue_names.items()}

    def _look_below(self) -> None:
        """Open the texts. For a file that holds only changes: also make `documents` show the whole index, copy its cue names."""
        if self._has_texts or has_texts(self._db):
            self.tables = TextTables(self._db, self.version, has_layers=False)

    def plan(self) -> str | None:
        """The fingerprint of what this store is being built from; None while unknown."""
        row = self._db.execute("SELECT fingerprint FROM plan").fetchone()
        return row[0] if row else None

    def set_plan(self, fingerprint: str) -> None:
        """Record what this store is being built from, so that only the same build resumes it."""
        self._db.execute("INSERT INTO plan VALUES (?)", (fingerprint,))

    def holds_documents(self) -> bool:
        """Whether any document is in this file, also if that cannot be told; not once it is finished."""
        try:
            return self._db.execute("SELECT 1 FROM main.documents LIMIT 1").fetchone() is not None
        except sqlite3.Error as error:
            return not isinstance(error, sqlite3.ProgrammingError)

    def records_done(self, source: int) -> int:
        """How many records of the `source`-th file are already in."""
        row = self._db.execute("SELECT records FROM progress WHERE source = ?", (source,)).fetchone()
        return int(row[0]) if row else 0

    def repeats_done(self, source: int) -> list[tuple[int, str]]:
        """The records among them, by number and id, that were left out because their id had occurred before."""
        return self._db.execute("SELECT record, pmid FROM repeats WHERE source = ? ORDER BY record", (source,)).fetchall()

    def written_now(self, pmids: Sequence[str], source: int, end: int) -> set[str]:
        """Those documents that this build or update has already written, whatever the current batch."""
        versions = self._find_held("written", pmids)
        return {pmid for pmid in versions if versions[pmid] == self.version}

    def find_by_doi(self, dois: Iterable[str]) -> list[Document]:
        """The documents that have one of these DOIs, with their ids, titles and abstracts."""
        values = [doi for doi in dois if doi]
        marks = ",".join("?" * len(values))
        # A record takes the place of one that a text made of itself, and is not given its id.
        own = " AND pmid NOT IN (SELECT pmid FROM texts WHERE own = 1)" if self.tables else ""
        statement = f"SELECT pmid, title, abstract, doi FROM documents WHERE doi != '' AND doi IN ({marks}){own}"
        rows = self._db.execute(statement, values)
        return [Document(pmid, title, abstract, doi=doi) for pmid, title, abstract, doi in rows]

    def write(
        self,
        records: Sequence[Document | Deletion],
        source: int,
        end: int,
        repeats: Sequence[tuple[int, str]] = (),
        newest: bool = True,
    ) -> Change:
        """Write a batch and how far its source has been read, both or neither.

        With `newest`, the higher of two versions of one PMID stands (PubMed's rule), else the later record.
        """
        versions = self._find_held("version", [record.pmid for record in records])
        state = settle(records, versions, newest)
        documents = [document for document in state.values() if document]
        rows = [(*annotate(document, self._cue_ids), self.version) for document in documents]
        change = Change([pmid for pmid in state if pmid in versions], [take_text(row) for row in rows])
        with self._transaction():
            if self.tables:
                self._settle_texts(self.tables, state, change)
            self._remove(change.removed)
            self._db.executemany(_INSERT, rows)
            self._db.executemany("INSERT INTO repeats VALUES (?, ?, ?)", [(source, *repeat) for repeat in repeats])
            self._db.execute("INSERT OR REPLACE INTO progress VALUES (?, ?)", (source, end))
        return change

    def _transaction(self) -> sqlite3.Connection:
        """What commits at the end of a `with` block, or takes everything back if it fails."""
        self._db.execute("BEGIN")
        return self._db

    def _settle_texts(self, tables: TextTables, state: Mapping[str, Document | None], change: Change) -> None:
        """What a batch of records does to the full texts: a deleted record takes its text with it, any other keeps it, and takes
        over that of a record which a text made of itself."""
        held = tables.held(list(state))
        for pmid, document in state.items():
            if document is None:
                change.passages_removed.extend(tables.remove(pmid))
                continue
            old = pmid if pmid in held else tables.find_own(document)
            if old and (old != pmid or held[pmid][1] or self.find_title(pmid) != document.title):
                removed, written = tables.move(old, pmid, self._cue_names, document.title)
                change.passages_removed.extend(removed)
                change.passages_written.extend(written)
            if old and old != pmid:
                change.removed.append(old)

    def find_title(self, pmid: str) -> str:
        """The title of a document."""
        return str(self._db.execute("SELECT title FROM documents WHERE pmid = ?", (pmid,)).fetchone()[0])

    def write_texts(self, texts: Sequence[FullText], source: int, end: int, placed: Placed) -> Change:
        """Write a batch of full texts and how far their source has been read, both or neither."""
        assert self.tables is not None
        change = Change([], [])
        with self._transaction():
            for text in texts:
                self._write_text(self.tables, text, change, placed)
            self._db.execute("INSERT OR REPLACE INTO progress VALUES (?, ?)", (source, end))
        return change

    def _write_text(self, tables: TextTables, text: FullText, change: Change, placed: Placed) -> None:
        found = tables.find_record(text)
        pmid = found[0] if found else ""
        row = tables.held([pmid]).get(pmid)
        if row:
            if tables.is_same(row, text):
                placed.unchanged += 1
                return
            if not text.joins and not is_better(text, row, self.version):
                placed.notes.append((text.source, f"left out: document {pmid} has a better text, of {row[3]}"))
                return
            if row[9] == self.version:
                placed.notes.append((text.source, f"taken for document {pmid} instead of {row[3]}"))
            change.passages_removed.extend(tables.remove(pmid))
        own = found is None or bool(row and row[1])
        if own and not text.joins:
            pmid, title = self._write_own_record(tables, text, pmid, change)
            placed.own += 1
        else:
            assert found is not None
            title = self.find_title(pmid)
            placed.joined[found[1]] += 1
            if text.record.retracted:
                self._retract(pmid)
        change.passages_written.extend(tables.put(pmid, own, text, self._cue_ids, title))

    def _retract(self, pmid: str) -> None:
        """Mark a document as retracted because its full text says so."""
        row = self._db.execute(f"SELECT {COLUMNS}, written FROM documents WHERE pmid = ?", (pmid,)).fetchone()
        if row[_RETRACTED] != 1:
            self._remove([pmid])
            self._db.execute(_INSERT, (*row[:_RETRACTED], 1, *row[_RETRACTED + 1 :]))

    def _write_own_record(self, tables: TextTables, text: FullText, pmid: str, change: Change) -> tuple[str, str]:
        """Write the record that a text makes of itself, in place of the earlier one with this id; returns its id and title."""
        document = make_own_record(text, has_doi=bool(pmid) or not tables.has_doi(text.record.doi))
        if pmid:
            document = replace(document, pmid=pmid)
            change.removed.append(pmid)
            self._remove([pmid])
        elif self._find_held("written", [document.pmid]):
            # Another paper has that id.
            document = replace(document, pmid=make_id(document.title, text.source, str(document.year or "")))
        row = annotate(document, self._cue_ids)
        self._db.execute(_INSERT, (*row, self.version))
        change.written.append(take_text(row))
        tables.note_own(document)
        return document.pmid, document.title

    def _remove(self, pmids: Sequence[str]) -> None:
        self._db.executemany("DELETE FROM main.documents WHERE pmid = ?", [(pmid,) for pmid in pmids])

    def _find_held(self, column: str, pmids: Sequence[str]) -> dict[str, int]:
        marks = ",".join("?" * len(pmids))
        return dict(self._db.execute(f"SELECT pmid, {column} FROM documents WHERE pmid IN ({marks})", pmids))

    def rows(self) -> Iterator[list[tuple[Row, int]]]:
        """All rows in the store, in batches, each with the version that wrote it."""
        return read_rows(self._db)

    def texts(self, batch: int) -> Iterator[list[Text]]:
        """All texts in the store, in batches."""
        rows = self._db.execute("SELECT pmid, title, abstract, authors, journal, year FROM documents")
        while chunk := rows.fetchmany(batch):
            yield chunk

    def passages(self, batch: int) -> Iterator[list[Text]]:
        """All passages of full texts in the store, in batches of at least so many."""
        waiting: list[Text] = []
        for stored in self.tables.read_all(self._cue_names) if self.tables else ():
            waiting += list_passages(stored, self.find_title(stored.pmid))
            if len(waiting) >= batch:
                yield waiting
                waiting = []
        yield waiting

    def summarise_texts(self) -> TextPart | None:
        """What the manifest says of the full texts; None if there are none."""
        return make_part(self.tables.rows()) if self.tables else None

    def name_cues(self, names: Mapping[int, str]) -> None:
        """Give the cues these numbers, which rows copied from another index use."""
        with self._transaction():
            self._db.execute("DELETE FROM cue_names")
            self._db.executemany("INSERT INTO cue_names VALUES (?, ?)", list(names.items()))

    def adopt(self, rows: Sequence[tuple[Row, int]]) -> None:
        """Copy rows of another index unchanged, each with the version that wrote it."""
        with self._transaction():
            self._db.executemany(_INSERT, [(*row, version) for row, version in rows])

    def adopt_texts(self, texts: Sequence[StoredText]) -> list[Text]:
        """Copy full texts of another index unchanged; returns their passages."""
        assert self.tables is not None
        with self._transaction():
            for stored in texts:
                self.tables.insert(stored.row, stored.packed)
        return [passage for stored in texts for passage in list_passages(stored, self.find_title(stored.pmid))]

    def summary(self) -> tuple[IndexCounts, str]:
        """Mark retracted documents; return the store's counts and the hash of its texts, in one pass."""
        tally = Tally()
        with self._transaction():
            self._db.execute("DELETE FROM main.pointers")
            # Documents retracted by another's notice are marked again, and counted then.
            self._db.execute("UPDATE main.documents SET retracted = 0 WHERE retracted = 2")
            for row in self._db.execute(f"SELECT {TALLIED}, notices FROM main.documents"):
                tally.add(row[:-1])
                self._point(row[0], row[-1])
            tally.retracted += self._mark_pointed()
        return tally.counts, tally.digest

    def _point(self, pmid: str, notices: str) -> None:
        pairs = [(target, pmid) for target in find_targets(notices)]
        self._db.executemany("INSERT OR IGNORE INTO main.pointers VALUES (?, ?)", pairs)

    def _mark_pointed(self) -> int:
        """Mark the documents in this file that a notice points to, whichever came first; return how many."""
        targets = "SELECT target FROM main.pointers"
        return self._db.execute(f"UPDATE main.documents SET retracted = 2 WHERE retracted = 0 AND pmid IN ({targets})").rowcount

    def finish(self) -> None:
        """Drop the journal of the build and leave a read-only file."""
        self._db.executescript("DROP TABLE progress; DROP TABLE repeats; DROP TABLE plan;")
        self._db.execute("PRAGMA main.journal_mode=DELETE")
        self.close()

    def close(self) -> None:
        """Close the file; what was committed stays."""
        self._db.close()


# Pyserini sets 2 GB, more than the whole heap we give to Java; Lucene itself recommends a few hundred megabytes at most.
_BUFFER_MB = 200.0
_ONE_WRITER = threading.Lock()
"""The bridge to Java fails where two threads create objects of one class at once: of two writers one works at a time."""
_PASSAGES_BUFFER_MB = 64.0
"""Beside the other: both are in the one heap of Java."""


class LuceneWriter:
    """A Lucene index being written: it indexes each batch on Java's threads while the caller prepares the next.

    Readers see nothing of it before `finish`; the next call raises the error of a failed batch. The text has the analyzer of
    that name, the other fields theirs (`fields` says whether they are indexed). With `merge` it ends as one segment, with no
    deleted documents in BM25's statistics; otherwise Lucene merges by its own policy.
    """

    def __init__(
        self, folder: Path, append: bool, analyzer: str, fields: bool = True, merge: bool = True, buffer: float = _BUFFER_MB
    ) -> None:
        self.folder, self._append, self._merge, self._buffer = folder, append, merge, buffer
        self._analyzers = {CONTENTS: analyzer, **(FIELDS if fields else {})}
        self._writer: Any = None
        self._indexer: Any = None
        self._job: Future[None] | None = None

    def remove(self, pmids: Sequence[str]) -> None:
        """Remove documents by id; those added after this call stay."""
        if pmids:
            self._start(lambda: self._remove(pmids))

    def add(self, texts: Iterable[Text]) -> None:
        """Index documents that the index does not hold; one without words is left out."""
        # As JSON with every non-ASCII character escaped: this is what Pyserini reads, and no encoding is left to chance.
        batch = list[str]()
        for pmid, title, abstract, authors, journal, year in texts:
            if contents := make_contents(title, abstract):
                fields = make_fields(title, authors, journal, year) if len(self._analyzers) > 1 else {}
                batch.append(json.dumps({"id": pmid, CONTENTS: contents, **fields}))
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
            with _ONE_WRITER:
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
            fields = [field for field in self._analyzers if field != CONTENTS]
            arguments = ["-index", str(self.folder), *(["-fields", *fields] if fields else [])]
            threads = os.cpu_count() or 1
            self._indexer = load_pyserini().indexer(args=arguments, append=self._append, threads=threads)
            # Its own writer can have no other analyzer than Anserini's.
            self._indexer.writer.close()
            config = load_java_class("org.apache.lucene.index.IndexWriterConfig")(load_analyzer_of_fields(self._analyzers))
            config.setRAMBufferSizeMB(self._buffer)
            config.setUseCompoundFile(False)
            path = load_java_class("java.nio.file.Paths").get(str(self.folder))
            directory = load_java_class("org.apache.lucene.store.FSDirectory").open(path)
            self._writer = load_java_class("org.apache.lucene.index.IndexWriter")(directory, config)
            # Not by assignment: the bridge would then free an object that it still uses.
            load_java_class("org.apache.commons.lang3.reflect.FieldUtils").writeField(self._indexer, "writer", self._writer, True)

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


class LuceneWriters:
    """The Lucene indexes of an index being written: of its documents and, if there are full texts, of their passages."""

    def __init__(self, documents: LuceneWriter, passages: LuceneWriter | None = None) -> None:
        self.documents, self.passages = documents, passages

    @classmethod
    def open(cls, data: Path, append: bool, analyzer: str, texts: bool, merge: tuple[bool, bool] = (True, True)) -> LuceneWriters:
        """The writers in a data folder, to append to the indexes there or anew; `merge` is said of the documents' and the
        passages'."""
        if not append:
            for folder in (LUCENE, PASSAGES):
                shutil.rmtree(data / folder, ignore_errors=True)
        documents = LuceneWriter(data / LUCENE, append, analyzer, True, merge[0])
        return cls(
            documents, LuceneWriter(data / PASSAGES, append, analyzer, False, merge[1], _PASSAGES_BUFFER_MB) if texts else None
        )

    def apply(self, change: Change) -> None:
        """Index what a batch wrote, without what it removed."""
        self.documents.remove(change.removed)
        self.documents.add(change.written)
        if self.passages:
            self.passages.remove(change.passages_removed)
            self.passages.add(change.passages_written)

    def finish(self) -> None:
        """Finish each of them; passages that have not changed are left as they are."""
        self.documents.finish()
        if self.passages:
            self.passages.finish()

    def abandon(self) -> None:
        """Close without keeping anything that is not finished."""
        self.documents.abandon()
        if self.passages:
            self.passages.abandon()


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
