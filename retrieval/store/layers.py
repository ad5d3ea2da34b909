"""The files of a document store: one with all documents, and beside it one for each later update that is not merged yet.

As with Lucene's segments, no file changes once it is complete: an update writes a file of changes beside hard links to the
earlier files. Through a view over all of them every query reads one table of documents.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

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

COLUMNS = "pmid, title, abstract, year, journal, types, notices, sections, version, retracted, boundaries, cues, authors, doi, pmcid, mesh"


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
        newer = [f"NOT EXISTS (SELECT 1 FROM {one}.replaced AS r WHERE r.pmid = d.pmid)" for one in layers[number + 1 :]]
        where = f" WHERE {' AND '.join(newer)}" if newer else ""
        parts.append(f"SELECT rowid AS rowid, {COLUMNS}, written FROM {layer}.documents AS d{where}")
    db.execute(f"CREATE TEMP VIEW {name} AS {' UNION ALL '.join(parts)}")


def _make_uri(path: Path) -> str:
    # A finished file never changes: `immutable` spares every query its locks.
    return f"{path.absolute().as_uri()}?mode=ro&immutable=1"
