"""SciFact's corpus (Wadden et al. 2020, https://github.com/allenai/scifact): abstracts already split into sentences."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from indexes.readers.base.fields import check_required, clean_text, describe_value, read_id, read_text
from indexes.readers.base.objects import read_documents
from indexes.readers.base.records import OnBad, RecordError, raise_bad
from retrieval.core.values import Document, Span


def read(path: Path, on_bad: OnBad = raise_bad) -> Iterator[Document]:
    """The documents of one file, in its order."""
    return read_documents(path, _make_document, on_bad)


def _make_document(record: dict[str, Any]) -> Document:
    check_required(record, "doc_id", "title", "abstract")
    sentences = record["abstract"]
    if not isinstance(sentences, list):
        raise RecordError(f'expected a list of sentences in "abstract", got {describe_value(sentences)}')
    for sentence in sentences:
        if not isinstance(sentence, str):
            raise RecordError(f'expected texts in the list "abstract", got {describe_value(sentence)}')
    abstract, spans = _join([clean_text(sentence) for sentence in sentences])
    return Document(pmid=read_id(record["doc_id"], "doc_id"), title=read_text(record, "title"), abstract=abstract, spans=spans)


def _join(sentences: list[str]) -> tuple[str, tuple[Span, ...]]:
    """The abstract and the span of every sentence in it.

    A sentence without text keeps its index, as an empty span: rationales are indices into the list.
    """
    spans: list[Span] = []
    end = 0
    for sentence in sentences:
        # No space goes before the first text, nor before a sentence without text.
        start = end + 1 if sentence and end else end
        end = start + len(sentence)
        spans.append((start, end))
    return " ".join(filter(None, sentences)), tuple(spans)
