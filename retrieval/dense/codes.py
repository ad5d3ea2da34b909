"""Vectors as FAISS keeps them: a trained index makes codes of them, and one file holds the codes, list by list.

FAISS: Douze et al. 2024, arXiv 2401.08281. An inverted file (`IVF…`) puts each vector into the list of the nearest of many
centres, and a search compares a query with the lists nearest to it only. FAISS writes an index that is in memory; here the lists
are written one by one, so that an index of any size is made and updated in little memory.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
from numpy.typing import NDArray

from counterpoint.retrieval.core.errors import BadConfig, IndexUnusable
from counterpoint.retrieval.dense.encoder import Vectors

Codes = NDArray[np.uint8]
"""[vectors, bytes]"""
Rows = NDArray[np.int64]

FLAT = "Flat"
"""Exact search: full vectors, each compared with every query."""


def count_probes(lists: int) -> int:
    """How many lists a query is compared with: a quarter, and in a large index what an SSD can still read at once."""
    return max(1, min(lists // 4, 256))


def check_factory(width: int, factory: str, documents: int | None = None) -> None:
    """Raise `BadConfig` for a factory that cannot keep vectors of this width, or not those of so few documents."""
    lists = Codec(width, factory).lists
    if documents is not None and lists > documents:
        raise BadConfig(f"{documents:,} vectors are too few to train {factory} on; choose Flat, or fewer lists.")


class Codec:
    """A trained FAISS index without vectors; what has no lists is one list."""

    def __init__(self, width: int, factory: str, trained: bytes | None = None) -> None:
        """Make it of FAISS's `factory` string, or of what `dump` gave.

        Raises `BadConfig` for a factory that FAISS does not know, or cannot search in a file.
        """
        import faiss

        refusal = f"FAISS cannot keep vectors of {width} dimensions as {factory!r}; choose Flat, or a string such as IVF1024,SQ8."
        try:
            index = faiss.index_factory(width, factory, faiss.METRIC_INNER_PRODUCT)
        except RuntimeError as error:
            raise BadConfig(refusal) from error
        self.factory, self.width, self.needs_training = factory, width, not index.is_trained
        if trained:
            index = faiss.deserialize_index(np.frombuffer(trained, np.uint8))
        self._index = index
        self._ivf: Any = faiss.try_extract_index_ivf(index)
        self.lists = self._ivf.nlist if self._ivf else 1
        if self.lists < 1:
            raise BadConfig(refusal)
        self._prefix: int = cast("Any", self._ivf).coarse_code_size() if self._ivf else 0
        self._tail = b""
        if self._ivf:
            self._tail = b"ilar" + struct.pack("<QQ", self.lists, self._ivf.code_size) + b"sprs" + bytes(8)
        if (
            not self.dump().endswith(self._tail)
            if self._ivf
            else self.needs_training or not isinstance(index, faiss.IndexFlatCodes)
        ):
            raise BadConfig(refusal)

    def dump(self) -> bytes:
        """What was trained."""
        import faiss

        return bytes(faiss.serialize_index(self._index).tobytes())

    def train(self, vectors: Vectors) -> None:
        """Fit it to a sample of the vectors to come; raises `BadConfig` where they are too few."""
        try:
            self._index.train(vectors)
        except RuntimeError as error:
            raise BadConfig(
                f"{len(vectors):,} vectors are too few to train {self.factory} on; choose Flat, or fewer lists."
            ) from error
        if self._ivf:
            self._ivf.nprobe = count_probes(self.lists)

    def encode(self, vectors: Vectors) -> Codes:
        """The codes of vectors [n, width]; each begins with the number of its list, where there are lists."""
        codes: Codes = self._index.sa_encode(np.ascontiguousarray(vectors))
        return codes

    def split(self, codes: Codes) -> tuple[NDArray[np.int32], Codes]:
        """The number of the list of each code, and the codes without it."""
        numbers = np.zeros(len(codes), np.int32)
        for place in range(self._prefix):
            numbers |= codes[:, place].astype(np.int32) << (8 * place)
        return numbers, codes[:, self._prefix :]

    def write(self, file: IO[bytes], documents: int, lists: Iterable[tuple[Codes, Rows]]) -> None:
        """Write an index that holds these lists, in order: the codes without their list's number, and the row of each."""
        import faiss

        if not self._ivf:
            [(codes, _)] = lists
            self._index.add_sa_codes(codes)
            # Through our own file object: given a path, FAISS does not report a disk that is too full for the very last bytes.
            faiss.write_index(self._index, faiss.PyCallbackIOWriter(file.write))  # type: ignore[attr-defined]  # by SWIG
            return
        self._index.ntotal = self._ivf.ntotal = documents
        file.write(self.dump().removesuffix(self._tail))
        # What FAISS's write_InvertedLists writes of an ArrayInvertedLists.
        file.write(self._tail[:-12] + b"full" + struct.pack("<Q", self.lists))
        place, sizes = file.tell(), np.zeros(self.lists, "<u8")
        file.write(sizes.tobytes())
        for number, (codes, rows) in enumerate(lists):
            sizes[number] = len(codes)
            file.write(codes.tobytes())
            file.write(rows.astype("<i8").tobytes())
        file.seek(place)
        file.write(sizes.tobytes())


def open_faiss(path: Path) -> Any:
    """The FAISS index in a file, mapped into memory: opened at once, and shared by the processes that serve the same index."""
    import faiss

    try:
        return faiss.read_index(str(path), faiss.IO_FLAG_MMAP_IFC | faiss.IO_FLAG_READ_ONLY)
    except RuntimeError as error:
        raise make_damage_error(path, str(error).rpartition("Error: ")[2].strip().splitlines()[0][:200]) from error


class ListFile:
    """An open index, searched in its file: what a search is about to compare is read from the disk all at once.

    FAISS maps the file for random access, so the system would read it page by page, and a search wait for each of thousands.
    """

    def __init__(self, path: Path, index: Any) -> None:
        import faiss

        self._index, self._file = index, path.open("rb")
        ivf: Any = faiss.try_extract_index_ivf(index)
        # One that turns vectors before it compares them (OPQ) is left to FAISS.
        self._ivf: Any = ivf if isinstance(index, faiss.IndexIVF) else None
        size = path.stat().st_size
        if self._ivf:
            # The lists are the end of the file, in their order: the codes of each, then its rows.
            lengths = [ivf.invlists.list_size(number) for number in range(ivf.nlist)]
            self._sizes = np.array(lengths, np.int64) * (ivf.code_size + 8)
            self._starts = size - np.cumsum(self._sizes[::-1])[::-1]
            self._read_ahead(0, int(self._starts[0]))
        elif not ivf:
            self._read_ahead(0, size)

    def search(self, queries: Vectors, k: int) -> tuple[Vectors, Rows]:
        """The scores and the rows of the `k` nearest to each of `queries`, as FAISS's own search returns them."""
        if self._ivf is None:
            scores, rows = self._index.search(queries, k)
        else:
            near, lists = self._ivf.quantizer.search(queries, self._ivf.nprobe)
            for number in np.unique(lists):
                self._read_ahead(int(self._starts[number]), int(self._sizes[number]))
            scores, rows = self._ivf.search_preassigned(queries, k, lists, near)
        return scores, rows

    def _read_ahead(self, start: int, size: int) -> None:
        # A size of 0 would mean the rest of the file. Where the system lacks this (macOS), pages are read as they are touched.
        if size and hasattr(os, "posix_fadvise"):
            os.posix_fadvise(self._file.fileno(), start, size, os.POSIX_FADV_WILLNEED)


def open_codec(path: Path, factory: str) -> Codec:
    """The codec that made a file of vectors."""
    import faiss

    index = open_faiss(path)
    ivf: Any = faiss.try_extract_index_ivf(index)
    if ivf is None:
        return Codec(index.d, factory)
    empty = faiss.ArrayInvertedLists(ivf.nlist, ivf.code_size)
    empty.this.disown()  # type: ignore[attr-defined]  # SWIG's: the index frees it
    ivf.replace_invlists(empty, True)
    index.ntotal = ivf.ntotal = 0
    return Codec(index.d, factory, bytes(faiss.serialize_index(index).tobytes()))


def read_list(index: Any, number: int) -> tuple[Codes, Rows]:
    """One list of an open index: its codes, without their list's number, and the row of each."""
    import faiss

    ivf: Any = faiss.try_extract_index_ivf(index)
    if ivf is None:
        codes = faiss.rev_swig_ptr(index.codes.data(), index.ntotal * index.code_size)
        return codes.reshape(-1, index.code_size), np.arange(index.ntotal)
    size = ivf.invlists.list_size(number)
    if not size:
        return np.zeros((0, ivf.code_size), np.uint8), np.zeros(0, np.int64)
    codes = faiss.rev_swig_ptr(ivf.invlists.get_codes(number), size * ivf.code_size)
    return codes.reshape(size, -1), faiss.rev_swig_ptr(ivf.invlists.get_ids(number), size)


def make_damage_error(path: Path, reason: str) -> IndexUnusable:
    """The error for a file of vectors that cannot be used."""
    return IndexUnusable(
        f"The vectors of the index cannot be read from {path} ({reason}); make them again with "
        "`counterpoint index dense DIR --profile NAME --overwrite`."
    )
