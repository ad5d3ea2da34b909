"""The shipped relevance model's token vectors of texts, cached: reranking and dense search share them.

Each text is read by a single thread, as many texts at once as there are cores: two threads on one text gain less than they cost,
and a vector depends on nothing but its text. Vectors are rounded to int8 with one scale per token as soon as they are computed.
That takes a quarter of the space, and a result is the same whether its vectors are new, in memory, or read from the disk.
Only `means`, for the documents of a whole index, reads many texts at once.
"""

from __future__ import annotations

import os
import struct
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from counterpoint.retrieval.core.code_hash import hash_code
from counterpoint.retrieval.core.result_cache import Cache, make_key, open_cache
from counterpoint.retrieval.runtime.engine import Engine, TextEncoder

Vectors = NDArray[np.float32]
"""[tokens, width]"""
_HEADER = struct.Struct("<II")


@dataclass(frozen=True, slots=True)
class PackedVectors:
    """Token vectors as int8 [tokens, width] and one scale per token [tokens, 1]."""

    whole: NDArray[np.int8]
    scale: NDArray[np.float32]

    @classmethod
    def of(cls, vectors: Vectors) -> PackedVectors:
        """Pack `vectors` [tokens, width] of length 1, rounded to 127 steps of each token's largest number, back at length 1."""
        steps = np.rint(vectors * (127 / np.maximum(np.abs(vectors).max(axis=1, keepdims=True), 1e-8)))
        scale = 1 / np.maximum(np.linalg.norm(steps, axis=1, keepdims=True), 1e-8)
        return cls(steps.astype(np.int8), scale.astype(np.float32))

    @classmethod
    def from_bytes(cls, blob: bytes) -> PackedVectors:
        """The inverse of `to_bytes`."""
        tokens, width = _HEADER.unpack_from(blob)
        scale = np.frombuffer(blob, np.float32, tokens, _HEADER.size).reshape(tokens, 1)
        return cls(np.frombuffer(blob, np.int8, offset=_HEADER.size + scale.nbytes).reshape(tokens, width), scale)

    @property
    def size(self) -> int:
        """The size in bytes."""
        return self.whole.nbytes + self.scale.nbytes

    def to_bytes(self) -> bytes:
        """Shape, scales and numbers, little-endian."""
        return _HEADER.pack(*self.whole.shape) + self.scale.tobytes() + self.whole.tobytes()

    def vectors(self) -> Vectors:
        """Float32 [tokens, width] of length 1."""
        return self.whole * self.scale


class TextVectors:
    """The model of one folder, loaded once, and the vectors of the texts requested most recently."""

    def __init__(self, folder: Path, engine: Engine, threads: int) -> None:
        self._encoder = TextEncoder(folder, engine, threads)
        self.card, self.name = self._encoder.card, self._encoder.name
        self._pool = ThreadPoolExecutor(threads or os.cpu_count() or 1, thread_name_prefix="relevance")
        self._memory: OrderedDict[str, PackedVectors] = OrderedDict()
        self._bytes, self._limit = 0, 0
        self._lock = threading.Lock()
        self._made_by = (self.name, hash_code([TextEncoder.__module__]))
        self.kept: Cache | None = open_cache("vectors")

    def remember(self, megabytes: float) -> None:
        """Cache at least this many megabytes of vectors from now on, evicting the least recently used first."""
        self._limit = max(self._limit, int(megabytes * 1e6))

    def encode_query(self, query: str) -> tuple[NDArray[np.int64], Vectors]:
        """Token ids [tokens] and their vectors [tokens, width] of length 1."""
        return self._encoder.vectors(query)

    def encode_texts(self, texts: Sequence[str]) -> Iterator[Vectors]:
        """The token vectors [tokens, width] of each text, in order. Two callers may compute the same ones: they are equal."""
        hits = self._look_up(texts)
        new = [text for text in dict.fromkeys(texts) if text not in hits]
        disk_hits = self._read_from_disk(new)
        futures = {text: self._pool.submit(self._compute, text) for text in new if text not in disk_hits}
        hits |= disk_hits
        for text in texts:
            yield (futures[text].result() if text in futures else hits[text]).vectors()
        fresh = {text: future.result() for text, future in futures.items()}
        self._add(disk_hits | fresh)
        if self.kept and fresh:
            self.kept.put((make_key(*self._made_by, text), one.to_bytes()) for text, one in fresh.items())

    def means(self, texts: Sequence[str]) -> Vectors:
        """[texts, width]: the mean of each text's token vectors, in batches; nothing is looked up or cached."""
        return self._encoder.means(texts)

    def _compute(self, text: str) -> PackedVectors:
        return PackedVectors.of(self._encoder.vectors(text)[1])

    def _look_up(self, texts: Sequence[str]) -> dict[str, PackedVectors]:
        with self._lock:
            hits = {text: self._memory[text] for text in texts if text in self._memory}
            for text in hits:
                self._memory.move_to_end(text)
        return hits

    def _read_from_disk(self, texts: Sequence[str]) -> dict[str, PackedVectors]:
        if not (self.kept and texts):
            return {}
        blobs = self.kept.get([make_key(*self._made_by, text) for text in texts])
        return {text: PackedVectors.from_bytes(blob) for text, blob in zip(texts, blobs, strict=True) if blob}

    def _add(self, vectors: dict[str, PackedVectors]) -> None:
        with self._lock:
            new = {text: one for text, one in vectors.items() if text not in self._memory}
            self._memory.update(new)
            self._bytes += sum(one.size for one in new.values())
            while self._bytes > self._limit:
                self._bytes -= self._memory.popitem(last=False)[1].size


@cache
def load_text_vectors(folder: Path, engine: Engine, threads: int) -> TextVectors:
    """The one `TextVectors` of these settings in this process."""
    return TextVectors(folder, engine, threads)
