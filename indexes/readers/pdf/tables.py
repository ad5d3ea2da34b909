"""The rows of a table in a PDF: cells by the blank columns between them, and lines of one row joined where cells go on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from indexes.readers.pdf.layout import Item, Layout, Region, group_rows, split_cells
from indexes.readers.pdf.lines import CLOSE, OPEN, Line, Word

_GOES_ON = re.compile(rf"[a-z(\[{OPEN}%&/–-]|±")
_CROSSED = 0.12
"""The share of rows that may cross the blank between two columns: heads that span several."""
Cell = tuple[str, int, int, bool]


def read_region(region: Region, number: int, layout: Layout) -> Iterator[Item]:
    """The caption, the rows and the notes of a table; of a figure the caption."""
    if region.caption:
        text = ""
        for line in region.caption:
            text = layout.join(text, line.text) if text else line.text
        yield Item("caption", text, region.caption[0].page, table=number)
    rows = group_rows(region.lines)
    gaps = _find_gaps(rows)
    many = [place for place, row in enumerate(rows) if len(row) > 1 or _count_cells(row, gaps) > 1]
    last = max(many, default=-1)
    if last < 0:
        yield from _read_notes(rows, number, layout)
        return
    yield from _join_rows([(_read_cells(row, gaps), row) for row in rows[: last + 1]], number)
    yield from _read_notes(rows[last + 1 :], number, layout)


def _read_notes(rows: Sequence[Sequence[Line]], number: int, layout: Layout) -> Iterator[Item]:
    note: Item | None = None
    for row in rows:
        text = " ".join(line.text for line in row)
        if note and not re.match(rf"[*†‡§¶#{OPEN}]|[a-z]\s", text):
            note.text = layout.join(note.text, text)
            continue
        if note:
            yield note
        note = Item("legend", text, row[0].page, table=number)
    if note:
        yield note


def _words(row: Sequence[Line]) -> list[Word]:
    return sorted((word for line in row for word in line.words), key=lambda word: word.left)


def _find_gaps(rows: Sequence[Sequence[Line]]) -> list[tuple[float, float]]:
    """The blanks between columns: gaps between the cells of most rows, which words of few rows cross."""
    wide, spans = list[tuple[float, float]](), list[list[tuple[float, float]]]()
    for row in rows:
        cells = [cell for line in row for cell in split_cells(line)]
        cells.sort(key=lambda cell: cell[0].left)
        spans.append([(cell[0].left, cell[-1].right) for cell in cells])
        if len(cells) > 1:
            wide += [(one[-1].right, two[0].left) for one, two in pairwise(cells) if two[0].left - one[-1].right > 1]
    if not wide:
        return []
    counted = [row for row in spans if len(row) > 1]
    allowed = max(1 if len(counted) > 3 else 0, int(_CROSSED * len(counted)))
    edges = sorted({edge for gap in wide for edge in gap})
    found = list[tuple[float, float]]()
    for left, right in pairwise(edges):
        middle = (left + right) / 2
        open_ = sum(one < middle < two for one, two in wide)
        crossed = sum(any(one < middle < two for one, two in row) for row in counted)
        if crossed <= allowed and open_ >= max(1, 0.3 * len(counted)):
            if found and found[-1][1] == left:
                found[-1] = (found[-1][0], right)
            else:
                found.append((left, right))
    return _split_where_cells_stand(found, spans)


def _split_where_cells_stand(
    gaps: list[tuple[float, float]], spans: Sequence[Sequence[tuple[float, float]]]
) -> list[tuple[float, float]]:
    """The gaps, those left out that have no cell between them and the next."""
    kept = list[tuple[float, float]]()
    for gap in gaps:
        if kept and not any(
            kept[-1][0] < (left + right) / 2 < gap[1] and right <= gap[1] + 1 and left >= kept[-1][0] - 1
            for row in spans
            for left, right in row
        ):
            kept[-1] = (kept[-1][0], gap[1])
        else:
            kept.append(gap)
    return kept


def _count_cells(row: Sequence[Line], gaps: Sequence[tuple[float, float]]) -> int:
    return len(_read_cells(row, gaps))


def _read_cells(row: Sequence[Line], gaps: Sequence[tuple[float, float]]) -> list[Cell]:
    """The cells of a row, each with its first column and how many it spans."""
    middles = [(left + right) / 2 for left, right in gaps]
    groups = list[list[Word]]()
    bold = all(line.bold for line in row)
    for line in row:
        for words in split_cells(line):
            for word in words:
                column = sum(word.left >= middle for middle in middles)
                at = sum(groups[-1][-1].left >= middle for middle in middles) if groups else -1
                new_cell = not groups or word is words[0] or column != at
                if new_cell and groups and column != at and word is not words[0]:
                    # Words of one cell that cross a gap are a head over several columns.
                    new_cell = word.left - groups[-1][-1].right > 0.6 * line.size
                elif new_cell and groups and column == at:
                    new_cell = False
                if new_cell:
                    groups.append([word])
                else:
                    groups[-1].append(word)
    cells = list[Cell]()
    for words in groups:
        first = sum(words[0].left >= middle for middle in middles)
        last = sum(words[-1].right > middle for middle in middles)
        cells.append((" ".join(word.text for word in words), first, max(1, last - first + 1), bold))
    return cells


def _join_rows(rows: Sequence[tuple[list[Cell], list[Line]]], number: int) -> Iterator[Item]:
    """Rows, each with the lines on which its cells go on."""
    drops = [above[1][0].height - below[1][0].height for above, below in pairwise(rows)]
    drops = [drop if drop > 0 else 0.0 for drop in drops]
    near = min((drop for drop in drops if drop > 0), default=0.0)
    far = sum(drop > 1.07 * near for drop in drops)
    parted = far >= 0.3 * len(drops) and far < 0.95 * len(drops)
    item: Item | None = None
    for place, (cells, lines) in enumerate(rows):
        drop = drops[place - 1] if place else 0.0
        if item and _is_continued(item.cells, cells, drop <= 1.04 * near, parted):
            item.cells = _merge(item.cells, cells)
            continue
        if item:
            yield item
        item = Item("row", "", lines[0].page, table=number, cells=cells)
    if item:
        yield item


def _is_continued(above: Sequence[Cell], cells: Sequence[Cell], is_near: bool, parted: bool) -> bool:
    if not is_near:
        return False
    columns = {column for _, column, _, _ in above}
    if not {column for _, column, _, _ in cells} <= columns:
        return False
    if parted:
        return True
    if len(cells) < len(above) and all(_GOES_ON.match(text) for text, *_ in cells):
        return cells[0][1] > 0 or len(cells) == 1
    return False


def _merge(above: Sequence[Cell], cells: Sequence[Cell]) -> list[Cell]:
    more = {column: text for text, column, _, _ in cells}
    return [(f"{text} {more.pop(column)}" if column in more else text, column, span, bold) for text, column, span, bold in above]
