"""A checked text as a table with a row for each sentence: CSV, or a spreadsheet by openpyxl. A cell is text, never a formula."""

from __future__ import annotations

import io
import re

from service.checking.export.rows import best, cited_line, why, words_of
from service.checking.schemas import CheckedText
from service.output.export import write_csv

COLUMNS = (
    "row", "sentence", "claim", "verdict", "why", "papers_against", "papers_for", "papers_uncertain",
    "against_pmid", "against_title", "against_year", "against_sentence", "against_link",
    "for_pmid", "for_title", "for_year", "for_sentence", "for_link", "citations",
)  # fmt: skip
# A spreadsheet's XML cannot contain any of these.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_LONGEST = 32_767
"""The most characters in a cell of a spreadsheet."""
_WIDTHS = {
    "sentence": 60,
    "claim": 60,
    "why": 40,
    "against_title": 40,
    "against_sentence": 60,
    "for_title": 40,
    "for_sentence": 60,
}


def rows(report: CheckedText) -> list[tuple[str | int, ...]]:
    """Every sentence but headings, in order, with the columns of `COLUMNS`; `row` is the list's, or counts sentences from 1."""
    return [_row(report, place) for place, one in enumerate(report.sentences) if one.reason != "heading"]


def csv_text(report: CheckedText) -> str:
    """The table as CSV in UTF-8; a cell that a spreadsheet would take for a formula begins with an apostrophe."""
    return write_csv(COLUMNS, rows(report))


def xlsx(report: CheckedText) -> bytes:
    """The table as an XLSX file: its first row stays in view and has filters, and its links can be followed."""
    from openpyxl import Workbook
    from openpyxl.styles import Alignment, Font
    from openpyxl.utils import get_column_letter

    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "Checked text"
    for line, row in enumerate((COLUMNS, *rows(report)), 1):
        for column, value in enumerate(row, 1):
            cell = sheet.cell(line, column)
            if isinstance(value, int):
                cell.value = value
            else:
                cell.value = _CONTROL.sub(" ", value)[:_LONGEST]
                cell.data_type = "s"
            cell.alignment = Alignment(wrap_text=True, vertical="top")
            if line == 1:
                cell.font = Font(bold=True)
            elif COLUMNS[column - 1].endswith("_link") and value:
                cell.hyperlink = str(value)
    for column, name in enumerate(COLUMNS, 1):
        sheet.column_dimensions[get_column_letter(column)].width = _WIDTHS.get(name, 16)
    sheet.freeze_panes = "A2"
    sheet.auto_filter.ref = sheet.dimensions
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def _row(report: CheckedText, place: int) -> tuple[str | int, ...]:
    one = report.sentences[place]
    result = one.result
    start: tuple[str | int, ...] = (one.row or place + 1, words_of(report, one), one.claim, one.verdict, why(one))
    if result is None:
        return (*start, *("" for _ in COLUMNS[len(start) :]))
    sides: list[str | int] = []
    for side in (result.against, result.in_favour):
        paper = best(side)
        sides += [paper.id, paper.title, side[0].year or "", paper.sentence, paper.link] if paper else [""] * 5
    citations = "; ".join([*map(cited_line, result.cited), *(f"[{number}] names no PMID or DOI" for number in one.unresolved)])
    return (*start, len(result.against), len(result.in_favour), len(result.uncertain), *sides, citations)
