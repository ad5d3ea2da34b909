"""Exports in JSON: CSL-JSON, as Zotero writes it (https://docs.citationstyles.org), Crossref's and Europe PMC's."""

from __future__ import annotations

from collections.abc import Iterator, Set
from pathlib import Path
from typing import Any

from indexes.readers.base.fields import check_required, describe_value
from indexes.readers.base.jsonl import read_documents
from indexes.readers.base.records import Omission, OnBad, Record, RecordError, raise_bad
from indexes.readers.exports.entry import Fields, clean_prose, make_document, parse_author
from retrieval.core.values import Author, Document, Notice

_CSL_KEYS = frozenset({"type", "container-title", "issued", "author", "DOI", "PMID"})
_RETRACTING = frozenset({"retraction", "withdrawal", "removal"})


def is_item(keys: Set[str]) -> bool:
    """Whether an object with these keys is an item of CSL."""
    return not _CSL_KEYS.isdisjoint(keys)


def read_csl(path: Path, on_bad: OnBad = raise_bad) -> Iterator[Record]:
    """The items of one file, in its order."""
    return read_documents(path, lambda item: make_document(_read_fields(item)), on_bad)


def _read_fields(item: dict[str, Any]) -> Fields:
    # Programs write some keys in other cases, or take them from other formats.
    item = {key.lower(): value for key, value in item.items()}
    return Fields(
        title=_read_text(item, "title"),
        abstract=_read_text(item, "abstract"),
        journal=_read_text(item, "container-title") or _read_text(item, "journal"),
        date=_read_date(item.get("issued")) or _read_text(item, "year"),
        authors=_read_authors(item.get("author") or item.get("authors")),
        types=[_read_type(item)],
        pmid=_read_text(item, "pmid"),
        doi=_read_text(item, "doi"),
        pmcid=_read_text(item, "pmcid"),
        ids=[_read_text(item, "note"), _read_text(item, "url"), _read_text(item, "id")],
        retracted=item.get("retracted") is True or _is_retracted(item.get("updated-by")),
    )


def _is_retracted(updates: object) -> bool:
    """Whether Crossref knows of a retraction."""
    kinds = [update.get("type") for update in updates if isinstance(update, dict)] if isinstance(updates, list) else []
    return any(kind in _RETRACTING for kind in kinds if isinstance(kind, str))


def _read_text(item: dict[str, Any], key: str) -> str:
    value = item.get(key)
    if value is None or isinstance(value, bool):
        return ""
    if isinstance(value, (str, int, float)):
        return str(value)
    # Crossref's JSON, which some programs pass on, has lists where CSL has strings.
    if isinstance(value, list) and all(isinstance(text, str) for text in value):
        return value[0] if value else ""
    raise RecordError(f'expected text in "{key}", got {describe_value(value)}')


def _read_type(item: dict[str, Any]) -> str:
    """The item's type; Zotero exports preprints as "article", which elsewhere means a journal article."""
    kind = _read_text(item, "type")
    return "preprint" if kind == "article" and not item.get("container-title") else kind


def _read_date(date: object) -> str:
    """A date as text: CSL has it in parts, raw, or as free text."""
    if not isinstance(date, dict):
        return date if isinstance(date, str) else ""
    parts = date.get("date-parts")
    if isinstance(parts, list) and parts and isinstance(parts[0], list) and parts[0]:
        return str(parts[0][0])
    return str(date.get("raw") or date.get("literal") or "")


def _read_authors(authors: object) -> list[Author]:
    if isinstance(authors, str):
        authors = authors.split(";")
    elif isinstance(authors, dict):
        authors = [authors]
    elif not isinstance(authors, list | None):
        raise RecordError(f'expected a list of names in "author", got {describe_value(authors)}')
    return [_read_author(author) for author in authors or []]


def _read_author(name: object) -> Author:
    if isinstance(name, str):
        return parse_author(name)
    if not isinstance(name, dict):
        raise RecordError(f'expected names as objects or texts in the list "author", got {describe_value(name)}')

    def part(*keys: str) -> str:
        return clean_prose(" ".join(_read_text(name, key) for key in keys))

    if not part("family"):
        return Author(part("literal") or part("name") or part("given"))
    return Author(part("dropping-particle", "non-dropping-particle", "family"), part("given"), part("suffix"))


EUROPE_PMC_KEYS = frozenset({"id", "source", "title"})
_RETRACTING_NOTICES = frozenset({"RetractionIn", "RetractedandRepublishedIn"})


def read_europepmc(path: Path, on_bad: OnBad = raise_bad) -> Iterator[Document | Omission]:
    """The documents of one file, in its order."""
    return read_documents(path, _make_document, on_bad)


def _make_document(result: dict[str, Any]) -> Document | Omission:
    check_required(result, "id", "source")
    notices = [_make_notice(link) for link in _list(result, "commentCorrectionList", "commentCorrection")]
    return make_document(
        Fields(
            title=_text(result, "title"),
            abstract=_text(result, "abstractText"),
            journal=_text(result, "journalInfo", "journal", "title") or _text(result, "bookOrReportDetails", "publisher"),
            date=_text(result, "pubYear") or _text(result, "firstPublicationDate"),
            authors=[_make_author(author) for author in _list(result, "authorList", "author")],
            types=[kind for kind in _list(result, "pubTypeList", "pubType") if isinstance(kind, str)],
            mesh=[_text(heading, "descriptorName") for heading in _list(result, "meshHeadingList", "meshHeading")],
            notices=[notice for notice in notices if notice.pmid],
            retracted=any(notice.kind in _RETRACTING_NOTICES for notice in notices),
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
