"""Claims given one by one: on a line each, or in a column of a table."""

from __future__ import annotations

import csv
import io

from indexes.readers.exports.table import guess_delimiter
from retrieval.core.errors import BadInput
from service.checking.readers.passage import Passage, Writing

COLUMN = "claim"
"""The column that is read by default."""


def read_lines(text: str) -> Passage:
    """One claim on each line; empty lines are skipped."""
    writing = Writing()
    for row, line in enumerate(text.splitlines(), 1):
        writing.add(line.strip(), "claim", row=row)
    return writing.done()


def read_table(text: str, name: str, column: str = "") -> Passage:
    """The claims in a column of a CSV file whose first row names the columns; raises `BadInput` if there is none.

    The delimiter is whichever of comma, semicolon, tab and bar is most frequent in the first row. `row` counts the file's rows
    from 1, so that a spreadsheet shows a claim under the same number.
    """
    heading = column or COLUMN
    header = text.lstrip("\n").partition("\n")[0]
    delimiter = guess_delimiter(header)
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error as error:
        raise BadInput(f"{name} cannot be read as CSV ({error}); write it again with the first row naming the columns.") from None
    if not rows:
        raise BadInput(f"{name} is empty; its first row should name the columns.")
    names = [one.strip() for one in rows[0]]
    place = _place(heading, names)
    if place is None:
        columns = ", ".join(one or "(no name)" for one in names[:10])
        raise BadInput(
            f"{name} has no column “{heading}” (its columns are {columns}); name the right one “{heading}”, "
            "or choose it with --column."
        )
    writing = Writing()
    for row, cells in enumerate(rows[1:], 2):
        if place < len(cells):
            writing.add(" ".join(cells[place].split()), "claim", row=row)
    passage = writing.done()
    if not passage.blocks:
        raise BadInput(f"{name} has no claim in its column “{names[place]}”; fill it, or name another with --column.")
    return passage


def _place(heading: str, names: list[str]) -> int | None:
    """The position of the column, or None; case is ignored unless two columns differ only by case."""
    if heading in names:
        return names.index(heading)
    places = [place for place, one in enumerate(names) if one.lower() == heading.lower()]
    return places[0] if len(places) == 1 else None
