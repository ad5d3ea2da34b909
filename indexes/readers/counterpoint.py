"""Our own JSON lines: the simplest way to supply documents of any origin."""

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
from indexes.readers.base.objects import read_documents
from indexes.readers.base.records import OnBad, RecordError, raise_bad
from retrieval.core.values import Author, Document, Section

KEYS = ("pmid", "title", "abstract", "year", "journal", "types", "retracted", "authors", "doi", "pmcid", "mesh")


def read(path: Path, on_bad: OnBad = raise_bad) -> Iterator[Document]:
    """The documents of one file, in its order."""
    return read_documents(path, _make_document, on_bad)


def _make_document(record: dict[str, Any]) -> Document:
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
