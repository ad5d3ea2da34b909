"""Europe PMC's results as its REST service returns them (`resultType=core`), one JSON object per line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from indexes.readers.base import jsonl
from indexes.readers.base.fields import check_required, describe_value
from indexes.readers.base.records import Omission, OnBad, RecordError, raise_bad
from indexes.readers.exports.entry import Fields, make_document
from retrieval.core.values import Author, Document

KEYS = frozenset({"id", "source", "title"})


def read(path: Path, on_bad: OnBad = raise_bad) -> Iterator[Document | Omission]:
    """The documents of one file, in its order."""
    return jsonl.read_documents(path, _make_document, on_bad)


def _make_document(result: dict[str, Any]) -> Document | Omission:
    check_required(result, "id", "source")
    return make_document(
        Fields(
            title=_text(result, "title"),
            abstract=_text(result, "abstractText"),
            journal=_text(result, "journalInfo", "journal", "title") or _text(result, "bookOrReportDetails", "publisher"),
            date=_text(result, "pubYear") or _text(result, "firstPublicationDate"),
            authors=[_make_author(one) for one in _list(result, "authorList", "author")],
            types=[one for one in _list(result, "pubTypeList", "pubType") if isinstance(one, str)],
            mesh=[_text(one, "descriptorName") for one in _list(result, "meshHeadingList", "meshHeading")],
            pmid=_text(result, "pmid"),
            doi=_text(result, "doi"),
            pmcid=_text(result, "pmcid"),
            ids=[] if _text(result, "doi") else [f"{_text(result, 'source')}:{_text(result, 'id')}"],
        )
    )


def _make_author(author: dict[str, Any]) -> Author:
    family = _text(author, "lastName") or _text(author, "collectiveName") or _text(author, "fullName")
    return Author(family, _text(author, "firstName") or (_text(author, "initials") if author.get("lastName") else ""))


def _find(value: Any, keys: tuple[str, ...]) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _text(value: dict[str, Any], *keys: str) -> str:
    item = _find(value, keys)
    if item is None or isinstance(item, (str, int)):
        return "" if item is None else str(item)
    raise RecordError(f'expected text in "{keys[-1]}", got {describe_value(item)}')


def _list(value: dict[str, Any], *keys: str) -> list[Any]:
    item = _find(value, keys)
    return item if isinstance(item, list) else []
