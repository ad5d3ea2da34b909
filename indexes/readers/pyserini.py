"""Pyserini's JsonCollection, in which TREC BioGen gives its corpus: an "id" and, in one text, title and abstract."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from indexes.readers import jsonl
from indexes.readers.fields import came, clean, identifier, required
from indexes.readers.records import OnBad, RecordError, raise_bad
from retrieval.core.values import Document


def read(path: Path, on_bad: OnBad = raise_bad) -> Iterator[Document]:
    """The documents of one file, in its order."""
    return jsonl.documents(path, _document, on_bad)


def _document(record: dict[str, Any]) -> Document:
    """A first line is the title; contents of one line are all abstract, for nothing says where the title ends."""
    required(record, "id", "contents")
    contents = record["contents"]
    if not isinstance(contents, str):
        raise RecordError(f'expected text in "contents", got {came(contents)}')
    title, newline, abstract = contents.strip().partition("\n")
    if not newline:
        title, abstract = "", title
    return Document(pmid=identifier(record["id"], "id"), title=clean(title), abstract=clean(abstract))
