"""Building an index: whole or not at all, resumed where a killed build stopped.

There is one pass: each batch of records goes into the store with its sentences and cues, and into Lucene while the next batch is
read. Only the store records how far a build has come; a resumed build first gives Lucene what is in the store, then reads on.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from counterpoint.indexes import plan
from counterpoint.indexes.plan import LOCK, Inputs, make_folder, report_interrupt
from counterpoint.indexes.readers import CSV, Columns, SkipBad, check_columns, check_format, detect_format, sources
from counterpoint.indexes.sources import BATCH, BuildReport, describe_emptiness, read_all
from counterpoint.indexes.writer import LuceneWriters, StoreWriter
from counterpoint.retrieval.bm25.analysis import BIOMEDICAL, check_analyzer
from counterpoint.retrieval.bm25.lucene import expect_short_run
from counterpoint.retrieval.core.errors import GO_ON, BadInput, translate_write_errors
from counterpoint.retrieval.store.library import write_new_file
from counterpoint.retrieval.store.manifest import (
    FORMAT,
    LUCENE,
    NAME,
    PASSAGES,
    STORE,
    WITH_TEXTS,
    Manifest,
    list_data_files,
    name_staging_folder,
)

# Up to here (bytes of unpacked text, some 60,000 abstracts) Java's optimising compiler costs more than it gives back.
_BRIEF = 100_000_000


def build(
    paths: Sequence[Path],
    out: Path,
    format: str = "auto",
    skip_bad: int = 0,
    overwrite: bool = False,
    alone: bool = False,
    columns: Columns | None = None,
    description: str = "",
    analyzer: str = BIOMEDICAL,
    full_texts: Sequence[Path] = (),
) -> BuildReport:
    """Build an index of every document in `paths` (files or folders) at `out`; `description` says what they are, `analyzer` how
    their text becomes the terms of BM25 (`retrieval.bm25.analysis`). `full_texts` are files, folders and archives of the papers
    themselves (`indexes.full_texts`).

    The index is made in a hidden folder beside `out` and renamed at the end; with `overwrite`, it is made inside the existing
    index, which serves until the new one is complete. A build that was killed or ran out of disk resumes where it stopped when
    it is started again with the same sources. `alone` says that this process does nothing else with Java; `columns` maps the
    columns of CSV files (`indexes.readers.exports.table.NAMES`). Raises `BadInput` if `out` exists (unless `overwrite`) or a
    source cannot be read, `OutOfSpace` if the disk is full, `Interrupted` if the user stops it.
    """
    check_analyzer(analyzer)
    target = out.resolve()
    root = choose_root(out, overwrite)
    inputs = find_inputs(paths, format, skip_bad, columns, full_texts)
    if alone:
        expect_inputs(inputs)
    with report_interrupt("the index", "nothing was saved"), translate_write_errors("the index", out.parent), make_folder(root):
        old = _read_version(root)
        data = root / name_data(old + 1)
        fingerprint = plan.make_fingerprint(inputs, analyzer)
        with _open_or_restart(data, old + 1, fingerprint, bool(full_texts)) as store:
            lucene = LuceneWriters.open(data, False, analyzer, bool(full_texts))
            report = fill_index(store, lucene, inputs, None, description, analyzer)
            write_new_file(root)
            report.manifest.write(root)
        if root == target:
            drop_others(root, keep=(name_data(old), data.name))
        else:
            (root / LOCK).unlink()
            os.rename(root, target)
    return report


def expect_inputs(inputs: Inputs) -> None:
    """Configure Java for the size of this process's only job."""
    size = sum(path.stat().st_size * (4 if path.suffix == ".gz" else 1) for path, _ in inputs.files)
    if size < _BRIEF and not inputs.full_texts:
        expect_short_run()


def find_inputs(paths: Sequence[Path], format: str, skip_bad: int, columns: Columns | None, full_texts: Sequence[Path]) -> Inputs:
    """The files of these paths (files or folders), each with its format, and these full texts.

    Raises `BadInput` if one cannot be read, but leaves a format open if whatever cannot be read is left out (`SkipBad.ALL`).
    """
    check_format(format)
    check_columns(columns or {})
    files = list[tuple[Path, str]]()
    for path in sources(paths):
        try:
            files.append((path, detect_format(path, columns) if format == "auto" else format))
        except BadInput:
            if skip_bad != SkipBad.ALL:
                raise
            files.append((path, "auto"))
    if columns and CSV not in (kind for _, kind in files):
        raise BadInput("--column names a column of a CSV file, and none of the sources is one; leave it out.")
    for path in full_texts:
        if not path.exists():
            raise BadInput(f"{path} does not exist; --full-text names a file, a folder or an archive of full texts.")
    return Inputs(files, skip_bad, columns, full_texts)


def choose_root(out: Path, overwrite: bool) -> Path:
    """The folder to work in; raises `BadInput` if `out` holds something, unless that is an index and may be overwritten."""
    target = out.resolve()
    if not target.exists() or (target.is_dir() and not any(target.iterdir())):
        if os.path.ismount(target):
            raise BadInput(f"{out} is a mount point, and a finished index is renamed into place; name a new folder inside it.")
        return name_staging_folder(target)
    if not (target / NAME).is_file() or not any(target.glob(f"v[0-9]*/{LUCENE}")):
        raise BadInput(f"{out} exists and is not an index, so it is not overwritten; name a new folder.")
    if not overwrite:
        raise BadInput(f"{out} already exists; name a new folder, or add --overwrite to replace it when the build is done.")
    return target


def name_data(version: int) -> str:
    """The folder of a version's data."""
    return f"v{version:04d}"


def _read_version(root: Path) -> int:
    """The version of the index in `root`, which may be damaged or of another format; 0 where there is none."""
    try:
        return int(json.loads((root / NAME).read_text("utf-8"))["version"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return 0


def drop_others(folder: Path, keep: Sequence[str]) -> None:
    """Remove the data of versions that no reader should still have open."""
    for leftover in folder.glob("v[0-9]*"):
        if leftover.name not in keep:
            shutil.rmtree(leftover, ignore_errors=True)


def fill_index(
    store: StoreWriter,
    lucene: LuceneWriters,
    inputs: Inputs,
    old: Manifest | None = None,
    description: str = "",
    analyzer: str = BIOMEDICAL,
) -> BuildReport:
    """Read every source into the store and into Lucene, and report the result; `old` is the manifest an update starts from."""
    try:
        held = old.counts.documents if old else index_stored(store, lucene)
        reading = read_all(store, lucene, inputs, held)
        summary, part = store.summary(), store.summarise_texts()
        if not summary[0].documents:
            raise BadInput(describe_emptiness(reading))
        lucene.finish()
        store.finish()
    finally:
        lucene.abandon()
    data = store.path.parent
    if part is None:
        shutil.rmtree(data / PASSAGES, ignore_errors=True)
    manifest = plan.make_manifest(
        store.version,
        data.name,
        summary,
        reading.sources,
        old,
        list_data_files(data),
        format=WITH_TEXTS if part else FORMAT,
        description=description,
        analyzer=analyzer,
        texts=part,
    )
    return reading.report(manifest, old)


def index_stored(store: StoreWriter, lucene: LuceneWriters) -> int:
    """Give Lucene the documents and the passages that a store holds already; returns how many documents these are."""
    held = 0
    for texts in store.texts(BATCH):
        lucene.documents.add(texts)
        held += len(texts)
    if lucene.passages:
        for passages in store.passages(BATCH):
            lucene.passages.add(passages)
    return held


@contextmanager
def _open_or_restart(data: Path, version: int, fingerprint: str, texts: bool) -> Iterator[StoreWriter]:
    """The unfinished store of an earlier attempt at the same build, else an empty one; after a failure it is kept if it holds
    documents, so that the same build resumes with them."""
    worth_keeping = False
    try:
        store = _open_store(data, version, fingerprint, texts)
        try:
            yield store
        except BaseException as error:
            worth_keeping = store.holds_documents()
            if worth_keeping:
                _say_what_is_kept(error, data.parent.parent)
            raise
        finally:
            store.close()
    except BaseException:
        if not worth_keeping:
            shutil.rmtree(data, ignore_errors=True)
        raise


def _say_what_is_kept(error: BaseException, where: Path) -> None:
    """Raise an error that says how to go on with what was read, or say it in one that has another message."""
    advice = "what was read so far is saved, and the same command resumes from there"
    with report_interrupt("the index", advice), translate_write_errors("the index", where, GO_ON):
        if isinstance(error, BadInput):
            error.args = (
                f"{str(error).rstrip('.')}; what was read before is kept, and a build of the same files goes on there.",
            )
        raise error


def _open_store(data: Path, version: int, fingerprint: str, texts: bool) -> StoreWriter:
    if (data / STORE).exists():
        with suppress(Exception):
            store = StoreWriter(data / STORE, version)
            if store.plan() == fingerprint:
                return store
            store.close()
    shutil.rmtree(data, ignore_errors=True)
    data.mkdir()
    store = StoreWriter(data / STORE, version, texts)
    store.set_plan(fingerprint)
    return store
