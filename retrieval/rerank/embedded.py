"""The relevance model that ships with the package: how well "Title. Abstract" answers a claim or a question.

The score has three parts: the share of the query's rare words that the text contains (BM25 without an index), the match of its
rare word pieces by vectors (late interaction), and its best-matching stretch. Their weights are in the model card, fitted on
train-side claims. docs/models.md explains why this is not a cross-encoder.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from retrieval.rerank.late_interaction import score_best_stretch, score_rare_words
from retrieval.rerank.text_vectors import load_text_vectors
from retrieval.runtime.engine import Engine
from retrieval.words.forms import unify_text
from retrieval.words.terms import read_rarity_tables, score_lexically

RELEVANCE_MODEL = Path(__file__).parent.parent / "models" / "relevance"
PARTS = ("lexical", "late", "stretch")
REMEMBERED_MB = 16
"""Megabytes of vectors to cache: enough for the abstracts of five claims and the sentences of an answer."""


class EmbeddedReranker:
    """Scores texts on the CPU with the shipped relevance model.

    `threads` texts are read at once, 0 meaning one per core; up to `remembered_mb` megabytes of vectors are cached.
    """

    def __init__(
        self, folder: Path = RELEVANCE_MODEL, engine: Engine = "auto", threads: int = 0, remembered_mb: float = REMEMBERED_MB
    ) -> None:
        self._vectors = load_text_vectors(folder, engine, threads)
        self._vectors.remember(remembered_mb)
        self.name = self._vectors.name
        weights = self._vectors.card["calibration"]
        self.weights = np.array([float(weights[part]) for part in PARTS])
        self._pieces, self._words = read_rarity_tables(folder / "rarity.npz")

    def __call__(self, query: str, texts: Sequence[str]) -> list[float]:
        """One score per text, in order."""
        return [float(score) for score in self.parts(query, texts) @ self.weights]

    def parts(self, query: str, texts: Sequence[str]) -> NDArray[np.float64]:
        """[texts, 3]: the parts of the score from words, word pieces and stretch, before weighting."""
        # Spelling must not matter (retrieval.words.forms).
        query, texts = unify_text(query), [unify_text(text) for text in texts]
        ids, vectors = self._vectors.encode_query(query)
        rarity = self._pieces[ids]
        parts = np.zeros((len(texts), len(PARTS)))
        parts[:, 0] = score_lexically(query, texts, self._words)
        for row, text in enumerate(self._vectors.encode_texts(texts)):
            parts[row, 1:] = score_rare_words(vectors, text, rarity), score_best_stretch(vectors, text)
        return parts
