"""Merging the files of a document store, as Lucene does with its segments: small ones often, large ones seldom.

An older file is merged with all later ones once it is no more than twice their total size, so there are few files and each
document is copied only a few times: an index of a million documents, updated a thousand at a time, is copied whole at about every
five hundredth update.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from retrieval.store.layers import COLUMNS, POINTERS, attach, list_changes
from retrieval.store.manifest import STORE

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
