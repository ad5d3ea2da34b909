"""The shipped relevance model's token vectors of texts, made once while they are kept: reranking and dense search share them.

Each text is read by a single thread, as many texts at once as there are cores: two threads at one text gain less than they cost,
and a vector depends on nothing but its text.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from retrieval.engine import Engine, TextEncoder
from retrieval.late import Vectors


class TextVectors:
    """The model of one folder, loaded once, and the vectors of the texts last asked for."""

    def __init__(self, folder: Path, engine: Engine, threads: int) -> None:
        self._encoder = TextEncoder(folder, engine, threads)
        self.card, self.name = self._encoder.card, self._encoder.name
        self._pool = ThreadPoolExecutor(threads or os.cpu_count() or 1, thread_name_prefix="relevance")
        self._kept: OrderedDict[str, Vectors] = OrderedDict()
        self._limit = 0
        self._lock = threading.Lock()

    def keep(self, texts: int) -> None:
        """Keep the vectors of at least so many texts from now on, the least recently used going first."""
        self._limit = max(self._limit, texts)

    def of_query(self, query: str) -> tuple[NDArray[np.int64], Vectors]:
        """Token ids [tokens] and their vectors [tokens, width] of length 1."""
        return self._encoder.vectors(query)

    def of_texts(self, texts: Sequence[str]) -> Iterator[Vectors]:
        """The token vectors of each text, in order."""
        return self._pool.map(self._of_text, texts)

    def _of_text(self, text: str) -> Vectors:
        """Two threads may make the same vectors: they are equal."""
        with self._lock:
            if text in self._kept:
                self._kept.move_to_end(text)
                return self._kept[text]
        vectors = self._encoder.vectors(text)[1]
        with self._lock:
            self._kept[text] = vectors
            while len(self._kept) > self._limit:
                self._kept.popitem(last=False)
        return vectors


@cache
def text_vectors(folder: Path, engine: Engine, threads: int) -> TextVectors:
    """The one `TextVectors` of these settings in this process."""
    return TextVectors(folder, engine, threads)
