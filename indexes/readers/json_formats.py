"""Documents in JSON lines: Counterpoint's own, Pyserini's and SciFact's."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any

from indexes.readers.base.fields import (
    check_required,
    clean_text,
    describe_value,
    find_doi,
    join_parts,
    read_id,
    read_text,
)
from indexes.readers.base.jsonl import read_documents
from indexes.readers.base.records import OnBad, RecordError, raise_bad
from retrieval.core.values import Author, Document, Section, Span

KEYS = ("pmid", "title", "abstract", "year", "journal", "types", "retracted", "authors", "doi", "pmcid", "mesh")


def read_counterpoint(path: Path, on_bad: OnBad = raise_bad) -> Iterator[Document]:
    """The documents of one file, in its order."""
    return read_documents(path, _make_counterpoint, on_bad)


def _make_counterpoint(record: dict[str, Any]) -> Document:
    check_required(record, "pmid", "title", "abstract")
    for key in record:
        if key not in KEYS:
            _check_unknown(key)
    abstract, sections = _read_abstract(record["abstract"])
    return Document(
        pmid=read_id(record["pmid"], "pmid"),
        title=read_text(record, "title"),
        abstract=abstract,
        year=_read_year(record.get("year")),
        journal=read_text(record, "journal"),
        types=_read_texts(record, "types"),
        sections=sections,
        retracted=_read_retracted(record.get("retracted")),
        authors=tuple(map(_parse_author, filter(None, _read_texts(record, "authors")))),
        doi=_read_doi(record),
        pmcid=read_text(record, "pmcid").upper(),
        mesh=_read_texts(record, "mesh"),
    )


@lru_cache(maxsize=1024)
def _find_known_key(key: str) -> str | None:
    """The key of ours that `key` seems to mean, if any."""
    close = get_close_matches(key.lower(), KEYS, n=1, cutoff=0.8)
    return close[0] if close else None


def _check_unknown(key: str) -> None:
    """Ignore keys that are not ours; raise for one that looks like a misspelling, since its value would be lost."""
    if likely_key := _find_known_key(key):
        raise RecordError(f'expected the key "{likely_key}", got "{clean_text(key[:40])}", which would be ignored')


def _read_abstract(value: object) -> tuple[str, tuple[Section, ...]]:
    if value is None or isinstance(value, str):
        return clean_text(value or ""), ()
    if isinstance(value, list):
        return join_parts([_read_part(item) for item in value])
    raise RecordError(f'expected text or a list of texts or sections in "abstract", got {describe_value(value)}')


def _read_part(item: object) -> tuple[str, str]:
    if isinstance(item, str):
        return "", clean_text(item)
    if isinstance(item, dict):
        check_required(item, "text")
        return read_text(item, "label"), read_text(item, "text")
    raise RecordError(f'expected texts or {{"label": …, "text": …}} in the list "abstract", got {describe_value(item)}')


def _read_year(value: object) -> int | None:
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and 0 < value < 10_000):
        return value
    raise RecordError(f'expected a year such as 2019, or null, in "year", got {describe_value(value)}')


def _read_texts(record: dict[str, Any], key: str) -> tuple[str, ...]:
    value = record.get(key)
    if value is None:
        return ()
    if not isinstance(value, list):
        raise RecordError(f'expected a list of texts in "{key}", got {describe_value(value)}')
    for item in value:
        if not isinstance(item, str):
            raise RecordError(f'expected texts in the list "{key}", got {describe_value(item)}')
    return tuple(clean_text(item) for item in value)


def _parse_author(name: str) -> Author:
    """The author named as "Family, Given, Suffix"; a name without a comma is a group's."""
    return Author(*(part.strip() for part in name.split(",", 2)))


def _read_doi(record: dict[str, Any]) -> str:
    text = read_text(record, "doi")
    doi = find_doi(text)
    if text and not doi:
        raise RecordError(f'expected a DOI such as 10.1000/xyz123 in "doi", got {describe_value(text)}')
    return doi


def _read_retracted(value: object) -> bool:
    if value is None or isinstance(value, bool):
        return bool(value)
    raise RecordError(f'expected true or false in "retracted", got {describe_value(value)}')


def read_pyserini(path: Path, on_bad: OnBad = raise_bad) -> Iterator[Document]:
    """The documents of one file, in its order."""
    return read_documents(path, _make_pyserini, on_bad)


def _make_pyserini(record: dict[str, Any]) -> Document:
    """The document: the first line is the title; if there is only one line, it is all abstract, as no title can be told apart."""
    check_required(record, "id", "contents")
    contents = record["contents"]
    if not isinstance(contents, str):
        raise RecordError(f'expected text in "contents", got {describe_value(contents)}')
    title, newline, abstract = contents.strip().partition("\n")
    if not newline:
        title, abstract = "", title
    return Document(pmid=read_id(record["id"], "id"), title=clean_text(title), abstract=clean_text(abstract))


def read_scifact(path: Path, on_bad: OnBad = raise_bad) -> Iterator[Document]:
    """The documents of one file, in its order."""
    return read_documents(path, _make_scifact, on_bad)


def _make_scifact(record: dict[str, Any]) -> Document:
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
