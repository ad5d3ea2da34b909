"""Building, updating and copying an index wherever it is: in a folder or on a cluster.

A copy from one to the other is unchanged: no text is split or scanned again.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from tqdm import tqdm

from indexes import build as embedded
from indexes import plan
from indexes import update as updating
from indexes.cluster.building import (
    build_on_cluster,
    choose_name,
    count,
    finish_copies,
    merge_segments,
    open_or_restart,
    put_in_place,
    read_version,
    update_on_cluster,
    write_manifest,
)
from indexes.cluster.bulk import BulkSender, index_action
from indexes.cluster.writer import WriteLock, drop_progress
from indexes.lucene_writer import LuceneWriter
from indexes.plan import hold_lock, report_interrupt
from indexes.readers import Columns
from indexes.reading import BuildReport
from indexes.writer import StoreWriter
from retrieval.bm25.lucene import make_contents
from retrieval.cluster.client import Address, is_address, read_address, translate_faults
from retrieval.cluster.mapping import make_source, read_row, read_state
from retrieval.cluster.search import ClusterDocuments
from retrieval.core.errors import IndexUnusable
from retrieval.store.documents import COLUMNS, Row, open_read_only
from retrieval.store.journal import hash_json
from retrieval.store.manifest import FORMAT, LUCENE, STORE, Manifest, list_data_files, name_staging_folder, read_manifest

_BATCH = 1000


def copy_to_cluster(folder: Path, address: Address, overwrite: bool = False) -> Manifest:
    """Copy an embedded index to a cluster, without its vectors; a stopped copy resumes where it was.

    Raises `IndexUnusable` for an index with another analysis, and if the copy differs in the end.
    """
    manifest = read_manifest(folder)
    _check_settings(manifest, str(folder))
    with translate_faults(address):
        name, _ = choose_name(address, overwrite)
        fingerprint = hash_json([manifest.corpus_sha256, manifest.version, manifest.created, str(folder.resolve())])
        progress = open_or_restart(address, name, fingerprint, manifest.version)
    sender = BulkSender(address, name)
    with (
        WriteLock(address, name) as lock,
        closing(open_read_only(folder / manifest.data / STORE)) as store,
        tqdm(total=manifest.counts.documents, desc=f"Copying to {address}", unit=" documents", disable=None) as bar,
    ):
        try:
            for rows in _read_rows(store, progress.last):
                sender.send([index_action(row[0], make_source(row, version, 1), 1) for row, version in rows])
                # What was sent earlier is in by now; a resumed copy sends the batch just sent again.
                progress.write(address, name)
                progress.last = rows[-1][0][0]
                lock.renew()
                bar.update(len(rows))
            sender.wait()
        finally:
            sender.close()
        finish_copies(address, name)
        new_manifest = replace(
            manifest,
            format=FORMAT,
            data=name,
            files={},
            dense=None,
            versions=manifest.versions | {"opensearch": read_version(address)},
        )
        _check_same(new_manifest, count(address, name), str(address))
        write_manifest(address, name, new_manifest, dict(store.execute("SELECT id, name FROM cue_names")))
        put_in_place(address, name)
        drop_progress(address, name)
    return new_manifest


def copy_to_folder(address: Address, out: Path) -> Manifest:
    """Copy an index from a cluster into a new folder; raises as `copy_to_cluster` does."""
    embedded.check_target(out, overwrite=False)
    state = read_state(address)
    _check_settings(state.manifest, str(address))
    root = name_staging_folder(out.resolve())
    root.mkdir(parents=True, exist_ok=True)
    data = root / "v0001"
    with hold_lock(root):
        data.mkdir(exist_ok=True)
        (data / STORE).unlink(missing_ok=True)
        store, lucene = StoreWriter(data / STORE, state.manifest.version), LuceneWriter(data / LUCENE, append=False)
        try:
            store.name_cues(state.cue_names)
            with tqdm(total=state.manifest.counts.documents, desc=f"Copying to {out}", unit=" documents", disable=None) as bar:
                for batch in ClusterDocuments(address, state).pages(_BATCH):
                    rows = [(read_row(source), int(source["written"])) for source in batch]
                    store.adopt(rows)
                    lucene.add((row[0], make_contents(row[1], row[2])) for row, _ in rows)
                    bar.update(len(rows))
            summary = store.summary()
            lucene.finish()
            store.finish()
        finally:
            lucene.abandon()
            store.close()
        new_manifest = replace(state.manifest, data=data.name, files=list_data_files(data), versions=plan.list_versions())
        _check_same(new_manifest, summary, str(out))
        new_manifest.write(root)
    (root / ".lock").unlink(missing_ok=True)
    os.rename(root, out.resolve())
    return new_manifest


def _check_settings(manifest: Manifest, place: str) -> None:
    """Raise unless both sides search texts alike; a different cue list is copied unchanged, and refused by an update."""
    settings = plan.list_settings()
    if any(manifest.settings.get(key) != settings[key] for key in ("analyzer", "bm25", "contents")):
        raise IndexUnusable(
            f"The index {place} was made by another version of Counterpoint (format {manifest.format}), which cannot be copied; "
            "build it again with `counterpoint index build`."
        )


def _check_same(manifest: Manifest, summary: tuple[Any, str], place: str) -> None:
    counts, digest = summary
    if digest != manifest.corpus_sha256 or counts != manifest.counts:
        raise IndexUnusable(
            f"The copy at {place} is not the same ({counts.documents:,} documents instead of {manifest.counts.documents:,}, or "
            "other texts): the index was changed while it was copied; copy it again."
        )


def _read_rows(store: sqlite3.Connection, last: str) -> Iterator[list[tuple[Row, int]]]:
    """The rows of a store by PMID, in batches, from after `last`, each with the version that wrote it."""
    statement = f"SELECT {COLUMNS}, written FROM documents WHERE pmid > ? ORDER BY pmid LIMIT {_BATCH}"
    while rows := store.execute(statement, (last,)).fetchall():
        yield [(row[:-1], int(row[-1])) for row in rows]
        last = rows[-1][0]


def build_at(
    paths: Sequence[Path],
    out: Path,
    format: str = "auto",
    skip_bad: int = 0,
    overwrite: bool = False,
    columns: Columns | None = None,
    description: str = "",
) -> BuildReport:
    """Build an index of every document in `paths` in the folder or at the address `out` (`indexes.build.build`)."""
    if not is_address(out):
        return embedded.build(paths, out, format, skip_bad, overwrite, alone=True, columns=columns, description=description)
    with report_interrupt("the index", "what was read so far is saved, and the same command resumes from there"):
        address, files = read_address(out), embedded.detect_formats(paths, format, columns)
        return build_on_cluster(address, files, skip_bad, overwrite, columns, description)


def update_at(
    index: Path, paths: Sequence[Path], format: str = "auto", skip_bad: int = 0, columns: Columns | None = None
) -> BuildReport:
    """Update the index in a folder or at an address (`indexes.update.update`)."""
    if not is_address(index):
        return updating.update(index, paths, format, skip_bad, alone=True, columns=columns)
    with report_interrupt("the update", "the same command resumes from there"):
        return update_on_cluster(read_address(index), embedded.detect_formats(paths, format, columns), skip_bad, columns)


def merge_at(index: Path) -> None:
    """Merge the index in a folder or at an address, so that replaced and deleted documents no longer count in statistics."""
    if is_address(index):
        address = read_address(index)
        merge_segments(address, read_state(address).name)
    else:
        updating.merge(index)


def check_target(out: Path, overwrite: bool) -> None:
    """Raise `BadInput`, as `build_at` would, if no index can be built at `out`."""
    if not is_address(out):
        embedded.check_target(out, overwrite)
        return
    address = read_address(out)
    with translate_faults(address):
        choose_name(address, overwrite)
