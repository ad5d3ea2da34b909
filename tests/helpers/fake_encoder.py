"""A small stand-in for the encoder's seam."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence

import numpy as np

from counterpoint.retrieval.core.values import Document
from counterpoint.retrieval.dense.encoder import Vectors


class WordEncoder:
    """A text is how often each of its words occurs, words falling into some places; keeps which documents it was given."""

    def __init__(self, name: str = "words@1", width: int = 256) -> None:
        self.name, self._width = name, width
        self.given: list[str] = []

    def queries(self, texts: Sequence[str]) -> Vectors:
        found = np.zeros((len(texts), self._width), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in re.findall(r"\w+", text.lower()):
                found[row, zlib.crc32(word.encode()) % self._width] += 1
        return found

    def documents(self, documents: Sequence[Document]) -> Vectors:
        self.given += [document.pmid for document in documents]
        return self.queries([f"{document.title} {document.abstract}" for document in documents])
