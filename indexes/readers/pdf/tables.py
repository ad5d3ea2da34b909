"""The rows of a table in a PDF: columns by the blanks between them, rows by the order in which cells are drawn."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from counterpoint.indexes.readers.pdf.layout import Item, Layout, Region, group_rows, split_cells
from counterpoint.indexes.readers.pdf.lines import OPEN, Line, Word

_GOES_ON = re.compile(rf"[a-z(\[{OPEN}%&/–-]|±")
_BEGINS_NOTE = re.compile(rf"[*†‡§¶#{OPEN}]|[a-z]\s")
_CROSSED = 0.12
"""The share of rows that may cross the blank between two columns: heads that span several."""
Gaps = Sequence[float]


def read_region(region: Region, number: int, layout: Layout) -> Iterator[Item]:
    """The caption, the rows and the notes of a table; of a figure the caption."""
    if region.caption:
        yield Item("caption", layout.join(region.caption), region.caption[0].page, table=number)
    gaps = _find_gaps(group_rows(region.lines))
    rows = list(_build_rows(region.lines, gaps))
    last = max((place for place, row in enumerate(rows) if len(row.cells) > 1), default=-1)
    for row in rows[: last + 1]:
        yield Item("row", "", row.page, table=number, cells=row.finish())
    notes = [line for row in rows[last + 1 :] for line in row.lines]
    while notes:
        end = next((at for at, line in enumerate(notes) if at and _BEGINS_NOTE.match(line.text)), len(notes))
        yield Item("legend", layout.join(notes[:end]), notes[0].page, table=number)
        notes = notes[end:]


def _find_gaps(rows: Sequence[Sequence[Line]]) -> list[float]:
    """Where one column ends and the next begins: in blanks between the cells of some rows, which words of few rows cross."""
    spans = [[(cell[0].left, cell[-1].right) for line in row for cell in split_cells(line)] for row in rows]
    counted = [row for row in spans if len(row) > 1]
    wide = [(one[1], two[0]) for row in counted for one, two in pairwise(row) if two[0] - one[1] > 1]
    allowed = max(len(counted) > 3, int(_CROSSED * len(counted)))
    found = list[tuple[float, float]]()
    for left, right in pairwise(sorted({edge for gap in wide for edge in gap})):
        middle = (left + right) / 2
        crossed = sum(any(one < middle < two for one, two in row) for row in counted)
        if crossed <= allowed and sum(one < middle < two for one, two in wide) >= max(1, 0.3 * len(counted)):
            # Two blanks without a cell between them are one.
            if found and not any(found[-1][1] - 1 <= one and two <= left + 1 for row in counted for one, two in row):
                found[-1] = (found[-1][0], right)
            else:
                found.append((left, right))
    return [(left + right) / 2 for left, right in found]


class _Row:
    """The cells of a row by their columns, each with its lines; `top` is where its first line stands, `bottom` the lowest."""

    def __init__(self, line: Line) -> None:
        self.cells: dict[int, list[tuple[Line, list[Word]]]] = {}
        self.lines = list[Line]()
        self.top = self.bottom = line.height
        self.page = line.page
        self.last = 0

    def add(self, column: int, line: Line, words: list[Word]) -> None:
        self.cells.setdefault(column, []).append((line, words))
        self.bottom, self.last = min(self.bottom, line.height), column
        if not self.lines or self.lines[-1] is not line:
            self.lines.append(line)

    def goes_on(self, column: int, line: Line, text: str) -> bool:
        """Whether a cell that is drawn next belongs to this row."""
        if line.page != self.page or line.height > self.top + 2 * line.size:
            return False
        if column > self.last:
            return line.height > self.bottom - 0.5 * line.size or line.height > self.top - 0.5 * line.size
        if line.height > self.bottom - 0.3 * line.size and column < self.last:
            return column not in self.cells
        before = self.cells.get(column)
        if not before or not 0 < before[-1][0].height - line.height < 1.5 * line.size:
            return False
        # A cell of several lines is drawn before the next; where lines are drawn as wide as the table, their words tell.
        return (column == self.last and (column > 0 or len(self.cells) > 1)) or bool(_GOES_ON.match(text))

    def finish(self) -> list[tuple[str, int, bool]]:
        """Text, column, and whether it is bold, of each cell."""
        return [
            (" ".join(word.text for _, words in parts for word in words), column, all(line.bold for line, _ in parts))
            for column, parts in sorted(self.cells.items())
        ]


def _build_rows(lines: Sequence[Line], gaps: Gaps) -> Iterator[_Row]:
    row: _Row | None = None
    for line in lines:
        for words in _split_at(line, gaps):
            column = sum(words[0].left >= gap - 1 for gap in gaps)
            text = " ".join(word.text for word in words)
            if row is None or not row.goes_on(column, line, text):
                if row:
                    yield row
                row = _Row(line)
            row.add(column, line, words)
    if row:
        yield row


def _split_at(line: Line, gaps: Gaps) -> Iterator[list[Word]]:
    """The words of a line, parted where a column ends, unless they go on across it as a head over several columns does."""
    words = list[Word]()
    for cell in split_cells(line):
        for word in cell:
            is_apart = word is cell[0] or (bool(words) and word.left - words[-1].right > 0.5 * line.size)
            if words and is_apart and any(words[-1].right <= gap + 1 and word.left >= gap - 1 for gap in gaps):
                yield words
                words = []
            words.append(word)
    if words:
        yield words
