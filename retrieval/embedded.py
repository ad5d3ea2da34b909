"""The relevance model that ships with the package: how well "Title. Abstract" answers a claim or a question.

Three parts make the score: the share of the query's rare words that the text holds (BM25 without an index), the match of its
rare word pieces by vectors (late interaction), and its best-matching stretch. Their weights are the model card's, fitted on
train-side claims. Why this and not a cross-encoder: docs/models.md.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from retrieval.engine import Engine, TextEncoder
from retrieval.late import Vectors, best_stretch, rare_word_match
from retrieval.lexical import lexical_scores, rarity_tables

RELEVANCE_MODEL = Path(__file__).parent / "models" / "relevance"
PARTS = ("lexical", "late", "stretch")
KEPT = 512
"""Texts whose vectors are kept, the least recently used going first: at most 200 MB, enough for the sentences of two answers."""


class EmbeddedReranker:
    """Scores texts on the CPU with the shipped relevance model.

    `threads` texts are read at once, 0 meaning one a core, each by a single thread: two threads at one text gain little.
    """

    def __init__(self, folder: Path = RELEVANCE_MODEL, engine: Engine = "auto", threads: int = 0, kept: int = KEPT) -> None:
        self._encoder = TextEncoder(folder, engine, threads=1)
        self._pool = ThreadPoolExecutor(threads or os.cpu_count() or 1, thread_name_prefix="relevance")
        self.name = self._encoder.name
        weights = self._encoder.card["calibration"]
        self.weights = np.array([float(weights[part]) for part in PARTS])
        self._pieces, self._words = rarity_tables(folder / "rarity.npz")
        self._kept: OrderedDict[str, Vectors] = OrderedDict()
        self._limit = kept
        self._lock = threading.Lock()

    def __call__(self, query: str, texts: Sequence[str]) -> list[float]:
        """One score a text, in order."""
        return [float(score) for score in self.parts(query, texts) @ self.weights]

    def parts(self, query: str, texts: Sequence[str]) -> NDArray[np.float64]:
        """[texts, 3]: the words', the word pieces' and the stretch's share in the score, before their weights."""
        ids, vectors = self._encoder.vectors(query)
        rarity = self._pieces[ids]
        found = np.zeros((len(texts), len(PARTS)))
        found[:, 0] = lexical_scores(query, texts, self._words)
        for row, text in enumerate(self._pool.map(self._text, texts)):
            found[row, 1:] = rare_word_match(vectors, text, rarity), best_stretch(vectors, text)
        return found

    def _text(self, text: str) -> Vectors:
        """The text's vectors, made once while they are kept. Two threads may make the same ones: they are equal."""
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
