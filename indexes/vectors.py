"""Adding the dense part to an index: every document's vector, made once per text, in one FAISS index beside Lucene's."""

from __future__ import annotations

import hashlib
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from counterpoint.indexes.plan import hold_lock, report_interrupt
from counterpoint.nli.text.sentences import sentence_spans
from counterpoint.retrieval.bm25.analysis import make_contents
from counterpoint.retrieval.core.code_hash import hash_code
from counterpoint.retrieval.core.errors import BadInput, IndexUnusable, ModelUnusable, translate_write_errors
from counterpoint.retrieval.core.progress import make_bar
from counterpoint.retrieval.core.values import Document
from counterpoint.retrieval.dense.codes import FLAT, Codec, Codes, Rows, check_factory, open_codec
from counterpoint.retrieval.dense.encoder import Encoder, Vectors
from counterpoint.retrieval.dense.search import DenseIndex, check_files
from counterpoint.retrieval.store.documents import Store
from counterpoint.retrieval.store.manifest import (
    DENSE,
    STORE,
    DensePart,
    Manifest,
    View,
    list_data_files,
    read_manifest,
    write_atomically,
)

LARGE = 100_000
"""Documents from which on an index has short views, and FAISS a compact index, unless something else is asked for."""
CACHE = ".vectors.building"
"""Vectors that are made but not yet in an index, in its folder and not a version's: an update between two attempts loses nothing
that was already encoded."""
_BATCH = 1024
_SAMPLE = 40
"""Documents a list that FAISS is trained on."""


@dataclass(frozen=True)
class DenseReport:
    """The result: the dense part, and how many documents were encoded for it; the others already had vectors."""

    part: DensePart
    encoded: int


def add_vectors(
    folder: Path, encoder: Encoder, overwrite: bool = False, view: View | None = None, factory: str | None = None
) -> DenseReport:
    """Give the index in `folder` the vectors that `encoder` makes, or bring those it has up to date.

    Without `view` or `factory` (FAISS's own string) those that the index has stay, and a new one's depend on its size. Only texts
    without a vector are encoded. An attempt that was stopped or killed resumes where it was; searches see the new vectors once
    all are there. With `overwrite` the vectors of another encoder, view or factory are replaced, and every document is encoded
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
        part, old = choose_part(folder, manifest, encoder, overwrite, view, factory)
        if old:
            check_files(folder / manifest.data, manifest)
        if old and manifest.vectors_fit:
            return DenseReport(old, 0)
        if factory:
            check_factory(encoder.queries(["width"]).shape[1], factory, manifest.counts.documents)
        return _make_vectors(folder, manifest, encoder, part, old)


def choose_part(
    place: object, manifest: Manifest, encoder: Encoder, overwrite: bool, view: View | None, factory: str | None = None
) -> tuple[DensePart, DensePart | None]:
    """The part to make, and the one that the index has, unless it is to be replaced; raises `BadInput` where the two differ."""
    old = None if overwrite else manifest.dense
    documents = manifest.counts.documents
    # About 4 √N lists (https://github.com/facebookresearch/faiss/wiki/Guidelines-to-choose-an-index).
    large = f"IVF{2 ** round(np.log2(4 * max(1, documents) ** 0.5))},SQ8"
    usual: tuple[View, str] = ("full", FLAT) if documents < LARGE else ("short", large)
    if old:
        usual = old.view, old.factory
    part = DensePart(encoder.name, 0, factory or usual[1], 0, manifest.corpus_sha256, "", view or usual[0])
    if old and (old.encoder, old.view, old.factory) != (part.encoder, part.view, part.factory):
        raise BadInput(
            f"The index at {place} has {old.view} vectors of {old.encoder} ({old.factory}); add --overwrite to replace them with "
            f"{part.view} ones of {part.encoder} ({part.factory})."
        )
    return part, old


def make_view(document: Document, view: str) -> Document:
    """What of a document is encoded."""
    spans = sentence_spans(document.abstract)[-2:] if view == "short" else []
    return replace(document, abstract=document.abstract[spans[0][0] : spans[-1][1]]) if spans else document


def _make_vectors(folder: Path, manifest: Manifest, encoder: Encoder, part: DensePart, old: DensePart | None) -> DenseReport:
    data = folder / manifest.data
    cache = VectorCache(folder, f"{encoder.name} {hash_code([type(encoder).__module__])} {part.view} {part.factory}")
    with (
        closing(cache),
        closing(Store(data / STORE)) as store,
        # Deleted by the system when it is closed, however that happens.
        tempfile.TemporaryFile(dir=folder) as file,
    ):
        maker = _Maker(encoder, cache, store, part, manifest.counts.documents)
        codec = open_codec(data / old.vectors, old.factory) if old else maker.make_codec()
        opened = DenseIndex(data, old) if old else None
        fresh, kept = maker.make_codes(codec, file, opened, data / old.changed if old else None)
        ids, old_rows, fresh_rows = _merge_ids(opened.ids[kept] if opened else fresh[:0], kept, fresh)
        if not len(ids):
            raise BadInput(f"No document in the index at {folder} contains a word, so there is nothing to encode.")
        stem = f"{DENSE}/{_hash(encoder.name, part.view, part.factory, manifest.corpus_sha256).hex()[:12]}"
        part = replace(part, width=codec.width, documents=len(ids), stem=stem)
        codes = np.memmap(file, np.uint8, "r").reshape(len(fresh), -1) if len(fresh) else np.zeros((0, 0), np.uint8)
        (data / DENSE).mkdir(exist_ok=True)
        # An updated index shares its files with the previous version: they are replaced, never written to.
        lists = _merge_lists(codec, opened, old_rows, codes, fresh_rows)
        write_atomically(data / part.vectors, lambda out: codec.write(out, len(ids), lists))
        write_atomically(data / part.ids, lambda out: np.save(out, ids))
        _put_in_place(folder, manifest, part)
        cache.drop()
    return DenseReport(part, maker.encoded)


class _Maker:
    """Makes the codes of documents: those that the cache lacks are encoded, and kept as soon as they are."""

    def __init__(self, encoder: Encoder, cache: VectorCache, store: Store, part: DensePart, documents: int) -> None:
        self._encoder, self._cache, self._store, self._part, self._documents = encoder, cache, store, part, documents
        self.encoded = 0

    def make_codec(self) -> Codec:
        """A new codec, trained on a sample of the documents where it must be."""
        width = self._encoder.queries(["width"]).shape[1]
        codec = Codec(width, self._part.factory, self._cache.trained)
        if codec.needs_training and not self._cache.trained:
            most = min(_SAMPLE * codec.lists, self._documents)
            sample = (entry.document for entry in self._store.sample(most))
            batches = iter(lambda: list(islice(sample, _BATCH)), [])
            # Filled batch by batch: at 27 million documents this is a gigabyte, and must be there once.
            vectors, hashes, exact = np.empty((most, width), np.float32), list[int](), Codec(width, FLAT)
            for documents, texts in self._read(batches, most, "vectors to train on"):
                vectors[len(hashes) :][: len(texts)] = self._encode(exact, documents, texts).view(np.float32)
                hashes += texts
            codec.train(vectors[: len(hashes)])
            self._cache.put(hashes, codec.encode(vectors[: len(hashes)]), codec.dump())
        return codec

    def make_codes(
        self, codec: Codec, file: IO[bytes], old: DenseIndex | None, changed: Path | None
    ) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Write the codes of all new documents to `file`; return their ids, by PMID, and which old rows are still right.

        A document is new if it has no old row, or its text is another.
        """
        kept = np.ones(len(old.ids) if old else 0, np.bool_)
        if old and changed:
            pmids = sorted(set(changed.read_text("utf-8").split("\n")[:-1]))
            kept[old.find_rows(pmids)[1]] = False
            batches = (
                [entry.document for entry in self._store.entries(sorted(self._store.holds(pmids[at : at + _BATCH])))]
                for at in range(0, len(pmids), _BATCH)
            )
            total = len(pmids)
        else:
            batches = ([Document(*text) for text in texts] for texts in self._store.texts(_BATCH))
            total = self._documents
        ids = [np.zeros(0, [("pmid", "S1"), ("text", "<i8")])]
        for documents, texts in self._read(batches, total, "vectors"):
            of_batch = make_ids([document.pmid for document in documents], texts)
            new = np.ones(len(documents), np.bool_)
            if old:
                at, rows = old.find_rows([document.pmid for document in documents])
                same = old.ids["text"][rows] == of_batch["text"][at]
                new[at[same]], kept[rows[same]] = False, True
            chosen = np.flatnonzero(new)
            if len(chosen):
                codes = self._encode(codec, [documents[i] for i in chosen], [texts[i] for i in chosen])
                file.write(codes.tobytes())
                ids.append(of_batch[chosen])
        file.flush()
        return np.concatenate(ids), kept

    def _read(self, batches: Iterator[list[Document]], total: int, what: str) -> Iterator[tuple[list[Document], list[int]]]:
        """What is to be encoded of each batch, and the hashes of it; a document without words is left out, as BM25 leaves it."""
        with make_bar(what, "documents", total) as bar:
            for batch in batches:
                documents = [make_view(d, self._part.view) for d in batch if make_contents(d.title, d.abstract)]
                if documents:
                    yield documents, [hash_text(document) for document in documents]
                bar.update(len(batch))

    def _encode(self, codec: Codec, documents: Sequence[Document], texts: Sequence[int]) -> Codes:
        """The codes of documents, in order; each text is encoded once."""
        codes = self._cache.get(texts)
        new = {text: document for text, document in zip(texts, documents, strict=True) if text not in codes}
        if new:
            vectors: Vectors = self._encoder.documents(list(new.values())).astype(np.float32)
            if not np.isfinite(vectors).all():
                raise ModelUnusable(
                    f"The encoder {self._encoder.name} returned values that are not numbers; fetch or install its weights again."
                )
            made = codec.encode(vectors)
            self._cache.put(list(new), made)
            self.encoded += len(new)
            codes.update((text, code.tobytes()) for text, code in zip(new, made, strict=True))
        return np.frombuffer(b"".join(codes[text] for text in texts), np.uint8).reshape(len(texts), -1)


def hash_text(document: Document) -> int:
    """A hash of all that an encoder reads, which shows whether a document's vector is still current."""
    return int.from_bytes(_hash(document.title, document.abstract)[:8], "little", signed=True)


def _hash(*parts: str) -> bytes:
    return hashlib.sha256("\x1f".join(parts).encode()).digest()


def make_ids(pmids: Sequence[str], texts: Sequence[int]) -> NDArray[Any]:
    """The document, and the hash of its text, behind each row."""
    names = np.array([pmid.encode() for pmid in pmids])
    ids = np.empty(len(pmids), [("pmid", names.dtype), ("text", "<i8")])
    ids["pmid"], ids["text"] = names, texts
    return ids


def _merge_ids(old: NDArray[Any], kept: NDArray[np.bool_], fresh: NDArray[Any]) -> tuple[NDArray[Any], Rows, Rows]:
    """All ids by PMID, the new row of each old one (-1 where it is gone), and the row of each fresh one."""
    ids = np.concatenate([old, fresh])
    order = np.argsort(ids["pmid"], kind="stable")
    rows = np.empty(len(ids), np.int64)
    rows[order] = np.arange(len(ids))
    old_rows = np.full(len(kept), -1)
    old_rows[kept] = rows[: len(old)]
    return ids[order], old_rows, rows[len(old) :]


def _merge_lists(
    codec: Codec, old: DenseIndex | None, old_rows: Rows, fresh: Codes, fresh_rows: Rows
) -> Iterator[tuple[Codes, Rows]]:
    """The lists of an index: what stays of the old one's, and the fresh codes, by their rows."""
    numbers, bodies = codec.split(fresh)
    by_list = np.argsort(numbers, kind="stable")
    bounds = np.searchsorted(numbers[by_list], np.arange(codec.lists + 1))
    for number in range(codec.lists):
        mine = by_list[bounds[number] : bounds[number + 1]]
        codes, rows = bodies[mine], fresh_rows[mine]
        if old:
            old_codes, places = old.read_list(number)
            stays = old_rows[places] >= 0
            codes, rows = np.concatenate([old_codes[stays], codes]), np.concatenate([old_rows[places[stays]], rows])
        order = np.argsort(rows)
        yield codes[order], rows[order]


def _put_in_place(folder: Path, manifest: Manifest, part: DensePart) -> None:
    """Name the new part in the manifest, and delete the files of the previous one."""
    data, own = folder / manifest.data, {part.vectors, part.ids}
    files = {name: size for name, size in list_data_files(data).items() if not name.startswith(f"{DENSE}/") or name in own}
    replace(manifest, files=files, dense=part).write(folder)
    for path in (data / DENSE).iterdir():
        if f"{DENSE}/{path.name}" not in own:
            with suppress(OSError):
                path.unlink()


_SCHEMA = """
CREATE TABLE IF NOT EXISTS maker (name TEXT NOT NULL, trained BLOB);
CREATE TABLE IF NOT EXISTS vectors (text INTEGER PRIMARY KEY, code BLOB NOT NULL);
"""
_DAMAGED = ("SQLITE_NOTADB", "SQLITE_CORRUPT")


class VectorCache:
    """What `maker` has made so far, in one SQLite file; a damaged file, or one of another maker, is discarded.

    `maker` names the model, the code that runs it, what it reads of a document, and FAISS's factory string. `trained` is what
    FAISS was trained to, once it was: until then the codes kept are the vectors themselves. A text is the hash of one.
    """

    def __init__(self, folder: Path, maker: str) -> None:
        self._path = folder / CACHE
        self._db = _connect(self._path)
        try:
            rows = _prepare(self._db).execute("SELECT name, trained FROM maker").fetchall()
        except sqlite3.DatabaseError as error:
            # A full disk is no reason to discard what was made.
            if error.sqlite_errorname not in _DAMAGED:
                raise
            rows = []
        if [name for name, _ in rows] != [maker]:
            self.drop()
            self._db = _connect(self._path)
            _prepare(self._db).execute("INSERT INTO maker VALUES (?, NULL)", (maker,))
            rows = [(maker, None)]
        self.trained: bytes | None = rows[0][1]

    def get(self, texts: Sequence[int]) -> dict[int, bytes]:
        """The codes in the cache for these texts."""
        marks = ",".join("?" * len(texts))
        try:
            return dict(self._db.execute(f"SELECT text, code FROM vectors WHERE text IN ({marks})", list(texts)))
        except sqlite3.DatabaseError as error:
            raise IndexUnusable(f"{self._path} cannot be read ({error}); delete it and start again.") from error

    def put(self, texts: Sequence[int], codes: Codes, trained: bytes | None = None) -> None:
        """Keep a batch, all of it or, if the disk is full, none of it; with `trained`, in place of what was there before."""
        with self._db:
            self._db.execute("BEGIN")
            if trained:
                self._db.execute("UPDATE maker SET trained = ?", (trained,))
                self._db.execute("DELETE FROM vectors")
            rows = ((text, code.tobytes()) for text, code in zip(texts, codes, strict=True))
            self._db.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)
        self.trained = trained or self.trained

    def close(self) -> None:
        """Close the file; what was kept stays."""
        self._db.close()

    def drop(self) -> None:
        """Close the file and delete it: its vectors are in the index now, or useless."""
        self.close()
        for suffix in ("", "-wal", "-shm"):
            self._path.with_name(CACHE + suffix).unlink(missing_ok=True)


def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, isolation_level=None)


def _prepare(db: sqlite3.Connection) -> sqlite3.Connection:
    # As in the store: survives a killed process, and nobody else reads it.
    db.execute("PRAGMA locking_mode=EXCLUSIVE")
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA synchronous=NORMAL")
    db.executescript(_SCHEMA)
    return db
