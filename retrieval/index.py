"""An index, opened: BM25 over it, its vectors, and the documents, sentences and cues behind the hits."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from retrieval.bm25.lucene import Lucene
from retrieval.bm25.vocabulary import Vocabulary
from retrieval.core.values import Hit
from retrieval.dense.search import DenseIndex, find_usable_part
from retrieval.store.documents import Entry, Store
from retrieval.store.manifest import LUCENE, STORE, Manifest, read_manifest


class Index:
    """The one shared index that every branch searches; safe to use from several threads at once."""

    def __init__(self, folder: Path) -> None:
        """Open the index in `folder`; raises `IndexUnusable` where it is missing, damaged or of another version."""
        self.folder = folder
        self.manifest: Manifest = read_manifest(folder)
        data = folder / self.manifest.data
        self.store = Store(data / STORE)
        self._lucene = Lucene(data / LUCENE)
        self.vocabulary = Vocabulary(data / LUCENE)
        self._dense: DenseIndex | None = None
        self._opening = threading.Lock()

    def search(self, query: str, k: int) -> list[Hit]:
        """The `k` best documents by BM25 (k1 0.9, b 0.4) over title and abstract, best first."""
        return self._lucene.search(query, k)

    def dense(self, encoder: str) -> DenseIndex:
        """The vectors that the encoder of this name made of the documents; raises `IndexUnusable` where there are none."""
        part = find_usable_part(self.folder, self.manifest, encoder)
        with self._opening:
            if self._dense is None:
                self._dense = DenseIndex(self.folder / self.manifest.data, part)
            return self._dense

    def entries(self, pmids: Sequence[str]) -> Iterator[Entry]:
        """The documents of these ids, in order, with their sentences and cues."""
        return self.store.entries(pmids)

    def close(self) -> None:
        """Let go of the index's files."""
        self._dense = None
        self._lucene.close()
        self.vocabulary.close()
        self.store.close()
