"""CSL-JSON, as Zotero exports it (https://docs.citationstyles.org), and Crossref's JSON, which is like it: a list of items."""

from __future__ import annotations

from collections.abc import Iterator, Set
from pathlib import Path
from typing import Any

from indexes.readers.base.fields import describe_value
from indexes.readers.base.objects import read_documents
from indexes.readers.base.records import OnBad, Record, RecordError, raise_bad
from indexes.readers.exports.entry import Fields, clean_prose, make_document, parse_author
from retrieval.core.values import Author

_KEYS = frozenset({"type", "container-title", "issued", "author", "DOI", "PMID"})
_RETRACTING = frozenset({"retraction", "withdrawal", "removal"})


def is_item(keys: Set[str]) -> bool:
    """Whether an object with these keys is an item of CSL."""
    return not _KEYS.isdisjoint(keys)


def read(path: Path, on_bad: OnBad = raise_bad) -> Iterator[Record]:
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
    kinds = [one.get("type") for one in updates if isinstance(one, dict)] if isinstance(updates, list) else []
    return any(kind in _RETRACTING for kind in kinds if isinstance(kind, str))


def _read_text(item: dict[str, Any], key: str) -> str:
    value = item.get(key)
    if value is None or isinstance(value, bool):
        return ""
    if isinstance(value, (str, int, float)):
        return str(value)
    # Crossref's JSON, which some programs pass on, has lists where CSL has strings.
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
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
    return [_read_author(one) for one in authors or []]


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
