"""Dense retrieval with the relevance model that ships: a text is the mean of its token vectors, so no new weights are needed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from retrieval.embedded import RELEVANCE_MODEL
from retrieval.encoder import Vectors, normalised
from retrieval.engine import Engine, TextEncoder
from retrieval.rerank import passage
from retrieval.values import Document


class EmbeddedEncoder:
    """An `Encoder` on the CPU. Texts are read one by one, so that a vector depends on nothing but its text.

    `threads` texts are read at once, 0 meaning one a core, and each by a single thread: two threads at one text gain less than
    they cost (docs/indexing.md).
    """

    name: str

    def __init__(self, folder: Path = RELEVANCE_MODEL, engine: Engine = "auto", threads: int = 0) -> None:
        self._encoder = TextEncoder(folder, engine, threads=1)
        self._threads = threads or os.cpu_count() or 1
        self.name = f"{self._encoder.name}/mean"

    def queries(self, texts: Sequence[str]) -> Vectors:
        """The means of the queries' token vectors, at length 1."""
        with ThreadPoolExecutor(min(self._threads, len(texts))) as pool:
            return normalised(np.stack(list(pool.map(self._mean, texts))))

    def documents(self, documents: Sequence[Document]) -> Vectors:
        """The same of "Title. Abstract", as the reranker reads it."""
        return self.queries([passage(document) for document in documents])

    def _mean(self, text: str) -> NDArray[np.float32]:
        mean: NDArray[np.float32] = self._encoder.vectors(text)[1].mean(axis=0)
        return mean
