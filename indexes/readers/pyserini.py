"""Pyserini's JsonCollection, in which TREC BioGen gives its corpus: an "id" and, in one text, title and abstract."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from indexes.readers.base.fields import check_required, clean_text, describe_value, read_id
from indexes.readers.base.objects import read_documents
from indexes.readers.base.records import OnBad, RecordError, raise_bad
from retrieval.core.values import Document


def read(path: Path, on_bad: OnBad = raise_bad) -> Iterator[Document]:
    """The documents of one file, in its order."""
    return read_documents(path, _make_document, on_bad)


def _make_document(record: dict[str, Any]) -> Document:
    """The document: the first line is the title; if there is only one line, it is all abstract, as no title can be told apart."""
    check_required(record, "id", "contents")
    contents = record["contents"]
    if not isinstance(contents, str):
        raise RecordError(f'expected text in "contents", got {describe_value(contents)}')
    title, newline, abstract = contents.strip().partition("\n")
    if not newline:
        title, abstract = "", title
    return Document(pmid=read_id(record["id"], "id"), title=clean_text(title), abstract=clean_text(abstract))
