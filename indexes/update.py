"""Updating and merging an index in a folder: completely or not at all.

Each version of the data is a folder of its own, in which unchanged files are hard links, so that an update writes only what
changed; the version becomes visible when the manifest is replaced.

One file holds the changes of an update. The counts, the hash of the texts and the retraction marks are derived from them and
the previous manifest, so that an update's time depends on its own size, not on that of the index. Files are merged as Lucene
does with its segments: small ones often, large ones seldom. An older file is merged with all later ones once it is no more
than twice their total size, so there are few files and each document is copied only a few times: an index of a million
documents, updated a thousand at a time, is copied whole at about every five hundredth update.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from counterpoint.indexes import plan
from counterpoint.indexes.build import expect_inputs, fill_index, find_inputs, name_data
from counterpoint.indexes.full_texts import TextTables, list_passages
from counterpoint.indexes.plan import hold_lock, report_interrupt
from counterpoint.indexes.readers import Columns
from counterpoint.indexes.sources import BuildReport
from counterpoint.indexes.writer import Change, LuceneWriters, StoreWriter, link_files, take_text
from counterpoint.retrieval.bm25.analysis import check_analyzer
from counterpoint.retrieval.core.errors import AGAIN, translate_write_errors
from counterpoint.retrieval.store.documents import (
    COLUMNS,
    POINTERS,
    REPLACED,
    TALLIED,
    Store,
    Tally,
    attach,
    define_text_views,
    define_view,
    list_changes,
    name_changes,
    open_read_only,
    read_rows,
)
from counterpoint.retrieval.store.manifest import (
    DENSE,
    LUCENE,
    PASSAGES,
    STORE,
    IndexCounts,
    Manifest,
    list_data_files,
    read_manifest,
    write_atomically,
)
from counterpoint.retrieval.store.texts import (
    BLOCK_COLUMNS,
    BLOCKS,
    REPLACED_TEXTS,
    REPLACED_TEXTS_SCHEMA,
    TEXT_COLUMNS,
    TEXT_SCHEMA,
    TEXTS,
    has_texts,
)

_CHUNK = 1000


class ChangesWriter(StoreWriter):
    """The changes that an update makes to the index of this manifest, in a data folder with the previous version's files."""

    def __init__(self, data: Path, old: Manifest, texts: bool = False) -> None:
        self._old = old
        self._base_files = _list_files(data)
        super().__init__(name_changes(data / STORE, old.version + 1), old.version + 1, texts)

    def _look_below(self) -> None:
        self._db.executescript(REPLACED)
        layers = attach(self._db, self._base_files)
        self._newest = layers[-1]
        define_view(self._db, "below", layers)
        define_view(self._db, "documents", [*layers, "main"])
        self._db.execute("INSERT INTO main.cue_names SELECT id, name FROM layer0.cue_names")
        if self._has_texts:
            self.tables = TextTables(self._db, self.version, has_layers=True)
            define_text_views(self._db, [*layers, "main"])

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
        pairs = self._db.execute(f"SELECT target, pmid FROM {self._newest}.pointers").fetchall()
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
        if part := self._old.dense:
            # This update's documents may need a new vector.
            path = self.path.parent / part.changed
            before = path.read_text("utf-8") if path.exists() else ""
            pmids = self._db.execute("SELECT pmid FROM main.replaced UNION SELECT pmid FROM main.documents")
            write_atomically(path, before + "".join(f"{pmid}\n" for (pmid,) in pmids))
        super().finish()
        files = _list_files(self.path.parent)
        first = find_first([file.stat().st_size for file in files])
        if first < len(files) - 1:
            _fold(files[first:])


_SHARE = 2
"""A file is merged with those after it unless it is more than this many times their total size."""
_MOST = 4
"""The most files of changes: each adds about a millisecond to every look-up of a thousand documents."""
_PARTIAL = "merging.sqlite"


def find_first(sizes: Sequence[int]) -> int:
    """The index of the first file (oldest first) from which on all are to be merged; the last index if none are."""
    first = len(sizes) - 1
    while first and (sizes[first - 1] <= _SHARE * sum(sizes[first:]) or first > _MOST):
        first -= 1
    return first


def _list_files(data: Path) -> list[Path]:
    return [data / STORE, *list_changes(data / STORE)]


def _fold(files: Sequence[Path]) -> None:
    """Apply the changes of the later files to a copy of the first, which replaces them all."""
    oldest, *changes = files
    partial = oldest.with_name(_PARTIAL)
    shutil.copyfile(oldest, partial)
    with closing(sqlite3.connect(partial, isolation_level=None, uri=True)) as db:
        # No reader sees this file before the manifest names its folder, and a stopped update deletes it.
        db.execute("PRAGMA journal_mode=OFF")
        db.executescript(POINTERS)
        layers = attach(db, changes)
        if any(has_texts(db, layer) for layer in layers):
            db.executescript(TEXT_SCHEMA + (REPLACED_TEXTS_SCHEMA if oldest.name != STORE else ""))
        db.execute("BEGIN")
        for layer in layers:
            _apply(db, layer, keep_replaced=oldest.name != STORE)
        if layers:
            db.execute("DELETE FROM main.pointers")
            db.execute(f"INSERT INTO main.pointers SELECT target, pmid FROM {layers[-1]}.pointers")
        db.execute("COMMIT")
    for file in files:
        file.unlink()
    os.replace(partial, oldest if oldest.name == STORE else files[-1])


def _apply(db: sqlite3.Connection, layer: str, keep_replaced: bool) -> None:
    db.execute(f"DELETE FROM main.documents WHERE pmid IN (SELECT pmid FROM {layer}.replaced)")
    db.execute(f"INSERT OR REPLACE INTO main.documents ({COLUMNS}, written) SELECT {COLUMNS}, written FROM {layer}.documents")
    if keep_replaced:
        db.execute(f"INSERT OR IGNORE INTO main.replaced SELECT pmid FROM {layer}.replaced")
    if has_texts(db, layer):
        for table, columns in ((TEXTS, TEXT_COLUMNS), (BLOCKS, BLOCK_COLUMNS)):
            db.execute(f"DELETE FROM main.{table} WHERE pmid IN (SELECT pmid FROM {layer}.{REPLACED_TEXTS})")
            db.execute(f"INSERT OR REPLACE INTO main.{table} ({columns}) SELECT {columns} FROM {layer}.{table}")
        if keep_replaced:
            db.execute(f"INSERT OR IGNORE INTO main.{REPLACED_TEXTS} SELECT pmid FROM {layer}.{REPLACED_TEXTS}")


_QUICK = 32 << 20
"""Lucene files of fewer bytes (some 120,000 abstracts) merge into one segment in about a second, so every update merges them."""

_SPARED_SECONDS = 600.0
"""A replaced version is kept at least this long: services look for a new one every few seconds, and requests take minutes."""


def update(
    folder: Path,
    paths: Sequence[Path],
    format: str = "auto",
    skip_bad: int = 0,
    alone: bool = False,
    columns: Columns | None = None,
    full_texts: Sequence[Path] = (),
) -> BuildReport:
    """Replace documents by PMID, apply deletions, mark retractions, and put the new version in place at once.

    Queries see the old version until the last moment; it is kept for at least ten minutes, and until the next update, for readers
    that still have it open. An update that does not finish leaves the index as it was. In a large index, replaced and deleted
    documents count in BM25's statistics until Lucene merges them away by itself, or `merge` does. `alone` says that this process
    does nothing else with Java; `columns` maps the columns of CSV files, `full_texts` are files, folders and archives of papers.
    """
    read_manifest(folder)
    inputs = find_inputs(paths, format, skip_bad, columns, full_texts)
    if alone:
        expect_inputs(inputs)
    with _change(folder, "the update") as old:
        plan.check_settings(old, f"at {folder}")
        texts = bool(old.texts or full_texts)
        with _start_version(folder, old) as data, closing(ChangesWriter(data, old, texts)) as store:
            sizes = [sum(size for name, size in old.files.items() if name.startswith(f"{part}/")) for part in (LUCENE, PASSAGES)]
            lucene = LuceneWriters.open(data, True, old.analyzer, texts, (sizes[0] < _QUICK, sizes[1] < _QUICK))
            report = fill_index(store, lucene, inputs, old)
            report.manifest.write(folder)
    return report


def merge(folder: Path, analyzer: str | None = None) -> Manifest:
    """Merge all documents into one file and one Lucene segment, without replaced or deleted ones; all or nothing.

    With `analyzer` the stored texts are indexed anew with that one; the vectors stay as they are.
    """
    read_manifest(folder)
    if analyzer:
        check_analyzer(analyzer)
    with _change(folder, "the merge") as old, _start_version(folder, old) as data:
        _fold(_list_files(data))
        texts = bool(old.texts)
        if analyzer:
            changes = _index_anew(data, texts)
            _finish(LuceneWriters.open(data, False, analyzer, texts), changes)
        else:
            _finish(LuceneWriters.open(data, True, old.analyzer, texts))
        manifest = replace(
            old,
            # Sentences and cues are those that the store has.
            settings=plan.list_settings(analyzer, old.format) | {"cues": old.settings["cues"]} if analyzer else old.settings,
            version=old.version + 1,
            data=data.name,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            files=list_data_files(data),
        )
        manifest.write(folder)
    return manifest


def _index_anew(data: Path, texts: bool) -> Iterator[Change]:
    """All that is stored, in batches, for new Lucene indexes."""
    with closing(open_read_only(data / STORE)) as db, closing(Store(data / STORE)) as store:
        for rows in read_rows(db):
            stored = store.full_texts([row[0] for row, _ in rows]) if texts else {}
            passages = [one for row, _ in rows if row[0] in stored for one in list_passages(stored[row[0]], row[1])]
            yield Change([], [take_text(row) for row, _ in rows], [], passages)


def _finish(lucene: LuceneWriters, changes: Iterable[Change] = ()) -> None:
    """Index these, in batches, and close the indexes."""
    try:
        for change in changes:
            lucene.apply(change)
        lucene.finish()
    finally:
        lucene.abandon()


@contextmanager
def _change(folder: Path, what: str) -> Iterator[Manifest]:
    """Lock the index against other writers; yield its current manifest."""
    with (
        report_interrupt("the index", "the index is as it was before"),
        translate_write_errors(what, folder, f"the index is as it was before: {AGAIN}"),
        hold_lock(folder),
    ):
        # Read under the lock: another update may just have ended.
        yield read_manifest(folder)


@contextmanager
def _start_version(folder: Path, old: Manifest) -> Iterator[Path]:
    """A data folder for the next version, with the previous version's files; removed again if the block fails."""
    data = folder / name_data(old.version + 1)
    shutil.rmtree(data, ignore_errors=True)
    try:
        link_files(folder / old.data, data)
        link_files(folder / old.data / LUCENE, data / LUCENE)
        if old.texts:
            link_files(folder / old.data / PASSAGES, data / PASSAGES)
        if old.dense:
            # The vectors match the previous texts until `counterpoint index dense` updates them: it encodes only what changed.
            link_files(folder / old.data / DENSE, data / DENSE)
        yield data
    except BaseException:
        shutil.rmtree(data, ignore_errors=True)
        raise
    _drop_old(folder)


def _drop_old(folder: Path) -> None:
    """Remove the data of versions replaced some time ago: a service may not have noticed the latest updates yet."""
    versions = sorted(folder.glob("v[0-9]*"), key=lambda path: int(path.name[1:]))
    for version, next_one in pairwise(versions[:-1]):
        # Its successor was last changed when the update that made it ended, or a little before.
        if time.time() - next_one.stat().st_mtime > _SPARED_SECONDS:
            shutil.rmtree(version, ignore_errors=True)
