"""CSV, as databases, Zotero and spreadsheets write it: a row names the columns, which go by many names.

It is the first row, or the one among the first lines that names the most columns: databases write the date and the search above
it, and Excel a line `sep=;`. The separator is whichever of comma, semicolon, tab and bar occurs most often in it.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from counterpoint.indexes.readers.base.fields import (
    Note,
    OnBad,
    Record,
    RecordError,
    is_placeholder,
    make_records,
    raise_bad,
    read_pmid,
)
from counterpoint.indexes.readers.base.source import LONGEST, read_text_lines
from counterpoint.indexes.readers.exports.entry import Fields, make_document, parse_author
from counterpoint.retrieval.core.errors import BadInput, BadRecord
from counterpoint.retrieval.core.values import Author

Columns = Mapping[str, str]
"""Column names in the file, by what the column holds: one of `NAMES`."""

NAMES: dict[str, tuple[str, ...]] = {
    "title": ("title", "article title", "document title", "paper title", "ti"),
    "abstract": ("abstract", "abstract note", "abstract text", "ab"),
    "pmid": ("pmid", "pubmed id", "pubmed pmid", "pm"),
    "doi": ("doi", "digital object identifier", "di"),
    "pmcid": ("pmcid", "pmc", "pmc id"),
    "year": ("year", "publication year", "pub year", "pubyear", "date", "publication date", "published year", "py"),
    "journal": ("journal", "journal/book", "publication title", "source title", "journal title", "so"),
    "authors": ("authors", "author full names", "author", "author(s)", "au"),
    "mesh": ("mesh", "mesh terms", "mesh headings"),
    "types": ("publication type", "publication types", "types", "document type", "item type", "dt"),
    "retracted": ("retracted", "is retracted", "retraction status"),
    "notes": ("extra", "notes", "url"),
}
_IDENTIFYING = ("title", "abstract", "pmid", "doi")
_DELIMITERS = ",;\t|"
_SEPARATOR = re.compile(r"\"?sep=(.)\"?\s*", re.IGNORECASE)
_LOOKED_AT = 40
"""How many lines may stand above the row that names the columns."""
# The limit of Python's module is 131,072 characters, and a cell may hold a whole paper.
csv.field_size_limit(LONGEST)
_YES = frozenset({"yes", "y", "true", "t", "1", "x", "retracted", "withdrawn"})
_INITIALED = re.compile(r"[^,;]+ [A-Z][A-Z.\-]{0,5}\.?")


def guess_delimiter(first: str) -> str:
    """The separator of a table's cells, guessed from the row that names its columns."""
    return max(_DELIMITERS, key=first.count)


def check_columns(columns: Columns) -> None:
    """Raise for a column that holds something no document has."""
    for name in columns:
        if name not in NAMES:
            raise BadInput(f"--column {name}=… names no part of a document; expected one of {', '.join(NAMES)} before “=”.")


def is_table(head: str, columns: Columns) -> bool:
    """Whether a line names columns that a table of papers has, by their usual names or by the user's."""
    return _find_header(enumerate(head.split("\n"), 1), columns).known_columns > 0


def read(path: Path, on_bad: OnBad = raise_bad, columns: Columns | None = None) -> Iterator[Record]:
    """The rows of one file, in its order; one without a column for the abstract is refused, and `columns` says which it is."""
    header = _find_header(read_text_lines(path, lambda _: None), columns or {})
    places = _find_places(path, header.names, columns or {})
    return _read_documents(path, header, places, on_bad)


def _read_documents(path: Path, header: _Header, places: dict[str, int], on_bad: OnBad) -> Iterator[Record]:
    unread: list[tuple[str, str]] = []

    def make(row: list[str]) -> Record:
        if any(cell.strip() for cell in row[len(header.names) :]):
            hint = "a cell that holds the separator needs quotation marks"
            raise RecordError(f"expected {len(header.names)} cells, got {len(row)}; {hint}")
        return make_document(_read_fields(row, places))

    def watch(rows: Iterable[tuple[str, list[str]]]) -> Iterator[tuple[str, list[str]]]:
        for place, row in rows:
            pmid = _find_cell(row, places, "pmid").strip()
            if not read_pmid(pmid) and not is_placeholder(pmid) and pmid.strip("0"):
                unread.append((place, pmid[:40]))
            yield place, row

    yield from make_records(path, watch(_read_rows(path, header, on_bad)), make, on_bad)
    if unread:
        place, pmid = unread[0]
        hint = "spreadsheets shorten long numbers, so format the column as text and export it again"
        on_bad(Note(path, place, f"the first of {len(unread):,} cells for a PMID that hold none (“{pmid}”); {hint}"))


@dataclass(frozen=True, slots=True)
class _Header:
    """The row that names the columns: its line, its cells, the separator, and how many of them are known."""

    line: int
    names: list[str]
    delimiter: str
    known_columns: int


def _find_header(lines: Iterable[tuple[int, str]], columns: Columns) -> _Header:
    found, separator = _Header(1, [], ",", -1), ""
    for number, line in islice(lines, _LOOKED_AT):
        if number == 1 and (match := _SEPARATOR.fullmatch(line)):
            separator = match[1]
        elif line.strip():
            delimiter = separator or guess_delimiter(line)
            names = [name.strip() for name in next(csv.reader([line], delimiter=delimiter), [])]
            places = _place(names, {})
            known = len(places) + len(set(columns.values()).intersection(names))
            is_header = len(names) > 1 and (known > len(places) or any(name in places for name in _IDENTIFYING))
            if (known_columns := known if is_header else 0) > found.known_columns:
                found = _Header(number, names, delimiter, known_columns)
    return found


def _read_rows(path: Path, header: _Header, on_bad: OnBad) -> Iterator[tuple[str, list[str]]]:
    """The rows below the header that are not empty, each with its place."""
    lines = (line for number, line in read_text_lines(path, on_bad) if number > header.line)
    rows: Iterable[list[str]]
    if _is_plain(path, header):
        rows = ([_unquote(cell) for cell in line.rstrip("\n").split(header.delimiter)] for line in lines)
    else:
        rows = _parse_lines(path, lines, header)
    for number, row in enumerate(rows, header.line + 1):
        if any(row):
            yield f"row {number}", row


def _is_plain(path: Path, header: _Header) -> bool:
    """Whether no cell holds a separator or a line break: quotation marks then need not stand around cells, and may be text."""
    width, tabs = len(header.names), header.delimiter == "\t"
    for number, line in read_text_lines(path, lambda _: None):
        cells = line.rstrip("\n").split(header.delimiter) if number > header.line else []
        fits = len(cells) == width or (len(cells) == width + 1 and not cells[-1]) or not any(cells)
        if not fits or not (tabs or all(cell.count('"') % 2 == 0 for cell in cells if cell[:1] == '"')):
            return False
    return True


def _unquote(cell: str) -> str:
    """A cell without the quotation marks around it; marks that are part of its text stay."""
    inside = cell[1:-1]
    is_quoted = len(cell) > 1 and cell[0] == cell[-1] == '"' and '"' not in inside.replace('""', "")
    return inside.replace('""', '"') if is_quoted else cell


def _parse_lines(path: Path, lines: Iterable[str], header: _Header) -> Iterator[list[str]]:
    rows = csv.reader(lines, delimiter=header.delimiter, strict=True)
    try:
        yield from rows
    except csv.Error as error:
        hint = f"expected CSV, found an error ({error}); a quotation mark may be missing. Save the file again."
        raise BadRecord(path, f"after line {header.line + rows.line_num - 1}", hint) from None


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


def _find_cell(row: list[str], places: dict[str, int], part: str) -> str:
    place = places.get(part)
    return row[place] if place is not None and place < len(row) else ""


def _read_fields(row: list[str], places: dict[str, int]) -> Fields:
    def cell(part: str) -> str:
        return _find_cell(row, places, part)

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
        retracted=cell("retracted").strip().lower() in _YES,
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
