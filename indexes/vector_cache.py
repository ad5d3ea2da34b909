"""Vectors that are made but not yet in an index, kept batch by batch under the hash of their text, so that none is made twice.

The file lies in the index's folder, not in a version's: an update between two attempts loses nothing that was already encoded.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

from counterpoint.retrieval.core.errors import IndexUnusable
from counterpoint.retrieval.dense.codes import Codes

NAME = ".vectors.building"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS maker (name TEXT NOT NULL, trained BLOB);
CREATE TABLE IF NOT EXISTS vectors (text INTEGER PRIMARY KEY, code BLOB NOT NULL);
"""
_DAMAGED = ("SQLITE_NOTADB", "SQLITE_CORRUPT")


class VectorCache:
    """What `maker` has made so far, in one SQLite file; a damaged file, or one of another maker, is discarded.

    `maker` names the model, the code that runs it, what it reads of a document, and FAISS's factory string. `trained` is what
    FAISS was trained to, once it was: until then the codes kept are the vectors themselves. A text is the hash of one.
    """

    def __init__(self, folder: Path, maker: str) -> None:
        self._path = folder / NAME
        self._db = _connect(self._path)
        try:
            rows = _prepare(self._db).execute("SELECT name, trained FROM maker").fetchall()
        except sqlite3.DatabaseError as error:
            # A full disk is no reason to discard what was made.
            if error.sqlite_errorname not in _DAMAGED:
                raise
            rows = []
        if [name for name, _ in rows] != [maker]:
            self.drop()
            self._db = _connect(self._path)
            _prepare(self._db).execute("INSERT INTO maker VALUES (?, NULL)", (maker,))
            rows = [(maker, None)]
        self.trained: bytes | None = rows[0][1]

    def get(self, texts: Sequence[int]) -> dict[int, bytes]:
        """The codes in the cache for these texts."""
        marks = ",".join("?" * len(texts))
        try:
            return dict(self._db.execute(f"SELECT text, code FROM vectors WHERE text IN ({marks})", list(texts)))
        except sqlite3.DatabaseError as error:
            raise IndexUnusable(f"{self._path} cannot be read ({error}); delete it and start again.") from error

    def put(self, texts: Sequence[int], codes: Codes, trained: bytes | None = None) -> None:
        """Keep a batch, all of it or, if the disk is full, none of it; with `trained`, in place of what was there before."""
        with self._db:
            self._db.execute("BEGIN")
            if trained:
                self._db.execute("UPDATE maker SET trained = ?", (trained,))
                self._db.execute("DELETE FROM vectors")
            rows = ((text, code.tobytes()) for text, code in zip(texts, codes, strict=True))
            self._db.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)
        self.trained = trained or self.trained

    def close(self) -> None:
        """Close the file; what was kept stays."""
        self._db.close()

    def drop(self) -> None:
        """Close the file and delete it: its vectors are in the index now, or useless."""
        self.close()
        for suffix in ("", "-wal", "-shm"):
            self._path.with_name(NAME + suffix).unlink(missing_ok=True)


def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, isolation_level=None)


def _prepare(db: sqlite3.Connection) -> sqlite3.Connection:
    # As in the store: survives a killed process, and nobody else reads it.
    db.execute("PRAGMA locking_mode=EXCLUSIVE")
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA synchronous=NORMAL")
    db.executescript(_SCHEMA)
    return db
