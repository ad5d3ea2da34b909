"""Searching documents by their words, in any spelling; shared by the API, the command line and MCP."""

from __future__ import annotations

from retrieval.core.values import Document, Hit
from retrieval.index import Index
from retrieval.words.forms import add_other_forms


def search_words(index: Index, query: str, end: int, begin: int = 0) -> list[tuple[Hit, Document]]:
    """The documents from place `begin` (from 0) up to place `end` that match the query's words, best first."""
    hits = index.search(add_other_forms(query), end)[begin:]
    entries = index.entries([hit.pmid for hit in hits])
    return [(hit, entry.document) for hit, entry in zip(hits, entries, strict=True)]
