"""Adding the dense part to an index: every document's vector, made once per text, in one FAISS index beside Lucene's.

Vectors that are made but not yet in an index are kept batch by batch under the hash of their text, so that none is made twice.
That cache lies in the index's folder, not in a version's: an update between two attempts loses nothing that was already encoded.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from indexes.plan import hold_lock, report_interrupt
from retrieval.bm25.lucene import make_contents
from retrieval.core.code_hash import hash_code
from retrieval.core.errors import BadConfig, BadInput, IndexUnusable, ModelUnusable, translate_write_errors
from retrieval.core.values import Document
from retrieval.dense.encoder import Encoder, Vectors
from retrieval.dense.search import DenseIndex, pack_ids, read_ids
from retrieval.store.documents import Store
from retrieval.store.manifest import DENSE, STORE, DensePart, Manifest, list_data_files, read_manifest, write_atomically

NAME = ".vectors.building"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS encoder (name TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS vectors (text TEXT PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID;
"""
_DAMAGED = ("SQLITE_NOTADB", "SQLITE_CORRUPT")


class VectorCache:
    """The vectors that `encoder` has made so far, in one SQLite file; a damaged file, or another encoder's, is discarded.

    `encoder` names the model and the code that runs it.
    """

    def __init__(self, folder: Path, encoder: str) -> None:
        self._path = folder / NAME
        self._db = _connect(self._path)
        try:
            rows = _prepare(self._db).execute("SELECT name FROM encoder").fetchall()
        except sqlite3.DatabaseError as error:
            # A full disk is no reason to discard what was made.
            if error.sqlite_errorname not in _DAMAGED:
                raise
            rows = []
        if rows != [(encoder,)]:
            self.drop()
            self._db = _connect(self._path)
            _prepare(self._db).execute("INSERT INTO encoder VALUES (?)", (encoder,))

    def get(self, texts: Sequence[str]) -> dict[str, Vectors]:
        """The vectors [width] in the cache for these texts, by hash; `texts` are hashes."""
        marks = ",".join("?" * len(texts))
        try:
            rows = self._db.execute(f"SELECT text, vector FROM vectors WHERE text IN ({marks})", list(texts)).fetchall()
        except sqlite3.DatabaseError as error:
            raise IndexUnusable(f"{self._path} cannot be read ({error}); delete it and start again.") from error
        return {text: np.frombuffer(vector, dtype="<f4") for text, vector in rows}

    def put(self, texts: Sequence[str], vectors: Vectors) -> None:
        """Keep a batch, `vectors` [texts, width]: all of it or, if the disk is full, none of it; `texts` are hashes."""
        rows = [(text, vector.astype("<f4").tobytes()) for text, vector in zip(texts, vectors, strict=True)]
        self._db.execute("BEGIN")
        try:
            self._db.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)
            self._db.execute("COMMIT")
        except BaseException:
            # If the disk was full, SQLite itself has rolled back.
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise

    def close(self) -> None:
        """Close the file; what was kept stays."""
        self._db.close()

    def drop(self) -> None:
        """Close the file and delete it: its vectors are in the index now, or useless."""
        self.close()
        for suffix in ("", "-wal", "-shm"):
            self._path.with_name(NAME + suffix).unlink(missing_ok=True)


def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, isolation_level=None)


def _prepare(db: sqlite3.Connection) -> sqlite3.Connection:
    # As in the store: survives a killed process, and nobody else reads it.
    db.execute("PRAGMA locking_mode=EXCLUSIVE")
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA synchronous=NORMAL")
    db.executescript(_SCHEMA)
    return db


FLAT = "Flat"
"""Exact search: full vectors, each compared with every query. Other FAISS factory strings trade exactness for space or time."""
_BATCH = 64
_Lookup = Callable[[list[str]], dict[str, Vectors]]


@dataclass(frozen=True)
class DenseReport:
    """The result: the dense part, and how many documents were encoded for it; the others already had vectors."""

    part: DensePart
    encoded: int


def add_vectors(folder: Path, encoder: Encoder, overwrite: bool = False, factory: str = FLAT) -> DenseReport:
    """Give the index in `folder` the vectors that `encoder` makes, or bring those it has up to date.

    Only texts without a vector are encoded. An attempt that was stopped or killed resumes where it was; searches see the new
    vectors once all are there. With `overwrite` the vectors of another encoder are replaced, and every document is encoded
    again.
    """
    read_manifest(folder)
    command = f"`counterpoint index dense {folder}{' --overwrite' if overwrite else ''}` with the same profile"
    with (
        report_interrupt("the dense part", f"the vectors encoded so far are saved, and {command} resumes from there"),
        translate_write_errors(
            "the vectors", folder, f"those encoded so far are saved: free some space, and {command} resumes from there"
        ),
        hold_lock(folder),
    ):
        manifest = read_manifest(folder)
        old = None if overwrite else manifest.dense
        if old and (old.encoder, old.factory) != (encoder.name, factory):
            raise BadInput(
                f"The index at {folder} has vectors of {old.encoder} ({old.factory}); add --overwrite to replace them with those "
                f"of {encoder.name} ({factory})."
            )
        if old and manifest.vectors_fit:
            return DenseReport(old, 0)
        return _make_vectors(folder, manifest, encoder, factory, old)


def _make_vectors(folder: Path, manifest: Manifest, encoder: Encoder, factory: str, old: DensePart | None) -> DenseReport:
    data = folder / manifest.data
    cache = VectorCache(folder, f"{encoder.name} {hash_code([type(encoder).__module__])}")
    with closing(cache):
        vectors = _VectorSource(encoder, cache, _load_old_vectors(data, old) if old else lambda _: {})
        index: Any = None
        pmids: list[str] = []
        texts: list[str] = []
        with tqdm(desc="vectors", total=manifest.counts.documents, unit=" documents", disable=None, mininterval=0.5) as bar:
            for documents in _read_documents(data / STORE, bar):
                hashes = [hash_text(document) for document in documents]
                batch = vectors(hashes, documents)
                index = index if index is not None else _make_empty(batch.shape[1], factory)
                index.add(batch)
                pmids.extend(document.pmid for document in documents)
                texts.extend(hashes)
        if index is None:
            raise BadInput(f"No document in the index at {folder} contains a word, so there is nothing to encode.")
        stem = f"{DENSE}/{_hash_files(encoder.name, factory, manifest.corpus_sha256)[:12]}"
        part = DensePart(encoder.name, index.d, factory, len(pmids), manifest.corpus_sha256, stem)
        _write(data, part, index, pmids, texts)
        _put_in_place(folder, manifest, part)
        cache.drop()
    return DenseReport(part, vectors.encoded)


class _VectorSource:
    """Vectors for batches of documents: known ones, and the encoder's for the rest, which are kept as soon as they are made."""

    def __init__(self, encoder: Encoder, cache: VectorCache, lookup: _Lookup) -> None:
        self._encoder, self._cache, self._lookup = encoder, cache, lookup
        self.encoded = 0

    def __call__(self, hashes: list[str], documents: list[Document]) -> Vectors:
        vectors = self._lookup(hashes)
        vectors.update(self._cache.get([text for text in hashes if text not in vectors]))
        new = {text: document for text, document in zip(hashes, documents, strict=True) if text not in vectors}
        if new:
            new_vectors = self._encoder.documents(list(new.values()))
            if not np.isfinite(new_vectors).all():
                raise ModelUnusable(
                    f"The encoder {self._encoder.name} returned values that are not numbers; fetch or install its weights again."
                )
            self._cache.put(list(new), new_vectors)
            self.encoded += len(new)
            vectors.update(zip(new, new_vectors, strict=True))
        return np.stack([vectors[text] for text in hashes]).astype(np.float32)


def hash_text(document: Document) -> str:
    """A hash of all that an encoder reads, which shows whether a document's vector is still current."""
    return _hash_files(document.title, document.abstract)[:24]


def _hash_files(*parts: str) -> str:
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()


def _read_documents(store: Path, bar: tqdm[Any]) -> Iterator[list[Document]]:
    """The documents of a store by PMID, in batches, except those without words: BM25 does not find them either."""
    with closing(Store(store)) as reader:
        for batch in reader.texts(_BATCH):
            documents = [Document(*text) for text in batch if make_contents(*text[1:])]
            if documents:
                yield documents
            bar.update(len(batch))


def _load_old_vectors(data: Path, old: DensePart) -> _Lookup:
    """The vectors of an earlier version, by the hash of the text; none if FAISS stores only approximations of them."""
    if old.factory != FLAT:
        return lambda _: {}
    index = DenseIndex(data, old)
    rows = {text: row for row, text in enumerate(read_ids(data / old.ids)[1])}

    def look_up(texts: list[str]) -> dict[str, Vectors]:
        hits = [text for text in texts if text in rows]
        return dict(zip(hits, index.vectors([rows[text] for text in hits]), strict=True)) if hits else {}

    return look_up


def _make_empty(width: int, factory: str) -> Any:
    import faiss

    try:
        index = faiss.index_factory(width, factory, faiss.METRIC_INNER_PRODUCT)
    except RuntimeError as error:
        raise BadConfig(
            f"FAISS cannot make an index {factory!r} for vectors of {width} dimensions; give a factory string such as Flat."
        ) from error
    if not index.is_trained:
        raise BadConfig(
            f"A FAISS index of {factory!r} must be trained first, which is not supported; choose Flat, SQfp16 or HNSW32."
        )
    return index


def _write(data: Path, part: DensePart, index: Any, pmids: list[str], texts: list[str]) -> None:
    """Write the part's files completely, under names that nothing refers to yet."""
    import faiss

    (data / DENSE).mkdir(exist_ok=True)
    # Through our own file object: given a path, FAISS does not report a disk that is too full for the very last bytes.
    writer = faiss.PyCallbackIOWriter  # type: ignore[attr-defined]  # SWIG creates it on import
    # An updated index shares its files with the previous version: they are replaced, never written to.
    write_atomically(data / part.vectors, lambda file: faiss.write_index(index, writer(file.write)))
    write_atomically(data / part.ids, pack_ids(pmids, texts))


def _put_in_place(folder: Path, manifest: Manifest, part: DensePart) -> None:
    """Name the new part in the manifest, and delete the files of the previous one."""
    data, own = folder / manifest.data, {part.vectors, part.ids}
    files = {name: size for name, size in list_data_files(data).items() if not name.startswith(f"{DENSE}/") or name in own}
    replace(manifest, files=files, dense=part).write(folder)
    for path in (data / DENSE).iterdir():
        if f"{DENSE}/{path.name}" not in own:
            with suppress(OSError):
                path.unlink()
