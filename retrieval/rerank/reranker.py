"""The reranker's interface: how well a text answers a query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from counterpoint.retrieval.core.values import Document


class Reranker(Protocol):
    """`name` identifies model and weights, so that every score can be traced to them."""

    name: str

    def __call__(self, query: str, texts: Sequence[str]) -> list[float]:
        """One score per text, in order; higher is more relevant, and scores of different queries are not comparable."""


def make_passage(document: Document) -> str:
    """The text of a document that a reranker reads: "Title. Abstract", as in MedCPT's training (ncbi/MedCPT-Cross-Encoder)."""
    title = document.title.strip()
    if title and title[-1] not in ".?!":
        title += "."
    return f"{title} {document.abstract}".strip()


class CachingReranker:
    """A reranker that scores each (query, text) only once; for a single request, since nothing is ever evicted."""

    def __init__(self, reranker: Reranker) -> None:
        self.name, self._reranker = reranker.name, reranker
        self._scores: dict[tuple[str, str], float] = {}

    def __call__(self, query: str, texts: Sequence[str]) -> list[float]:
        """One score per text, in order."""
        new = [text for text in dict.fromkeys(texts) if (query, text) not in self._scores]
        if new:
            self._scores.update(((query, text), score) for text, score in zip(new, self._reranker(query, new), strict=True))
        return [self._scores[query, text] for text in texts]
