"""RIS, the format that every reference manager and database exports, read by rispy one record at a time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from indexes.readers.base.records import OnBad, Record, raise_bad
from indexes.readers.base.source import read_text_lines
from indexes.readers.exports.entry import Fields, make_document, parse_author
from retrieval.core.errors import BadInput, BadRecord

_START = re.compile(r"TY  ?-")
_END = re.compile(r"ER  ?-")
_BEGINS = re.compile(r"^TY  ?- *\S", re.MULTILINE)
_NLM = re.compile("pubmed|medline", re.IGNORECASE)
_TITLES = ("title", "primary_title")
# The full name before abbreviations.
_JOURNALS = ("alternate_title3", "secondary_title", "journal_name", "alternate_title2", "alternate_title1")
_DATES = ("year", "publication_year", "date")
_IDS = ("urls", "notes", "custom2", "custom7", "note", "type_of_work", "accession_number", "research_notes")


def is_ris(head: str) -> bool:
    """Whether a text contains the line that begins a record."""
    return not head.lstrip().startswith(("{", "[", "<")) and bool(_BEGINS.search(head))


def read(path: Path, on_bad: OnBad = raise_bad) -> Iterator[Record]:
    """The records of one file, in its order; a file without records is refused."""
    import rispy

    parser, number = rispy.RisParser(), 0
    for line, lines, fault in _split(path):
        number += 1
        if fault:
            on_bad(BadRecord(path, f"record {number} (line {line})", fault))
            continue
        for fields in parser.parse_lines(iter(lines)):
            yield make_document(_read_fields(fields))
    if not number:
        raise BadInput(f"{path} holds no RIS record: expected records that begin with `TY  - `; export it again.")


def _split(path: Path) -> Iterator[tuple[int, list[str], str]]:
    """The lines of each record, with the number of its first line and what is wrong with its end, if anything is."""
    began, lines = 0, list[str]()
    for number, line in read_text_lines(path):
        if _START.match(line):
            if lines:
                yield began, lines, f"expected `ER  - ` at the end of the record, got another `TY  - ` in line {number}"
            began, lines = number, []
        if began:
            lines.append(line.rstrip("\n"))
        if began and _END.match(line):
            yield began, lines, ""
            began, lines = 0, []
    if lines:
        hint = "expected `ER  - ` at the end of the record, reached the end of the file; it is cut off, so export it again."
        raise BadRecord(path, f"the record in line {began}", hint)


def _read_fields(record: dict[str, Any]) -> Fields:
    database = f"{record.get('name_of_database', '')} {record.get('database_provider', '')}"
    return Fields(
        title=_find_first(record, *_TITLES),
        abstract=_find_first(record, "abstract", "notes_abstract"),
        journal=_find_first(record, *_JOURNALS),
        date=_find_first(record, *_DATES),
        authors=[parse_author(name) for name in record.get("authors") or record.get("first_authors") or []],
        types=[record["type_of_reference"]],
        pmid=record.get("accession_number", "") if _NLM.search(database) else "",
        doi=record.get("doi", ""),
        ids=[text for key in _IDS for text in _list(record.get(key, []))],
    )


def _find_first(record: dict[str, Any], *keys: str) -> str:
    return next((record[key] for key in keys if record.get(key)), "")


def _list(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value
