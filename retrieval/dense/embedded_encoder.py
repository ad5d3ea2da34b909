"""Dense retrieval with the shipped relevance model: a text is the mean of its token vectors, so no new weights are needed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from counterpoint.retrieval.core.values import Document
from counterpoint.retrieval.dense.encoder import Vectors, normalise
from counterpoint.retrieval.rerank.embedded import RELEVANCE_MODEL
from counterpoint.retrieval.rerank.reranker import make_passage
from counterpoint.retrieval.rerank.text_vectors import load_text_vectors
from counterpoint.retrieval.runtime.engine import Engine
from counterpoint.retrieval.words.forms import unify_text


class EmbeddedEncoder:
    """An `Encoder` on the CPU; it shares the loaded model and the cached vectors with the reranker of the same settings."""

    name: str

    def __init__(self, folder: Path = RELEVANCE_MODEL, engine: Engine = "auto", threads: int = 0) -> None:
        self._vectors = load_text_vectors(folder, engine, threads)
        self.name = f"{self._vectors.name}/mean"

    def queries(self, texts: Sequence[str]) -> Vectors:
        """[texts, width]: the means of the queries' token vectors, at length 1."""
        # In the reranker's spelling (retrieval.words.forms), so that both cache the same vectors.
        plain = [unify_text(text) for text in texts]
        return normalise(np.stack([vectors.mean(axis=0) for vectors in self._vectors.encode_texts(plain)]))

    def documents(self, documents: Sequence[Document]) -> Vectors:
        """[documents, width]: the same of "Title. Abstract", read in batches and uncached: an index keeps the vectors."""
        return normalise(self._vectors.means([unify_text(make_passage(document)) for document in documents]))
