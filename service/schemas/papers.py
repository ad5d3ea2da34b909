"""What JSON bodies that show a paper say about it."""

from __future__ import annotations

from typing import Any

from retrieval.core.values import Document
from service.schemas.values import OfValue

AUTHORS = "Each author as family name, given name; a group's name has no comma. Empty if the source names none."


def facts_of(document: Document) -> dict[str, Any]:
    """The fields that every response that shows a document has for it."""
    return {
        "pmid": document.pmid,
        "title": document.title,
        "year": document.year,
        "journal": document.journal,
        "authors": [str(author) for author in document.authors],
        "doi": document.doi,
        "pmcid": document.pmcid,
        "mesh": list(document.mesh),
        "types": list(document.types),
        "retracted": document.retracted,
    }


class SentenceOut(OfValue):
    """A sentence exactly as in the abstract: `abstract[start:end] == text`; `index` counts from 0."""

    index: int
    start: int
    end: int
    text: str
