"""Writing an update's documents: one file holds what changed; the files of the previous version stay as they are.

The counts, the hash of the texts and the retraction marks are derived from the changes and the previous manifest, so that an
update's time depends on its own size, not on that of the index.

Files are merged as Lucene does with its segments: small ones often, large ones seldom. An older file is merged with all later
ones once it is no more than twice their total size, so there are few files and each document is copied only a few times: an index
of a million documents, updated a thousand at a time, is copied whole at about every five hundredth update.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from indexes.writer import StoreWriter
from retrieval.store.documents import (
    COLUMNS,
    POINTERS,
    REPLACED,
    TALLIED,
    Tally,
    attach,
    define_view,
    find_targets,
    list_changes,
    name_changes,
)
from retrieval.store.manifest import STORE, IndexCounts, Manifest

_CHUNK = 1000


class ChangesWriter(StoreWriter):
    """The changes that an update makes to the index of this manifest, in a data folder with the previous version's files."""

    def __init__(self, data: Path, old: Manifest) -> None:
        self._old = old
        self._base_files = [data / STORE, *list_changes(data / STORE)]
        super().__init__(name_changes(data / STORE, old.version + 1), old.version + 1)

    def _look_below(self) -> None:
        self._db.executescript(REPLACED)
        layers = attach(self._db, self._base_files)
        self._newest = layers[-1]
        define_view(self._db, "below", layers)
        define_view(self._db, "documents", [*layers, "main"])
        self._db.execute("INSERT INTO main.cue_names SELECT id, name FROM layer0.cue_names")

    def _remove(self, pmids: Sequence[str]) -> None:
        super()._remove(pmids)
        self._db.executemany("INSERT OR IGNORE INTO main.replaced VALUES (?)", [(pmid,) for pmid in pmids])

    def summary(self) -> tuple[IndexCounts, str]:
        """Mark retracted documents; return the counts of the whole index and the hash of its texts, from the changes alone."""
        self._db.execute("BEGIN")
        old_targets = self._carry_pointers()
        for pmid, notices in self._db.execute("SELECT pmid, notices FROM main.documents"):
            self._point(pmid, notices)
        self._mark_pointed()
        new_targets = {target for (target,) in self._db.execute("SELECT target FROM main.pointers")}
        self._mark_below(new_targets - old_targets, 0, 2)
        self._mark_below(old_targets - new_targets, 2, 0)
        self._db.execute("COMMIT")
        tally = Tally(self._old.counts, self._old.corpus_sha256)
        pmids = [pmid for (pmid,) in self._db.execute("SELECT pmid FROM main.replaced")]
        for row in self._select(TALLIED, pmids):
            tally.add(row, -1)
        for row in self._db.execute(f"SELECT {TALLIED} FROM main.documents"):
            tally.add(row)
        return tally.counts, tally.digest

    def _carry_pointers(self) -> set[str]:
        """Keep the retraction notices of documents that are not replaced; return the targets of all notices before the update."""
        version = self._db.execute(f"PRAGMA {self._newest}.user_version").fetchone()[0]
        if version == self._old.version:
            pairs = self._db.execute(f"SELECT target, pmid FROM {self._newest}.pointers").fetchall()
        else:
            # Written by code without a pointers table: read every document's notices, this once.
            rows = self._db.execute("SELECT pmid, notices FROM below WHERE notices LIKE '%Retract%'")
            pairs = [(target, pmid) for pmid, notices in rows for target in find_targets(notices)]
        self._db.executemany("INSERT OR IGNORE INTO main.pointers VALUES (?, ?)", pairs)
        self._db.execute("DELETE FROM main.pointers WHERE pmid IN (SELECT pmid FROM main.replaced)")
        return {target for target, _ in pairs}

    def _mark_below(self, targets: Collection[str], old: int, new: int) -> None:
        """Change the mark of documents that are not in this update: their rows are copied into the changes."""
        pmids = [row[0] for row in self._select("pmid, retracted", sorted(targets)) if row[1] == old]
        for pmid in pmids:
            if self._db.execute("SELECT 1 FROM main.replaced WHERE pmid = ?", (pmid,)).fetchone():
                continue
            self._db.execute(
                f"INSERT INTO main.documents ({COLUMNS}, written) SELECT {COLUMNS}, written FROM below WHERE pmid = ?", (pmid,)
            )
            self._db.execute("UPDATE main.documents SET retracted = ? WHERE pmid = ?", (new, pmid))
            self._db.execute("INSERT INTO main.replaced VALUES (?)", (pmid,))

    def _select(self, columns: str, pmids: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        """The columns of those documents that the previous version holds."""
        for at in range(0, len(pmids), _CHUNK):
            chunk = pmids[at : at + _CHUNK]
            marks = ",".join("?" * len(chunk))
            yield from self._db.execute(f"SELECT {columns} FROM below WHERE pmid IN ({marks})", chunk).fetchall()

    def finish(self) -> None:
        """Drop the journal, and merge files of changes if there are too many."""
        super().finish()
        fold_changes(self.path.parent, self.version)


_SHARE = 2
"""A file is merged with those after it unless it is more than this many times their total size."""
_MOST = 4
"""The most files of changes: each adds about a millisecond to every look-up of a thousand documents."""
_PARTIAL = "merging.sqlite"


def fold_changes(data: Path, version: int) -> None:
    """Merge as many of the newest files of a data folder as are due, after the update to this version of the index."""
    files = _list_files(data)
    first = find_first([file.stat().st_size for file in files])
    if first < len(files) - 1:
        _fold(files[first:], version, version)


def fold_all(data: Path, old_version: int, version: int) -> None:
    """Merge all files into the store alone, for an index whose version was `old_version` and is now `version`."""
    _fold(_list_files(data), old_version, version)


def find_first(sizes: Sequence[int]) -> int:
    """The index of the first file (oldest first) from which on all are to be merged; the last index if none are."""
    first = len(sizes) - 1
    while first and (sizes[first - 1] <= _SHARE * sum(sizes[first:]) or first > _MOST):
        first -= 1
    return first


def _list_files(data: Path) -> list[Path]:
    return [data / STORE, *list_changes(data / STORE)]


def _fold(files: Sequence[Path], old_version: int, version: int) -> None:
    """Apply the changes of the later files to a copy of the first, which replaces them all."""
    oldest, *changes = files
    partial = oldest.with_name(_PARTIAL)
    shutil.copyfile(oldest, partial)
    with closing(sqlite3.connect(partial, isolation_level=None, uri=True)) as db:
        # No reader sees this file before the manifest names its folder, and a stopped update deletes it.
        db.execute("PRAGMA journal_mode=OFF")
        db.executescript(POINTERS)
        layers = attach(db, changes)
        is_known = db.execute(f"PRAGMA {['main', *layers][-1]}.user_version").fetchone()[0] == old_version
        db.execute("BEGIN")
        for layer in layers:
            _apply(db, layer, keep_replaced=oldest.name != STORE)
        if layers:
            db.execute("DELETE FROM main.pointers")
            db.execute(f"INSERT INTO main.pointers SELECT target, pmid FROM {layers[-1]}.pointers")
        db.execute("COMMIT")
        db.execute(f"PRAGMA main.user_version={version if is_known else 0}")
    for file in files:
        file.unlink()
    os.replace(partial, oldest if oldest.name == STORE else files[-1])


def _apply(db: sqlite3.Connection, layer: str, keep_replaced: bool) -> None:
    db.execute(f"DELETE FROM main.documents WHERE pmid IN (SELECT pmid FROM {layer}.replaced)")
    db.execute(f"INSERT OR REPLACE INTO main.documents ({COLUMNS}, written) SELECT {COLUMNS}, written FROM {layer}.documents")
    if keep_replaced:
        db.execute(f"INSERT OR IGNORE INTO main.replaced SELECT pmid FROM {layer}.replaced")
