"""The documents beside Lucene: texts, sentence boundaries and negation cues in SQLite.

Lucene keeps ids only, since loading stored text for a thousand hits costs more than finding them. The documents are in one file,
and each later update that is not merged yet has a file beside it. As with Lucene's segments, no file changes once it is complete:
an update writes a file of changes beside hard links to the earlier files. Through a view over all of them every query reads one
table of documents.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from retrieval.core.errors import IndexUnusable
from retrieval.store.rows import Entry

# One row a document. boundaries: uint32 pairs (start, end); cues: uint32 quadruples (sentence, cue, start, end), where `cue`
# counts in the table cue_names. Offsets are characters of the abstract. retracted: 1 by the document's own record, 2 by
# another's notice that points to it. written: the version of the index that brought this row. authors: JSON lists of family
# name, given name, suffix; mesh: JSON.
SCHEMA = """
CREATE TABLE documents (
    pmid TEXT PRIMARY KEY,
    title TEXT NOT NULL,
    abstract TEXT NOT NULL,
    year INTEGER,
    journal TEXT NOT NULL,
    types TEXT NOT NULL,
    notices TEXT NOT NULL,
    sections TEXT NOT NULL,
    version INTEGER NOT NULL,
    retracted INTEGER NOT NULL,
    boundaries BLOB NOT NULL,
    cues BLOB NOT NULL,
    written INTEGER NOT NULL,
    authors TEXT NOT NULL DEFAULT '[]',
    doi TEXT NOT NULL DEFAULT '',
    pmcid TEXT NOT NULL DEFAULT '',
    mesh TEXT NOT NULL DEFAULT '[]'
);
CREATE INDEX dois ON documents (doi) WHERE doi != '';
CREATE INDEX retracted_documents ON documents (retracted) WHERE retracted > 0;
CREATE TABLE cue_names (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
"""
POINTERS = """
CREATE TABLE IF NOT EXISTS pointers (target TEXT NOT NULL, pmid TEXT NOT NULL, PRIMARY KEY (target, pmid)) WITHOUT ROWID;
"""
"""Which document (pmid) reports which other (target) as retracted: for the whole index, in its newest file. It is valid only if
the file's `user_version` is the version of the index; older code leaves the table unchanged."""
REPLACED = "CREATE TABLE replaced (pmid TEXT PRIMARY KEY) WITHOUT ROWID;"
"""In a file of changes: the documents of older files that no longer count."""

COLUMNS = (
    "pmid, title, abstract, year, journal, types, notices, sections, version, retracted, boundaries, cues, "
    "authors, doi, pmcid, mesh"
)


def name_changes(store: Path, version: int) -> Path:
    """The file of changes that the update to this version writes beside a store."""
    return store.with_name(f"changes-{version:06d}.sqlite")


def list_changes(store: Path) -> list[Path]:
    """The files of changes beside a store, the oldest first."""
    return sorted(store.parent.glob("changes-*.sqlite"))


def open_read_only(store: Path) -> sqlite3.Connection:
    """A connection whose `documents` are those of a store with all changes beside it; other threads may close it.

    Raises `sqlite3.Error` where a file cannot be read.
    """
    db = sqlite3.connect(_make_uri(store), uri=True, check_same_thread=False)
    changes = attach(db, list_changes(store))
    if changes:
        define_view(db, "documents", ["main", *changes])
    return db


def attach(db: sqlite3.Connection, files: Sequence[Path]) -> list[str]:
    """Let a connection read these finished files; returns their names in its statements."""
    names = [f"layer{number}" for number in range(len(files))]
    for file, name in zip(files, names, strict=True):
        db.execute(f"ATTACH ? AS {name}", (_make_uri(file),))
    return names


def define_view(db: sqlite3.Connection, name: str, layers: Sequence[str]) -> None:
    """Let a table of this name hold the documents of several files, the oldest first, without those that a newer one replaced."""
    parts = []
    for number, layer in enumerate(layers):
        newer = [f"NOT EXISTS (SELECT 1 FROM {layer}.replaced AS r WHERE r.pmid = d.pmid)" for layer in layers[number + 1 :]]
        where = f" WHERE {' AND '.join(newer)}" if newer else ""
        parts.append(f"SELECT rowid AS rowid, {COLUMNS}, written FROM {layer}.documents AS d{where}")
    db.execute(f"CREATE TEMP VIEW {name} AS {' UNION ALL '.join(parts)}")


def _make_uri(path: Path) -> str:
    # A finished file never changes: `immutable` spares every query its locks.
    return f"{path.absolute().as_uri()}?mode=ro&immutable=1"


class Documents(Protocol):
    """Read access to the documents of an index, wherever they lie; safe to use from several threads at once.

    Every method raises `IndexUnusable` where they cannot be read.
    """

    def entries(self, pmids: Sequence[str]) -> Iterator[Entry]:
        """The stored documents of `pmids`, in their order; each must be in the index."""

    def get(self, pmid: str) -> Entry | None:
        """One document, or None where the index does not hold it."""

    def get_by_doi(self, doi: str) -> Entry | None:
        """The document with a DOI (in lower case), or None where the index holds none."""

    def texts(self, batch: int) -> Iterator[list[tuple[str, str, str]]]:
        """Every document's PMID, title and abstract, by PMID, in batches."""

    def sample(self, most: int) -> list[Entry]:
        """At most `most` documents, spread evenly over the index; the same ones each time."""

    def holds(self, pmids: Sequence[str]) -> set[str]:
        """Those of `pmids` that the index holds."""

    def read_versions(self, pmids: Sequence[str]) -> dict[str, int]:
        """The index version that added the stored text of each of `pmids`; those not in the index are left out."""

    def close(self) -> None:
        """Release what is open; no other thread may be reading."""


class Store:
    """Read access to the documents of an index; safe to use from several threads at once."""

    # SQLite allows 32,766 variables a statement; a thousand a statement is already as fast as it gets.
    _CHUNK = 1000

    def __init__(self, path: Path) -> None:
        self.path = path
        self._local = threading.local()
        self._connections: list[sqlite3.Connection] = []
        self._cue_names = dict(self._query("SELECT id, name FROM cue_names"))

    def _connect(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            # Each thread has its own connection; sharing is allowed only so that `close` can close them all.
            connection = self._local.connection = open_read_only(self.path)
            self._connections.append(connection)
        return connection

    def _query(self, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        try:
            return self._connect().execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise IndexUnusable(
                f"The document store {self.path} cannot be read ({error}); if it was replaced or moved while in use, restart, "
                "otherwise it is damaged: build the index again."
            ) from error

    def entries(self, pmids: Sequence[str]) -> Iterator[Entry]:
        """The stored documents of `pmids`, in their order; each must be in the index.

        Raises `IndexUnusable` where the store lacks one.
        """
        for at in range(0, len(pmids), self._CHUNK):
            chunk = pmids[at : at + self._CHUNK]
            rows = self._fetch(COLUMNS, chunk)
            for pmid in chunk:
                if pmid not in rows:
                    raise IndexUnusable(
                        f"Document {pmid} is in the Lucene index but not in {self.path}; the index is damaged: build it again."
                    )
                yield Entry(rows[pmid], self._cue_names)

    def get(self, pmid: str) -> Entry | None:
        """One document, or None where the index does not hold it."""
        row = self._fetch(COLUMNS, [pmid]).get(pmid)
        return Entry(row, self._cue_names) if row else None

    def get_by_doi(self, doi: str) -> Entry | None:
        """The document with a DOI (in lower case), or None where the index holds none."""
        rows = self._query("SELECT pmid FROM documents WHERE doi != '' AND doi = ? ORDER BY pmid LIMIT 1", [doi])
        return self.get(rows[0][0]) if rows else None

    def texts(self, batch: int) -> Iterator[list[tuple[str, str, str]]]:
        """Every document's PMID, title and abstract, by PMID, in batches."""
        statement = "SELECT pmid, title, abstract FROM documents WHERE pmid > ? ORDER BY pmid LIMIT ?"
        last = ""
        while rows := self._query(statement, (last, batch)):
            yield rows
            last = rows[-1][0]

    def sample(self, most: int) -> list[Entry]:
        """At most `most` documents, spread evenly over the index; the same ones each time."""
        last = int(self._query("SELECT coalesce(max(rowid), 0) FROM main.documents")[0][0])
        step = max(1, last // most)
        places = ",".join(str(place) for place in range(1, last + 1, step))
        rows = self._query(f"SELECT {COLUMNS} FROM documents WHERE rowid IN ({places}) ORDER BY rowid LIMIT {most}")
        return [Entry(row, self._cue_names) for row in rows]

    def holds(self, pmids: Sequence[str]) -> set[str]:
        """Those of `pmids` that the index holds."""
        members: set[str] = set()
        for at in range(0, len(pmids), self._CHUNK):
            members.update(self._fetch("pmid", pmids[at : at + self._CHUNK]))
        return members

    def read_versions(self, pmids: Sequence[str]) -> dict[str, int]:
        """The index version that added the stored text of each of `pmids`; those not in the index are left out."""
        versions: dict[str, int] = {}
        for at in range(0, len(pmids), self._CHUNK):
            rows = self._fetch("pmid, written", pmids[at : at + self._CHUNK])
            versions.update((pmid, int(row[1])) for pmid, row in rows.items())
        return versions

    def _fetch(self, columns: str, pmids: Sequence[str]) -> dict[str, Any]:
        marks = ",".join("?" * len(pmids))
        rows = self._query(f"SELECT {columns} FROM documents WHERE pmid IN ({marks})", pmids)
        return {str(row[0]): row for row in rows}

    def close(self) -> None:
        """Release the file; no other thread may be reading."""
        while self._connections:
            self._connections.pop().close()
        self._local = threading.local()
