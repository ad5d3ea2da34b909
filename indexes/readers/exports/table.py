"""CSV, as databases, Zotero and spreadsheets write it: the first row names the columns, which go by many names.

The separator is whichever of comma, semicolon, tab and bar occurs most often in the first row.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from indexes.readers.base.records import OnBad, Record, raise_bad
from indexes.readers.base.source import read_text_lines
from indexes.readers.exports.entry import Fields, make_document, parse_author
from retrieval.core.errors import BadInput, BadRecord
from retrieval.core.values import Author

Columns = Mapping[str, str]
"""Column names in the file, by what the column holds: one of `NAMES`."""

NAMES: dict[str, tuple[str, ...]] = {
    "title": ("title", "article title", "document title", "paper title", "ti"),
    "abstract": ("abstract", "abstract note", "abstract text", "ab"),
    "pmid": ("pmid", "pubmed id", "pubmed pmid", "pm"),
    "doi": ("doi", "digital object identifier"),
    "pmcid": ("pmcid", "pmc", "pmc id"),
    "year": ("year", "publication year", "pub year", "pubyear", "date", "publication date", "py"),
    "journal": ("journal", "journal/book", "publication title", "source title", "journal title", "so"),
    "authors": ("authors", "author full names", "author", "author(s)", "au"),
    "mesh": ("mesh", "mesh terms", "mesh headings"),
    "types": ("publication type", "publication types", "types", "document type", "item type"),
    "notes": ("extra", "notes", "url"),
}
_TELLING = ("title", "abstract", "pmid", "doi")
_DELIMITERS = ",;\t|"
_INITIALED = re.compile(r"[^,;]+ [A-Z][A-Z.\-]{0,5}\.?")


def guess_delimiter(first: str) -> str:
    """The separator of a table's cells, guessed from its first row."""
    return max(_DELIMITERS, key=first.count)


def check_columns(columns: Columns) -> None:
    """Raise for a column that holds something no document has."""
    for name in columns:
        if name not in NAMES:
            raise BadInput(f"--column {name}=… names no part of a document; expected one of {', '.join(NAMES)} before “=”.")


def is_table(head: str, columns: Columns) -> bool:
    """Whether the first row names a column that a table of papers has, by its usual name or by the user's."""
    first = head.lstrip("\n").partition("\n")[0]
    try:
        names = next(csv.reader([first], delimiter=guess_delimiter(first)), [])
    except csv.Error:
        return False
    places = _place([name.strip() for name in names], {})
    return len(names) > 1 and (any(name in places for name in _TELLING) or not set(columns.values()).isdisjoint(names))


def read(path: Path, on_bad: OnBad = raise_bad, columns: Columns | None = None) -> Iterator[Record]:
    """The rows of one file, in its order; one without a column for the abstract is refused, and `columns` says which it is."""
    lines = (line for _, line in read_text_lines(path, on_bad))
    first = next((line for line in lines if line.strip()), "")
    delimiter = guess_delimiter(first)
    names = [name.strip() for name in next(csv.reader([first], delimiter=delimiter), [])]
    places = _find_places(path, names, columns or {})
    return _read_rows(path, csv.reader(lines, delimiter=delimiter, strict=True), len(names), places, on_bad)


def _read_rows(path: Path, rows: Any, width: int, places: dict[str, int], on_bad: OnBad) -> Iterator[Record]:
    try:
        for number, cells in enumerate(rows, 2):
            if not any(cells):
                continue
            if any(cell.strip() for cell in cells[width:]):
                message = f"expected {width} cells, got {len(cells)}; a cell that holds the separator needs quotation marks"
                on_bad(BadRecord(path, f"row {number}", message))
                continue
            yield make_document(_read_fields(cells, places))
    except csv.Error as error:
        hint = f"expected CSV, found an error ({error}); a quotation mark may be missing. Save the file again."
        raise BadRecord(path, f"after line {rows.line_num}", hint) from None


def _find_places(path: Path, names: list[str], columns: Columns) -> dict[str, int]:
    """The position of each part of a document in a row; raises `BadInput` if a named column or the abstract's is missing."""
    heads = ", ".join(name[:40] or "(no name)" for name in names[:12]) + (", …" if len(names) > 12 else "")
    for name, column in columns.items():
        if column not in names:
            raise BadInput(
                f"{path} has no column “{column}”, named by --column {name}={column}; its columns are {heads}; name one of them."
            )
    places = _place(names, columns)
    if "abstract" not in places:
        raise BadInput(
            f"{path} has no column for abstracts, which are what is searched; its columns are {heads}; name it with "
            "--column abstract=NAME, or export with abstracts (from PubMed: Save, Format: PubMed)."
        )
    return places


def _place(names: list[str], columns: Columns) -> dict[str, int]:
    labels = [name.lower().replace("_", " ").strip() for name in names]
    places = {part: names.index(column) for part, column in columns.items()}
    for part, usual in NAMES.items():
        place = next((labels.index(name) for name in usual if name in labels), None)
        if part not in places and place is not None:
            places[part] = place
    return places


def _read_fields(cells: list[str], places: dict[str, int]) -> Fields:
    def cell(part: str) -> str:
        place = places.get(part)
        return cells[place] if place is not None and place < len(cells) else ""

    return Fields(
        title=cell("title"),
        abstract=cell("abstract"),
        journal=cell("journal"),
        date=cell("year"),
        authors=_read_authors(cell("authors")),
        types=_split(cell("types")),
        mesh=_split(cell("mesh")),
        pmid=cell("pmid"),
        doi=cell("doi"),
        pmcid=cell("pmcid"),
        ids=[cell("notes")],
    )


def _split(cell: str) -> list[str]:
    return [part.strip() for part in re.split("[;|]", cell) if part.strip()]


def _read_authors(cell: str) -> list[Author]:
    """Names between semicolons; between commas where each is a family name with initials, as PubMed writes them."""
    names = _split(cell)
    if len(names) == 1:
        parts = [part.strip() for part in cell.strip().rstrip(".").split(",") if part.strip()]
        if all(_INITIALED.fullmatch(part) for part in parts):
            names = parts
    return [parse_author(name) for name in names]
