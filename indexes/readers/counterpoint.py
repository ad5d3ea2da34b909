"""Our own JSON lines: the simplest way to bring documents of any origin."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any

from indexes.readers import jsonl
from indexes.readers.fields import RETRACTED, came, clean, identifier, join, required, text
from indexes.readers.records import OnBad, RecordError, raise_bad
from retrieval.core.values import Document, Section

KEYS = ("pmid", "title", "abstract", "year", "journal", "types", "retracted")


def read(path: Path, on_bad: OnBad = raise_bad) -> Iterator[Document]:
    """The documents of one file, in its order."""
    return jsonl.documents(path, _document, on_bad)


def _document(record: dict[str, Any]) -> Document:
    required(record, "pmid", "title", "abstract")
    for key in record:
        if key not in KEYS:
            _check_unknown(key)
    abstract, sections = _abstract(record["abstract"])
    types = _types(record.get("types"))
    return Document(
        pmid=identifier(record["pmid"], "pmid"),
        title=text(record, "title"),
        abstract=abstract,
        year=_year(record.get("year")),
        journal=text(record, "journal"),
        types=types,
        sections=sections,
        retracted=_retracted(record.get("retracted")) or RETRACTED in types,
    )


@lru_cache(maxsize=1024)
def _known(key: str) -> str | None:
    """The key of ours that `key` seems to mean, if any."""
    close = get_close_matches(key.lower(), KEYS, n=1, cutoff=0.8)
    return close[0] if close else None


def _check_unknown(key: str) -> None:
    """Pass over keys that are other people's business; stop at one that seems a slip, for its value would be lost."""
    if meant := _known(key):
        raise RecordError(f'expected the key "{meant}", got "{clean(key[:40])}", which would be ignored')


def _abstract(value: object) -> tuple[str, tuple[Section, ...]]:
    if value is None or isinstance(value, str):
        return clean(value or ""), ()
    if isinstance(value, list):
        return join([_part(item) for item in value])
    raise RecordError(f'expected text or a list of texts or sections in "abstract", got {came(value)}')


def _part(item: object) -> tuple[str, str]:
    if isinstance(item, str):
        return "", clean(item)
    if isinstance(item, dict):
        required(item, "text")
        return text(item, "label"), text(item, "text")
    raise RecordError(f'expected texts or {{"label": …, "text": …}} in the list "abstract", got {came(item)}')


def _year(value: object) -> int | None:
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and 0 < value < 10_000):
        return value
    raise RecordError(f'expected a year such as 2019, or null, in "year", got {came(value)}')


def _types(value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        raise RecordError(f'expected a list of texts in "types", got {came(value)}')
    for item in value:
        if not isinstance(item, str):
            raise RecordError(f'expected texts in the list "types", got {came(item)}')
    return tuple(clean(item) for item in value)


def _retracted(value: object) -> bool:
    if value is None or isinstance(value, bool):
        return bool(value)
    raise RecordError(f'expected true or false in "retracted", got {came(value)}')
