"""Dense search on FAISS: the documents whose vectors have the highest inner product with a query's.

A flat index compares a query with every document: exact, and fast enough up to some hundred thousand of them. An inverted file
compares it with the nearest lists (retrieval.dense.codes).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterpoint.retrieval.core.errors import IndexUnusable
from counterpoint.retrieval.core.values import Hit
from counterpoint.retrieval.dense.codes import Codes, ListFile, Rows, make_damage_error, open_faiss, read_list
from counterpoint.retrieval.dense.encoder import Vectors
from counterpoint.retrieval.store.manifest import DensePart, Manifest


def find_usable_part(folder: str, manifest: Manifest, encoder: str) -> DensePart:
    """The dense part of the index at `folder`, checked to fit its documents and the encoder.

    Raises `IndexUnusable` with what to do if it does not.
    """
    part, command = manifest.dense, f"`counterpoint index dense {folder}"
    if part is None:
        raise IndexUnusable(
            f"The index at {folder} has no vectors, which this search needs; make them with {command} --profile NAME`, naming "
            "the profile that you search with."
        )
    if part.encoder != encoder:
        raise IndexUnusable(
            f"The vectors of the index at {folder} were made by {part.encoder}, and this search uses {encoder}; search with the "
            f"profile that made them, or replace them with {command} --profile NAME --overwrite`."
        )
    if not manifest.vectors_fit:
        raise IndexUnusable(
            f"The index at {folder} was updated after its vectors were encoded; update them with "
            f"{command} --profile NAME`, which encodes only what changed."
        )
    return part


def check_files(data: Path, manifest: Manifest) -> None:
    """Raise `IndexUnusable` if a file of the dense part is missing or does not have its size: what is mapped must be there."""
    for name in (manifest.dense.vectors, manifest.dense.ids) if manifest.dense else ():
        path, size = data / name, manifest.files[name]
        if not path.is_file():
            raise make_damage_error(path, "it is missing")
        if path.stat().st_size != size:
            raise make_damage_error(path, f"it has {path.stat().st_size:,} bytes and should have {size:,}")


class DenseIndex:
    """The vectors of an index's documents, opened for search; safe to use from several threads at once.

    `ids` has the PMID (UTF-8) and the hash of the text (int64) behind each row, by PMID. It is mapped into memory as well.
    """

    def __init__(self, data: Path, part: DensePart) -> None:
        self.path = data / part.vectors
        self._index = open_faiss(self.path)
        self._lists = ListFile(self.path, self._index)
        try:
            self.ids: NDArray[Any] = np.load(data / part.ids, mmap_mode="r")
        except (OSError, ValueError) as error:
            raise make_damage_error(data / part.ids, type(error).__name__) from error
        if not self._index.ntotal == len(self.ids) == part.documents or self._index.d != part.width:
            raise make_damage_error(self.path, "it does not match the manifest")

    def search(self, queries: Vectors, k: int) -> list[list[Hit]]:
        """The `k` documents with the highest inner product for each of `queries` [queries, width], best first, ties by PMID.

        If several tie for the last place, FAISS decides which of them is included, the same one every time.
        Raises `IndexUnusable` for queries of another width.
        """
        if queries.shape[1] != self._index.d:
            raise IndexUnusable(
                f"The vectors in {self.path} have {self._index.d} dimensions and the query's {queries.shape[1]}; the "
                "encoder is not the one that made them."
            )
        scores, rows = self._lists.search(np.ascontiguousarray(queries), min(k, len(self.ids)))
        return [self._make_hits(*pair) for pair in zip(scores, rows, strict=True)]

    def _make_hits(self, scores: Vectors, rows: Rows) -> list[Hit]:
        # Rows are in the order of PMIDs. FAISS does not define the order of ties, and returns -1 if it found too few.
        return [Hit(self.ids["pmid"][rows[i]].decode(), float(scores[i])) for i in np.lexsort((rows, -scores)) if rows[i] >= 0]

    def find_rows(self, pmids: Sequence[str]) -> tuple[Rows, Rows]:
        """Which of `pmids` have a vector, by their places among them, and the row of each."""
        names = np.array([pmid.encode() for pmid in pmids], np.bytes_)
        rows = np.searchsorted(self.ids["pmid"], names)
        held = np.flatnonzero(self.ids["pmid"][np.minimum(rows, len(self.ids) - 1)] == names)
        return held, rows[held]

    def read_list(self, number: int) -> tuple[Codes, Rows]:
        """One list of FAISS's: the code of each vector in it, and its row."""
        return read_list(self._index, number)
