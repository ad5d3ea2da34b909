"""CSL-JSON, as Zotero and Better BibTeX for Zotero export it: one list of items; https://docs.citationstyles.org."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from indexes.readers.base.fields import describe_value
from indexes.readers.base.records import OnBad, Record, RecordError, raise_bad
from indexes.readers.base.source import read_text
from indexes.readers.exports.entry import Fields, clean_prose, make_document
from retrieval.core.errors import BadInput, BadRecord
from retrieval.core.values import Author

_BEGINS = re.compile(r"\s*\[\s*\{")
_KEYS = re.compile('"(?:type|container-title|issued|abstract|author)"')


def is_csl(head: str) -> bool:
    """Whether a text begins like a list of items with CSL's keys."""
    return bool(_BEGINS.match(head) and _KEYS.search(head))


def read(path: Path, on_bad: OnBad = raise_bad) -> Iterator[Record]:
    """The items of one file, in its order."""
    try:
        items = json.loads(read_text(path, on_bad))
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise BadRecord(path, where, f"expected valid JSON to the end, found an error ({error.msg}); export it again.") from None
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path} cannot be read as JSON ({error}); export it again.") from None
    if not isinstance(items, list):
        raise BadInput(f"{path} is not CSL-JSON: expected one list of items, got {describe_value(items)}; export it again.")
    for number, item in enumerate(items, 1):
        try:
            record = make_document(_read_fields(item))
        except RecordError as fault:
            on_bad(BadRecord(path, f"item {number}", str(fault)))
        else:
            yield record


def _read_fields(item: object) -> Fields:
    if not isinstance(item, dict):
        raise RecordError(f"expected an object, got {describe_value(item)}")
    return Fields(
        title=_read_text(item, "title"),
        abstract=_read_text(item, "abstract"),
        journal=_read_text(item, "container-title"),
        date=_read_date(item.get("issued")),
        authors=_read_authors(item.get("author")),
        types=[_read_type(item)],
        pmid=_read_text(item, "PMID"),
        doi=_read_text(item, "DOI"),
        pmcid=_read_text(item, "PMCID"),
        ids=[_read_text(item, "note"), _read_text(item, "URL"), _read_text(item, "id")],
    )


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
    if authors is None:
        return []
    if not isinstance(authors, list) or not all(isinstance(one, dict) for one in authors):
        raise RecordError(f'expected a list of names in "author", got {describe_value(authors)}')
    return [_read_author(one) for one in authors]


def _read_author(name: dict[str, Any]) -> Author:
    def part(*keys: str) -> str:
        return clean_prose(" ".join(_read_text(name, key) for key in keys))

    if not name.get("family"):
        return Author(part("literal") or part("given"))
    return Author(part("dropping-particle", "non-dropping-particle", "family"), part("given"), part("suffix"))
