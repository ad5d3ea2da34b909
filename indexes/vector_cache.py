"""Vectors that are made but not yet in an index, kept batch by batch under the hash of their text, so that none is made twice.

The cache lies in the index's folder, not in a version's: an update between two attempts loses nothing that was already encoded.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from retrieval.core.errors import IndexUnusable
from retrieval.dense.encoder import Vectors

NAME = ".vectors.building"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS encoder (name TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS vectors (text TEXT PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID;
"""
_DAMAGED = ("SQLITE_NOTADB", "SQLITE_CORRUPT")


class VectorCache:
    """The vectors that `encoder` has made so far, in one SQLite file; a damaged file, or another encoder's, is discarded.

    `encoder` names the model and the code that runs it.
    """

    def __init__(self, folder: Path, encoder: str) -> None:
        self._path = folder / NAME
        self._db = _connect(self._path)
        try:
            rows = _prepare(self._db).execute("SELECT name FROM encoder").fetchall()
        except sqlite3.DatabaseError as error:
            # A full disk is no reason to discard what was made.
            if error.sqlite_errorname not in _DAMAGED:
                raise
            rows = []
        if rows != [(encoder,)]:
            self.drop()
            self._db = _connect(self._path)
            _prepare(self._db).execute("INSERT INTO encoder VALUES (?)", (encoder,))

    def get(self, texts: Sequence[str]) -> dict[str, Vectors]:
        """The vectors [width] in the cache for these texts, by hash; `texts` are hashes."""
        marks = ",".join("?" * len(texts))
        try:
            rows = self._db.execute(f"SELECT text, vector FROM vectors WHERE text IN ({marks})", list(texts)).fetchall()
        except sqlite3.DatabaseError as error:
            raise IndexUnusable(f"{self._path} cannot be read ({error}); delete it and start again.") from error
        return {text: np.frombuffer(vector, dtype="<f4") for text, vector in rows}

    def put(self, texts: Sequence[str], vectors: Vectors) -> None:
        """Keep a batch, `vectors` [texts, width]: all of it or, if the disk is full, none of it; `texts` are hashes."""
        rows = [(text, vector.astype("<f4").tobytes()) for text, vector in zip(texts, vectors, strict=True)]
        self._db.execute("BEGIN")
        try:
            self._db.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)
            self._db.execute("COMMIT")
        except BaseException:
            # If the disk was full, SQLite itself has rolled back.
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise

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
