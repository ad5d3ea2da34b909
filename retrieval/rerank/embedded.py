"""The relevance model that ships with the package: how well "Title. Abstract" answers a claim or a question.

The score has three parts: the share of the query's rare words that the text contains (BM25 without an index), the match of its
rare word pieces by vectors (late interaction), and its best-matching stretch. Their weights are in the model card, fitted on
train-side claims. docs/models.md explains why this is not a cross-encoder.

Late interaction compares vectors computed separately for query and text: each query word looks for its best match among the words
of the text (MaxSim of ColBERT, Khattab and Zaharia 2020, arXiv 2004.12832), with more weight on rare words. As the vectors of a
text do not depend on the query, they are computed once and kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from counterpoint.retrieval.rerank.text_vectors import Vectors, load_text_vectors
from counterpoint.retrieval.runtime.engine import Engine
from counterpoint.retrieval.words.forms import unify_text
from counterpoint.retrieval.words.terms import read_rarity_tables, score_lexically

RELEVANCE_MODEL = Path(__file__).parent.parent / "models" / "relevance"
PARTS = ("lexical", "late", "stretch")
STRETCH, STRIDE = 48, 24
"""Tokens in a stretch, and between the starts of two stretches."""
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


def score_rare_words(query: Vectors, text: Vectors, weights: NDArray[np.float32]) -> float:
    """MaxSim, weighted: query [q, width] and text [t, width] of length 1, weights [q]; -1 to 1."""
    best = (query @ text.T).max(axis=1)
    return float(best @ weights / max(float(weights.sum()), 1e-9))


def score_best_stretch(query: Vectors, text: Vectors) -> float:
    """The highest cosine of the mean of query [q, width] with the mean of a stretch of text [t, width]; -1 to 1."""
    sums = np.vstack([np.zeros((1, text.shape[1]), dtype=np.float32), np.cumsum(text, axis=0, dtype=np.float32)])
    starts = np.arange(0, max(1, len(text) - STRIDE), STRIDE)
    means = sums[np.minimum(starts + STRETCH, len(text))] - sums[starts]
    whole = query.sum(axis=0)
    lengths = np.linalg.norm(means, axis=1) * float(np.linalg.norm(whole))
    return float(((means @ whole) / np.maximum(lengths, 1e-9)).max())
