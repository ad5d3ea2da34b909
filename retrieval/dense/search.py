"""Dense search on FAISS: the documents whose vectors have the highest inner product with a query's.

FAISS: Douze et al. 2024, arXiv 2401.08281. Its flat index compares a query with every document: exact, and fast enough up to
some hundred thousand of them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from retrieval.core.errors import IndexUnusable
from retrieval.core.values import Hit
from retrieval.dense.encoder import Vectors
from retrieval.store.manifest import DensePart, Manifest


def find_usable_part(folder: Path, manifest: Manifest, encoder: str) -> DensePart:
    """The dense part of the index in `folder`, checked to fit its documents and the encoder.

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


class DenseIndex:
    """The vectors of an index's documents, opened for search; safe to use from several threads at once."""

    def __init__(self, data: Path, part: DensePart) -> None:
        self.path = data / part.vectors
        self._index = _open_faiss(self.path)
        self.pmids, _ = read_ids(data / part.ids)
        if not self._index.ntotal == len(self.pmids) == part.documents or self._index.d != part.width:
            raise _make_damage_error(self.path, "it does not match the manifest")

    def search(self, queries: Vectors, k: int) -> list[list[Hit]]:
        """The `k` documents with the highest inner product for each of `queries` [queries, width], best first, ties by PMID.

        If several tie for the last place, FAISS decides which of them is included, the same one every time.
        Raises `IndexUnusable` for queries of another width.
        """
        if queries.shape[1] != self._index.d:
            raise IndexUnusable(
                f"The vectors in {self.path} have {self._index.d} dimensions and the query's {queries.shape[1]}; the "
                "encoder is not "
                "the one that made them."
            )
        scores, rows = self._index.search(np.ascontiguousarray(queries), min(k, len(self.pmids)))
        return [self._make_hits(*pair) for pair in zip(scores, rows, strict=True)]

    def _make_hits(self, scores: Vectors, rows: np.ndarray) -> list[Hit]:
        # Rows are in the order of PMIDs. FAISS does not define the order of ties, and returns -1 if it found too few.
        return [Hit(self.pmids[rows[i]], float(scores[i])) for i in np.lexsort((rows, -scores)) if rows[i] >= 0]

    def vectors(self, rows: list[int]) -> Vectors:
        """[rows, width]: the vectors as stored; if the index is flat, exactly those that were added."""
        vectors: Vectors = self._index.reconstruct_batch(np.array(rows, dtype=np.int64))
        return vectors


def pack_ids(pmids: list[str], texts: list[str]) -> bytes:
    """Pack the document, and the hash of its text, behind each row."""
    return json.dumps({"pmids": pmids, "texts": texts}).encode()


def read_ids(path: Path) -> tuple[list[str], list[str]]:
    """The inverse of `pack_ids`, from its file."""
    try:
        data = json.loads(path.read_bytes())
        return list(data["pmids"]), list(data["texts"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _make_damage_error(path, type(error).__name__) from error


def _open_faiss(path: Path) -> Any:
    import faiss

    try:
        # Mapped into memory: opened at once, and shared by the processes that serve the same index.
        return faiss.read_index(str(path), faiss.IO_FLAG_MMAP_IFC | faiss.IO_FLAG_READ_ONLY)
    except RuntimeError as error:
        reason = str(error).rpartition("Error: ")[2].strip().splitlines()[0][:200]
        raise _make_damage_error(path, reason) from error


def _make_damage_error(path: Path, reason: str) -> IndexUnusable:
    return IndexUnusable(
        f"The vectors of the index cannot be read from {path} ({reason}); make them again with "
        "`counterpoint index dense DIR --profile NAME --overwrite`."
    )
