"""The documents beside Lucene: texts, sentence boundaries and negation cues in SQLite.

Lucene keeps ids only, since loading stored text for a thousand hits costs more than finding them.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from retrieval.core.errors import IndexUnusable
from retrieval.store.layers import COLUMNS, open_read_only
from retrieval.store.rows import Entry


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
