"""Merging the files of a document store, as Lucene does with its segments: small ones often, large ones seldom.

An older file is merged with all that came after it once it is less than twice their size, so that there are few files and each
document is copied few times: an index of a million documents that is updated with a thousand each time is copied whole at about
every five hundredth update.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from retrieval.store.layers import COLUMNS, GROW, POINTERS, attach, has_authors, list_changes
from retrieval.store.manifest import STORE

_SHARE = 2
"""A file is merged with those after it unless it is larger than so many times all of them."""
_MOST = 4
"""Files of changes: each costs every look-up of a thousand documents about a millisecond."""
_PARTIAL = "merging.sqlite"


def fold_changes(data: Path, version: int) -> None:
    """Merge the newest files of a data folder, as many as should be one, after the update to this version of the index."""
    files = _list_files(data)
    first = find_first([file.stat().st_size for file in files])
    if first < len(files) - 1:
        _fold(files[first:], version, version)


def fold_all(data: Path, before: int, version: int) -> None:
    """Make one file of all, the store alone, of an index whose version was `before` and is `version` from now on."""
    _fold(_list_files(data), before, version)


def find_first(sizes: Sequence[int]) -> int:
    """From which file on, the oldest first, all are to be one; the last where none is."""
    first = len(sizes) - 1
    while first and (sizes[first - 1] <= _SHARE * sum(sizes[first:]) or first > _MOST):
        first -= 1
    return first


def _list_files(data: Path) -> list[Path]:
    return [data / STORE, *list_changes(data / STORE)]


def _fold(files: Sequence[Path], before: int, version: int) -> None:
    """Put the changes of the later files into a copy of the first, which takes their place."""
    oldest, *later = files
    partial = oldest.with_name(_PARTIAL)
    shutil.copyfile(oldest, partial)
    with closing(sqlite3.connect(partial, isolation_level=None, uri=True)) as db:
        # Nobody sees this file before the manifest names its folder, and a stopped update deletes it.
        db.execute("PRAGMA journal_mode=OFF")
        if not has_authors(db, "main"):
            db.executescript(GROW)
        db.executescript(POINTERS)
        layers = attach(db, later)
        known = db.execute(f"PRAGMA {['main', *layers][-1]}.user_version").fetchone()[0] == before
        db.execute("BEGIN")
        for layer in layers:
            _apply(db, layer, keep_replaced=oldest.name != STORE)
        if layers:
            db.execute("DELETE FROM main.pointers")
            db.execute(f"INSERT INTO main.pointers SELECT target, pmid FROM {layers[-1]}.pointers")
        db.execute("COMMIT")
        db.execute(f"PRAGMA main.user_version={version if known else 0}")
    for file in files:
        file.unlink()
    os.replace(partial, oldest if oldest.name == STORE else files[-1])


def _apply(db: sqlite3.Connection, layer: str, keep_replaced: bool) -> None:
    db.execute(f"DELETE FROM main.documents WHERE pmid IN (SELECT pmid FROM {layer}.replaced)")
    db.execute(f"INSERT OR REPLACE INTO main.documents ({COLUMNS}, written) SELECT {COLUMNS}, written FROM {layer}.documents")
    if keep_replaced:
        db.execute(f"INSERT OR IGNORE INTO main.replaced SELECT pmid FROM {layer}.replaced")
