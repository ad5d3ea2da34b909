"""What an index says of itself: `manifest.json`, the one file that makes a folder an index.

It names the folder that holds the data, so that an update appears by replacing this file and not at all before.
"""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from retrieval.errors import IndexUnusable, writing

# Raised whenever the store or the Lucene index changes in a way that older code misreads.
FORMAT = 1
NAME = "manifest.json"
LUCENE, STORE = "lucene", "store.sqlite"


@dataclass(frozen=True)
class Source:
    """A file that went into an index."""

    path: str
    format: str
    bytes: int
    records: int
    bad: int = 0


@dataclass(frozen=True)
class Counts:
    """What is in an index."""

    documents: int
    sentences: int
    cues: int
    cue_sentences: int
    retracted: int


@dataclass(frozen=True)
class Manifest:
    """An index's counts, where it came from, how it was made, and the size of every file it needs.

    `corpus_sha256` is over (pmid, title, abstract) in the order of pmid: two indexes with equal hashes hold the same texts.
    `data` is the subfolder of this version; `version` counts builds and updates.
    """

    format: int
    version: int
    data: str
    created: str
    counts: Counts
    corpus_sha256: str
    sources: tuple[Source, ...]
    settings: dict[str, Any]
    versions: dict[str, str]
    files: dict[str, int] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """A short name for the texts and the way they were indexed; runs and evaluations carry it."""
        return f"{self.corpus_sha256[:12]}-f{self.format}"

    def write(self, folder: Path) -> None:
        """Put the manifest in place whole, or leave what was there."""
        with writing("the index's manifest", folder, "free some space and run the same command again"):
            write_atomically(folder / NAME, json.dumps(asdict(self), indent=2) + "\n")


def write_atomically(path: Path, text: str) -> None:
    """Write a file so that a reader sees the old one or the whole new one, never a part, even after a power cut."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        # mkstemp makes files for the owner's eyes only; results are meant to be read like any other file.
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def data_files(folder: Path) -> dict[str, int]:
    """The size in bytes of every file under `folder`, by its path relative to it."""
    return {
        str(path.relative_to(folder)): path.stat().st_size
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "write.lock"
    }


def read_manifest(folder: Path) -> Manifest:
    """Read and check an index's manifest; every way in which a folder is not a usable index gives its own sentence."""
    if not folder.exists():
        raise IndexUnusable(f"There is no index at {folder}; build one with `counterpoint index build SOURCE --out {folder}`.")
    if not folder.is_dir():
        raise IndexUnusable(
            f"{folder} is a file, and an index is a folder; name the folder that `counterpoint index build` made."
        )
    path = folder / NAME
    if not path.exists():
        what = "empty" if not any(folder.iterdir()) else f"not an index (it has no {NAME})"
        raise IndexUnusable(f"The folder {folder} is {what}; build one with `counterpoint index build SOURCE --out NEW_FOLDER`.")
    damaged = f"The index at {folder} is damaged: {{}}; build it again with `counterpoint index build`."
    try:
        data = json.loads(path.read_text("utf-8"))
        found = data["format"]
    except (OSError, UnicodeDecodeError, ValueError, KeyError, TypeError):
        raise IndexUnusable(damaged.format(f"its {NAME} cannot be read")) from None
    if found != FORMAT:
        raise IndexUnusable(
            f"The index at {folder} has format {found} and this Counterpoint reads format {FORMAT}; "
            "build it again, or use the Counterpoint that made it."
        )
    try:
        manifest = _from_dict(data)
    except (KeyError, TypeError, AttributeError):
        raise IndexUnusable(damaged.format(f"its {NAME} lacks entries")) from None
    for name, size in manifest.files.items():
        file = folder / manifest.data / name
        if not file.is_file():
            raise IndexUnusable(damaged.format(f"the file {manifest.data}/{name} is missing"))
        if file.stat().st_size != size:
            raise IndexUnusable(
                damaged.format(f"{manifest.data}/{name} has {file.stat().st_size:,} bytes and should have {size:,}")
            )
    return manifest


def _from_dict(data: dict[str, Any]) -> Manifest:
    known = {f.name for f in fields(Manifest)}
    data = {key: value for key, value in data.items() if key in known}
    data["counts"] = Counts(**data["counts"])
    data["sources"] = tuple(Source(**source) for source in data["sources"])
    return Manifest(**data)
