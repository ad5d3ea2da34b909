"""Europe PMC's results as its REST service returns them (`resultType=core`), one JSON object per line or in their envelope."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from indexes.readers.base.fields import check_required, describe_value
from indexes.readers.base.objects import read_documents
from indexes.readers.base.records import Omission, OnBad, RecordError, raise_bad
from indexes.readers.exports.entry import Fields, make_document, parse_author
from retrieval.core.values import Author, Document, Notice

KEYS = frozenset({"id", "source", "title"})
_RETRACTING = frozenset({"RetractionIn", "RetractedandRepublishedIn"})


def read(path: Path, on_bad: OnBad = raise_bad) -> Iterator[Document | Omission]:
    """The documents of one file, in its order."""
    return read_documents(path, _make_document, on_bad)


def _make_document(result: dict[str, Any]) -> Document | Omission:
    check_required(result, "id", "source")
    notices = [_make_notice(one) for one in _list(result, "commentCorrectionList", "commentCorrection")]
    return make_document(
        Fields(
            title=_text(result, "title"),
            abstract=_text(result, "abstractText"),
            journal=_text(result, "journalInfo", "journal", "title") or _text(result, "bookOrReportDetails", "publisher"),
            date=_text(result, "pubYear") or _text(result, "firstPublicationDate"),
            authors=[_make_author(one) for one in _list(result, "authorList", "author")],
            types=[one for one in _list(result, "pubTypeList", "pubType") if isinstance(one, str)],
            mesh=[_text(one, "descriptorName") for one in _list(result, "meshHeadingList", "meshHeading")],
            notices=[notice for notice in notices if notice.pmid],
            retracted=any(notice.kind in _RETRACTING for notice in notices),
            pmid=_text(result, "pmid"),
            doi=_text(result, "doi"),
            pmcid=_text(result, "pmcid"),
            ids=[] if _text(result, "doi") else [f"{_text(result, 'source')}:{_text(result, 'id')}"],
        )
    )


def _make_notice(link: object) -> Notice:
    """A link to another paper; its kind as PubMed names it: "Retraction in" is "RetractionIn"."""
    words = _text(link, "type").split()
    kind = "".join(word if word == "and" else word.capitalize() for word in words)
    return Notice(kind, _text(link, "id") if _text(link, "source") == "MED" else "")


def _make_author(author: object) -> Author:
    if isinstance(author, str):
        return parse_author(author)
    if not isinstance(author, dict):
        raise RecordError(f'expected objects in the list "author", got {describe_value(author)}')
    family = _text(author, "lastName") or _text(author, "collectiveName") or _text(author, "fullName")
    return Author(family, _text(author, "firstName") or (_text(author, "initials") if author.get("lastName") else ""))


def _find(value: Any, keys: tuple[str, ...]) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _text(value: object, *keys: str) -> str:
    item = _find(value, keys)
    if item is None or isinstance(item, (str, int)):
        return "" if item is None else str(item)
    raise RecordError(f'expected text in "{keys[-1]}", got {describe_value(item)}')


def _list(value: object, *keys: str) -> list[Any]:
    item = _find(value, keys)
    return item if isinstance(item, list) else []
