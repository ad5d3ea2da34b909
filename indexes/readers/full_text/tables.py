"""Tables row by row: each cell with the heads of its columns, across spans, and what the whole row stands under."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lxml import etree

from counterpoint.indexes.readers.base.markup import find_name
from counterpoint.indexes.readers.full_text.jats import walk

BAR = " | "
"""What parts the cells of a row."""
_MOST_COLUMNS = 200
_LONGEST_GROUP = 15
"""Words of a row of one cell: a longer one says something itself."""
_NUMBERED = re.compile(r"[^\w]*\d")
_COUNT = re.compile(r"[(\[]?\s*(?:n|N|no\.?)\s*=")
_INDENT = re.compile(r"[\s\u00a0\u2000-\u200a\u3000]*[\u00a0\u2000-\u200a\u3000•·–-]")
_WORDS = re.compile(r"\w")


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """A cell of a table; `column` is its first column of `span`, `head` whether the markup or its bold type makes it a head."""

    text: str
    column: int
    span: int = 1
    head: bool = False
    bold: bool = False
    indented: bool = False

    @property
    def is_value(self) -> bool:
        """Whether it begins with a number, other than of those who were counted ("n = 30")."""
        return bool(_NUMBERED.match(self.text)) and not _COUNT.match(self.text)


Cells = list[Cell]


@dataclass(frozen=True, slots=True)
class Row:
    """A row as a text, its `number` counted from 1 below the heads, and what it stands under: its group, a label above."""

    text: str
    number: int
    context: tuple[str, ...] = ()


def read_rows(table: etree._Element, number: int = 0) -> Iterator[Row]:
    """The rows of a table of JATS; `number` is that of the row before, where one table goes on from another."""
    return name_rows(list(_lay_out(table)), number)


def name_rows(rows: Sequence[tuple[Cells, bool]], number: int = 0) -> Iterator[Row]:
    """The rows below the heads that say something; a row that only names a group is the context of those that follow.

    `rows` are cells, and whether the markup says that they are heads.
    """
    width = max((cell.column + cell.span for cells, _ in rows for cell in cells), default=0)
    head_count = _count_heads(rows)
    heads = _Heads([cells for cells, _ in rows[:head_count]])
    groups, label, used, indented = Cells(), "", True, False
    for cells, _ in rows[head_count:]:
        filled = [cell for cell in cells if cell.text]
        number += bool(filled)
        if not filled:
            label = ""
        elif width > 1 and _is_group(filled):
            groups, label = _put_group(groups, filled[0], used), ""
            used = indented = False
        elif _are_heads(filled):
            heads = _Heads([cells])
            groups, label, used = [], "", True
        else:
            first = None if filled[0].column else filled[0]
            if indented and first and not first.indented:
                groups = []  # rows of the group were indented, and this one is not
            indented = bool(groups and first and first.indented)
            above = "" if first else label
            label = first.text if first else label
            used = True
            yield Row(heads.join(filled), number, tuple(filter(None, (heads.corner, *(one.text for one in groups), above))))
    if not used:
        yield Row(BAR.join(one.text for one in groups), number, tuple(filter(None, [heads.corner])))


def _put_group(groups: Cells, cell: Cell, used: bool) -> Cells:
    """The groups that hold below one more: it stands under the last if no row came between, or if only it is indented."""
    if not used or (cell.indented and groups and not groups[-1].indented):
        return [*groups, cell]
    return [*groups[:-1], cell] if groups and cell.indented else [cell]


def _is_group(filled: Cells) -> bool:
    [first, *others] = filled
    return not others and not first.column and len(first.text.split()) <= _LONGEST_GROUP


def _are_heads(filled: Cells) -> bool:
    """Whether a row in the middle of a table names its columns anew."""
    return len(filled) > 1 and all((cell.head or cell.bold) and not cell.is_value for cell in filled)


def _count_heads(rows: Sequence[tuple[Cells, bool]]) -> int:
    """How many rows at the top name the columns: those marked so, else a first row without figures; and those that go on."""
    count = next((place for place, (_, in_head) in enumerate(rows) if not in_head), len(rows))
    if count == len(rows):
        count = 0 if not any(cell.is_value for cells, _ in rows for cell in cells) else count
    if not count:
        for cells, _ in rows:
            filled = [cell for cell in cells if cell.text]
            if not filled or not all(cell.head for cell in filled):
                break
            count += 1
    if not count and len(rows) > 1:
        filled = [cell for cell in rows[0][0] if cell.text]
        below = any(cell.is_value for cells, _ in rows[1:] for cell in cells)
        count = int(len(filled) > 1 and below and not any(cell.is_value for cell in filled))
    while 0 < count < len(rows) - 1:
        cells = rows[count][0]
        filled = [cell for cell in cells if cell.text]
        if filled and (len(filled) == 1 or not filled[0].column or any(cell.is_value for cell in filled)):
            break
        count += 1
    return count


class _Heads:
    """The rows that name the columns of a table."""

    def __init__(self, rows: Sequence[Cells]) -> None:
        self._rows = [[cell for cell in cells if cell.text] for cells in rows]
        self.corner = " ".join(dict.fromkeys(cell.text for cells in self._rows for cell in cells if not cell.column))
        """What stands over the rows' labels."""

    def join(self, cells: Cells) -> str:
        """The cells of a row, each behind the heads of its columns; a head over several of them stands at the first."""
        said, parts = set[Cell](), list[str]()
        for cell in cells:
            heads = [head for head in self._above(cell) if head not in said] if cell.column else []
            said.update(heads)
            names = dict.fromkeys(head.text for head in heads)
            parts.append(" ".join([*(name for name in names if name != cell.text), cell.text]))
        return BAR.join(parts)

    def _above(self, cell: Cell) -> Iterator[Cell]:
        """The heads over the whole cell, the topmost first."""
        end = cell.column + cell.span
        for cells in self._rows:
            for head in cells:
                covers = head.column <= cell.column and end <= head.column + head.span
                # A row's label may take part in a span of heads ("Outcome" over two columns).
                if covers and head.column:
                    yield head


def _lay_out(table: etree._Element) -> Iterator[tuple[Cells, bool]]:
    """The cells of every row, those that reach down from a row above included, and whether the row is of the heads."""
    reaching: dict[int, tuple[Cell, int]] = {}
    part: etree._Element | None = None
    for row in table.iter("{*}tr"):
        cells, column, elements = Cells(), 0, [one for one in row if find_name(one) in ("td", "th")]
        if row.getparent() is not part:
            part, reaching = row.getparent(), {}
        while elements or reaching.keys() - range(column):
            if column in reaching:
                cell, left = reaching.pop(column)
            elif elements and column < _MOST_COLUMNS:
                element = elements.pop(0)
                cell, left = _read_cell(element, column), _read_span(element, "rowspan")
            elif elements:
                break
            else:
                column = min(reaching.keys() - range(column))
                continue
            cells.append(cell)
            column += cell.span
            if left > 1:
                reaching[cell.column] = (cell, left - 1)
        yield cells, part is not None and find_name(part) == "thead"


def _read_span(element: etree._Element, name: str) -> int:
    value = element.get(name, "1").strip()
    return max(1, int(value)) if value.isascii() and value.isdigit() and len(value) < 6 else 1


def _read_cell(element: etree._Element, column: int) -> Cell:
    text = " ".join(piece.text for piece in walk(element, "table") if piece.text)
    indented = bool(_INDENT.match("".join(map(str, element.itertext()))))
    span = min(_read_span(element, "colspan"), _MOST_COLUMNS)
    return Cell(text, column, span, find_name(element) == "th", bool(text) and not _has_plain_words(element), indented)


def _has_plain_words(element: etree._Element) -> bool:
    """Whether there are words in other than bold type."""
    if find_name(element) in ("bold", "b"):
        return False
    tails = any(_WORDS.search(child.tail or "") for child in element)
    return bool(tails or _WORDS.search(element.text or "") or any(map(_has_plain_words, element)))
