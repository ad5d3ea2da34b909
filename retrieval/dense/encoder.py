"""The encoder's interface: texts as vectors, whose inner product says how well a document answers a query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from counterpoint.retrieval.core.values import Document

Vectors = NDArray[np.float32]
"""[texts, width]"""


class Encoder(Protocol):
    """`name` identifies the model, its weights and how it reads documents: vectors of different names do not compare."""

    name: str

    def queries(self, texts: Sequence[str]) -> Vectors:
        """[texts, width]: one vector a query, in order."""

    def documents(self, documents: Sequence[Document]) -> Vectors:
        """[documents, width], in order; the higher a vector's inner product with a query's, the better it answers."""


def normalise(vectors: Vectors) -> Vectors:
    """`vectors` [texts, width] at length 1, so that their inner product is the cosine; a zero vector stays zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Vectors = (vectors / np.maximum(lengths, 1e-12)).astype(np.float32)
    return unit


class CachingEncoder:
    """An encoder that encodes each query only once; for a single request, since nothing is ever evicted."""

    def __init__(self, encoder: Encoder) -> None:
        self.name, self.documents = encoder.name, encoder.documents
        self._encoder = encoder
        self._vectors: dict[str, Vectors] = {}

    def queries(self, texts: Sequence[str]) -> Vectors:
        """[texts, width]: one vector a query, in order."""
        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if new:
            self._vectors.update(zip(new, self._encoder.queries(new), strict=True))
        return np.stack([self._vectors[text] for text in texts])
