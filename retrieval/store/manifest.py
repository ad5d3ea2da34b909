"""The manifest of an index: `manifest.json`, the one file that makes a folder an index.

It names the subfolder that holds the data, so that an update becomes visible only when this file is replaced.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import IO, Any, Literal

from counterpoint.retrieval.bm25.analysis import ANSERINI, TEXT_ANALYZERS
from counterpoint.retrieval.core.english import format_count
from counterpoint.retrieval.core.errors import IndexUnusable, translate_write_errors

WITH_TEXTS = 5
"""The format of an index with full texts, which has tables and a Lucene index for them beside those of `FORMAT`."""
FORMAT = 4
"""Increased whenever the store or the Lucene index changes in a way that older code would misread."""
FORMATS = (FORMAT, WITH_TEXTS)
NAME = "manifest.json"
LUCENE, STORE, DENSE, PASSAGES = "lucene", "store.sqlite", "dense", "passages"


@dataclass(frozen=True)
class IndexSource:
    """A file that went into an index: how many records it holds, and how many of them were left out, for what reason."""

    path: str
    format: str
    bytes: int
    records: int
    bad: int = 0
    without_abstract: int = 0
    repeated: int = 0


@dataclass(frozen=True)
class IndexCounts:
    """What is in an index."""

    documents: int
    sentences: int
    cues: int
    cue_sentences: int
    retracted: int


View = Literal["full", "short"]
"""What of a document is encoded: title and abstract, or title and last two sentences."""


@dataclass(frozen=True)
class DensePart:
    """The vectors of an index: the encoder that made them, the texts they were made of, and how FAISS keeps them.

    `corpus_sha256` is the manifest's own at that time: after an update they differ until the vectors are brought up to date.
    `factory` is the string that FAISS makes an index of; `stem` begins the names of the part's files; `view` is what was encoded
    of each document (indexes.vectors).
    """

    encoder: str
    width: int
    factory: str
    documents: int
    corpus_sha256: str
    stem: str
    view: View

    @property
    def vectors(self) -> str:
        """The FAISS index, by its path in the data folder."""
        return f"{self.stem}.faiss"

    @property
    def ids(self) -> str:
        """Which document stands behind each of its rows, likewise."""
        return f"{self.stem}.npy"

    @property
    def changed(self) -> str:
        """The PMIDs, a line each, that updates have written or deleted since, likewise."""
        return f"{self.stem}.changed"


@dataclass(frozen=True)
class TextPart:
    """The full texts of an index: how many there are and how many of them made a record of their own; their passages, sentences
    and tables that are pictures; how many have each format and each licence ("" if the file says none).

    `sha256` is the sum, modulo 2^256, of the SHA-256 of every text with its document's id.
    """

    texts: int
    own_records: int
    passages: int
    sentences: int
    pictures: int
    formats: dict[str, int]
    licences: dict[str, int]
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """An index's counts, where it came from, how it was made, and the size of every file it needs.

    `corpus_sha256` is the sum, modulo 2^256, of the SHA-256 of every document's pmid, title and abstract: two indexes with
    equal sums hold the same texts, in whatever order and format these came.
    `data` is the subfolder of this version; `version` counts builds and updates. `description` says in words what the documents
    are, if whoever built the index did.
    """

    format: int
    version: int
    data: str
    created: str
    counts: IndexCounts
    corpus_sha256: str
    sources: tuple[IndexSource, ...]
    settings: dict[str, Any]
    versions: dict[str, str]
    files: dict[str, int]
    dense: DensePart | None = None
    description: str = ""
    texts: TextPart | None = None

    @property
    def analyzer(self) -> str:
        """The analyzer of the text (retrieval.bm25.analysis), with which it is searched."""
        return str(self.settings["analyzer"].get("name", ANSERINI))

    @property
    def id(self) -> str:
        """A short name for the texts and the way they are searched, in however many files; runs and evaluations carry it."""
        texts = f"-t{self.texts.sha256[:8]}" if self.texts else ""
        return f"{self.corpus_sha256[:12]}-f{2 if self.analyzer == ANSERINI else 4}{texts}"

    @property
    def vectors_fit(self) -> bool:
        """Whether there are vectors, and they were made from exactly the current texts."""
        return self.dense is not None and self.dense.corpus_sha256 == self.corpus_sha256

    def describe_source(self) -> str:
        """What the documents are, in words to follow their number: as described, or else by the names of the files."""
        names = list(dict.fromkeys(Path(source.path).name for source in self.sources))
        more = f" and {format_count(len(names) - 1, 'more file')}" if names[1:] else ""
        return self.description or " from ".join(["documents", *names[:1]]) + more

    def to_json(self) -> dict[str, Any]:
        """As JSON; an index without full texts says nothing of them."""
        values = asdict(self)
        return values if self.texts else {name: value for name, value in values.items() if name != "texts"}

    def write(self, folder: Path) -> None:
        """Write the whole manifest, or leave the old one in place."""
        with translate_write_errors("the index's manifest", folder):
            write_atomically(folder / NAME, json.dumps(self.to_json(), indent=2) + "\n")


def write_atomically(path: Path, content: str | bytes | Callable[[IO[bytes]], object], mode: int = 0o666) -> None:
    """Write a file so that a reader sees the old one or the whole new one, never a part, even after a power cut.

    Content that is too long for the memory is a function that writes it. Only those whom `mode` and the umask allow can read it.
    """
    # Short, so that every name that a file may have can be written.
    temporary = path.with_name(f".{secrets.token_hex(8)}")
    try:
        with open(temporary, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
            if callable(content):
                content(file)
            else:
                file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def name_staging_folder(out: Path) -> Path:
    """Where an index is made before it appears at `out`: hidden, and on the same disk."""
    return out.parent / f".{out.name}.building"


def list_data_files(folder: Path) -> dict[str, int]:
    """The size in bytes of every file under `folder`, by its path relative to it."""
    return {
        str(path.relative_to(folder)): path.stat().st_size
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "write.lock"
    }


def read_manifest(folder: Path) -> Manifest:
    """Read and check an index's manifest; every way in which a folder is not a usable index gives its own sentence.

    Raises `IndexUnusable` for each.
    """
    try:
        return _read_manifest(folder)
    except OSError as error:
        raise IndexUnusable(f"The index at {folder} cannot be read ({error.strerror}); check its permissions.") from error


def _read_manifest(folder: Path) -> Manifest:
    if not folder.exists():
        if name_staging_folder(folder.resolve()).exists():
            raise IndexUnusable(
                f"The index at {folder} is not finished: its build is still running or was stopped; the same "
                "`counterpoint index build` resumes where it stopped."
            )
        raise IndexUnusable(f"There is no index at {folder}; build one with `counterpoint index build SOURCE --out {folder}`.")
    if not folder.is_dir():
        raise IndexUnusable(
            f"{folder} is a file, and an index is a folder; name the folder that `counterpoint index build` made."
        )
    path = folder / NAME
    if not path.exists():
        what = "empty" if not any(folder.iterdir()) else f"not an index (it has no {NAME})"
        raise IndexUnusable(f"The folder {folder} is {what}; build one with `counterpoint index build SOURCE --out NEW_FOLDER`.")
    template = f"The index at {folder} is damaged: {{}}; build it again with `counterpoint index build`."
    try:
        data = json.loads(path.read_text("utf-8"))
        format_number = data["format"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise IndexUnusable(template.format(f"its {NAME} cannot be read")) from None
    if format_number not in FORMATS:
        raise IndexUnusable(
            f"The index at {folder} has format {format_number} and this Counterpoint reads formats {FORMAT} and "
            f"{WITH_TEXTS}; build it again, or use the Counterpoint that made it."
        )
    try:
        manifest = parse_manifest(data)
        if STORE not in manifest.files:
            raise KeyError(STORE)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise IndexUnusable(template.format(f"its {NAME} has missing or wrong entries")) from None
    for name, size in manifest.files.items():
        if name.startswith(f"{DENSE}/"):
            continue  # without vectors the index is still of use: retrieval.dense.search checks them
        file = folder / manifest.data / name
        if not file.is_file():
            raise IndexUnusable(template.format(f"the file {manifest.data}/{name} is missing"))
        if file.stat().st_size != size:
            raise IndexUnusable(
                template.format(f"{manifest.data}/{name} has {file.stat().st_size:,} bytes and should have {size:,}")
            )
    return manifest


def parse_manifest(data: dict[str, Any]) -> Manifest:
    """The manifest of a JSON object; raises one of the builtin errors where that is not what `write` wrote."""
    counts = IndexCounts(**{name: int(count) for name, count in data["counts"].items()})
    sources = tuple(IndexSource(**source) for source in data["sources"])
    files = {str(name): int(size) for name, size in data["files"].items()}
    if not isinstance(data["data"], str):
        raise TypeError(data["data"])
    # An index without vectors says nothing of them; those of an earlier version, which named no view, are not read any more.
    dense = DensePart(**data["dense"]) if (data.get("dense") or {}).get("view") else None
    if dense and files and not {dense.vectors, dense.ids} <= files.keys():  # a cluster has no files
        raise KeyError(DENSE)
    texts = TextPart(**data["texts"]) if data.get("texts") else None
    values = {f.name: data[f.name] for f in fields(Manifest) if f.name not in ("dense", "description", "texts")}
    values.update(counts=counts, sources=sources, files=files, settings=dict(data["settings"]), versions=dict(data["versions"]))
    manifest = Manifest(**values, dense=dense, description=str(data.get("description", "")), texts=texts)
    if manifest.analyzer not in TEXT_ANALYZERS:
        raise ValueError(manifest.analyzer)
    return manifest
