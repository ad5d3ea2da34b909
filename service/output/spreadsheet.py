"""Rows as CSV; a cell is text, never a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def write_csv(columns: Sequence[str], rows: Iterable[Sequence[str | int | float]]) -> str:
    """Write a table as CSV in UTF-8; a cell that a spreadsheet would take for a formula gets a leading apostrophe."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_make_harmless(cell) for cell in row] for row in rows)
    return buffer.getvalue()


def _make_harmless(cell: str | int | float) -> str | int | float:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell
