"""Updating and merging an index in a folder: completely or not at all.

Each version of the data is a folder of its own, in which unchanged files are hard links, so that an update writes only what
changed; the version becomes visible when the manifest is replaced.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

from indexes import plan
from indexes.build import Files, detect_formats, expect_sources, fill_index, find_format, name_data
from indexes.changes import ChangesWriter, fold_all
from indexes.lucene_writer import LuceneWriter, link_files
from indexes.plan import hold_lock, report_interrupt
from indexes.readers import Columns
from indexes.reading import BuildReport
from retrieval.core.errors import AGAIN, translate_write_errors
from retrieval.store.manifest import DENSE, LUCENE, Manifest, list_data_files, read_manifest

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
) -> BuildReport:
    """Replace documents by PMID, apply deletions, mark retractions, and put the new version in place at once.

    Queries see the old version until the last moment; it is kept for at least ten minutes, and until the next update, for readers
    that still have it open. An update that does not finish leaves the index as it was. In a large index, replaced and deleted
    documents count in BM25's statistics until Lucene merges them away by itself, or `merge` does. `alone` says that this process
    does nothing else with Java; `columns` maps the columns of CSV files.
    """
    read_manifest(folder)
    files = detect_formats(paths, format, columns)
    if alone:
        expect_sources(files)
    with _change(folder, "the update") as old:
        plan.check_settings(old, f"at {folder}")
        with _start_version(folder, old) as data:
            report = _write_changes(data, old, files, skip_bad, columns)
            report.manifest.write(folder)
    return report


def merge(folder: Path) -> Manifest:
    """Merge all documents into one file and one Lucene segment, without replaced or deleted ones; all or nothing."""
    read_manifest(folder)
    with _change(folder, "the merge") as old, _start_version(folder, old) as data:
        fold_all(data, old.version, old.version + 1)
        lucene = LuceneWriter(data / LUCENE, append=True)
        try:
            lucene.finish()
        finally:
            lucene.abandon()
        manifest = replace(
            old,
            format=find_format(data),
            version=old.version + 1,
            data=data.name,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            files=list_data_files(data),
        )
        manifest.write(folder)
    return manifest


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


def _write_changes(data: Path, old: Manifest, files: Files, skip_bad: int, columns: Columns | None) -> BuildReport:
    quick = sum(size for name, size in old.files.items() if name.startswith(f"{LUCENE}/")) < _QUICK
    store = ChangesWriter(data, old)
    try:
        return fill_index(store, LuceneWriter(data / LUCENE, append=True, merge=quick), files, skip_bad, old, columns)
    finally:
        store.close()
