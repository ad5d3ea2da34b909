"""The lines of a PDF in reading order, as headings, paragraphs, captions, rows of tables and notes.

What repeats on the edges of pages and the numbers of lines are left out. Columns are found by where lines begin. A line is joined
to the next unless it ends a paragraph: the next is indented, or further away, or its first word would have fitted in.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise
from statistics import median
from typing import Literal

from counterpoint.indexes.readers.pdf.lines import CLOSE, OPEN, Line, Word
from counterpoint.nli.text.headings import looks_like_heading

ItemKind = Literal["heading", "paragraph", "caption", "row", "legend", "note"]
CAPTION = re.compile(
    r"(?P<label>(?:supplementa(?:ry|l) |additional )?(?P<what>tables?|tab\.|figures?|fig\.?|box|scheme)\s*"
    r"(?:[a-z]?\d{1,3}[a-z]?|[ivx]{1,5})\b)(?P<after>\s*[.:|–—-]?\s*)",
    re.IGNORECASE,
)
"""What a caption begins with."""
_SAYS = re.compile(
    r"(?:\([a-z]\)\s*)?(?:and|or|to|in|of|for|also|which|is|are|was|were|has|have|had|(?:show|present|list|summari[sz]e|give|display|"
    r"report|provide|describe|depict|illustrate|contain|compare|indicate|detail|outline|demonstrate|include|reveal)(?:s|d|ed)?)\b|[),;]"
)
"""What follows where a sentence names a table or figure."""
_RUNNING_HEAD_PAGES = 3
"""A line at the top or foot of this many pages is a running head."""
_NUMBER = re.compile(r"\d+")
_PAGE_NUMBER = re.compile(r"^(?:page\s*)?[-–—]?\s*[a-z]?\d{1,6}\s*[-–—]?(?:\s*(?:of|/)\s*\d{1,4})?$", re.IGNORECASE)
_HYPHEN = re.compile(r"(?<=\w)[-\u2010\u00ad]$")
# The first parts of compounds, a name or a number; any other word that ends a line with a hyphen was split there.
_COMPOUND = re.compile(
    r"\b(?:alpha|beta|gamma|non|low|high|long|short|well|double|single|placebo|self|post|anti|multi|evidence|population|meta|dose)-$|(?-i:[A-Z0-9])-$",
    re.IGNORECASE,
)
_LETTERS = re.compile(r"[^\W\d_]{2,}(?:-[^\W\d_]{2,})*")
_LAST, _FIRST = re.compile(r"[^\W\d_]+(?=.$)"), re.compile(r"[^\W\d_]+")
_ENDS = re.compile(rf"""[.?!:](?:['"”’)\[\]\d,–-]|{OPEN}[^{CLOSE}]*{CLOSE})*$""")
_STARTS = re.compile(r"[\[(“\"'•]*[A-Z0-9•]")
_ITEM = re.compile(r"(?:[•▪●◦–—*-]|\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)])\s+\S")
_SAME_SIZE = 0.08
"""Lines whose sizes differ by a larger share than this are not of one paragraph."""
_WIDE = 1.3
"""A gap between two lines of this many times the usual distance separates paragraphs."""
_GAP = 0.9
"""The least blank between two cells of a row, in sizes of their letters."""
_LONGEST_HEADING = 20


@dataclass(slots=True)
class Item:
    """A part of the text in reading order; a heading's `level` counts from 0, the most prominent.

    `table` numbers the tables and figures that captions, rows and legends belong to, from 1. A cell of a row is its text, its
    column, and whether it is bold.
    """

    kind: ItemKind
    text: str
    page: int
    level: int = 0
    size: float = 0.0
    table: int = 0
    cells: list[tuple[str, int, bool]] = field(default_factory=list)
    bold: bool = False


@dataclass(slots=True)
class Region:
    """A caption and the lines of the table below it; `goes_on` says that it is the rest of the table before."""

    caption: Sequence[Line]
    lines: Sequence[Line] = ()
    goes_on: bool = False


Element = Line | Region
Column = tuple[float, float]
"""The left and right edge."""


class Layout:
    """The pages of a PDF, without what repeats on their edges (`edges`); `body` is the size of most of its letters."""

    def __init__(self, pages: Sequence[Sequence[Line]]) -> None:
        self.pages, self.edges = _drop_edges(_drop_line_numbers(pages))
        lines = [line for page in self.pages for line in page]
        sizes = Counter[float]()
        for line in lines:
            sizes[round(2 * line.size) / 2] += len(line.text)
        frequency = max(sizes.values(), default=0)
        # Long lists of references are smaller than the text.
        self.body = max((size for size, count in sizes.items() if count >= 0.6 * frequency), default=10.0)
        # Where text was recognised in a picture, every line has a size of its own, which says nothing.
        self.is_set = frequency > 0.4 * sizes.total()
        fonts = Counter((line.page, line.font) for line in lines if self.is_body_size(line))
        self._fonts = {page: font for (page, font), _ in reversed(fonts.most_common())}
        widths = sorted(line.right - line.left for line in lines if self.is_body_size(line) and len(line.text) >= 25)
        self._width = widths[int(0.6 * len(widths))] if widths else 0.0
        drops = [one.height - two.height for page in self.pages for one, two in pairwise(page) if self.is_body_size(one)]
        near = [drop for drop in drops if 0 < drop < 3 * self.body]
        self.leading = median(near) if near else 1.2 * self.body
        self._words = Counter(word for line in lines for word in _LETTERS.findall(line.text.rpartition(" ")[0].lower()))

    def is_body_size(self, line: Line) -> bool:
        """Whether a line is as large as most of the text."""
        return not self.is_set or abs(line.size - self.body) <= max(0.25, 0.04 * self.body)

    def is_body(self, line: Line) -> bool:
        """Whether a line is set as most of the text is."""
        return self.is_body_size(line) and line.font == self._fonts.get(line.page, line.font)

    def read(self) -> list[Item]:
        """The text in reading order; notes follow at the end."""
        flow = _Flow(self)
        for elements in self._place_regions():
            lines = [one for one in elements if isinstance(one, Line)]
            gutters = _find_gutters(lines)
            groups = dict[tuple[int, int], list[Line]]()
            for line in lines:
                groups.setdefault(_place(line, gutters), []).append(line)
            columns = {place: self._measure(group) for place, group in groups.items()}
            notes = {id(line) for group in groups.values() for line in self._find_notes(group)}
            for element in _order([one for one in elements if id(one) not in notes], gutters):
                if isinstance(element, Line):
                    flow.add(element, columns[_place(element, gutters)])
                else:
                    flow.add_region(element)
            flow.notes += [line for line in lines if id(line) in notes]
        return flow.finish()

    def join(self, lines: Sequence[Line]) -> str:
        """The text of some lines."""
        text = ""
        for line in lines:
            text = self.join_line(text, line.text)
        return text

    def join_line(self, text: str, line: str) -> str:
        """A text with one more line; a word split at the end of a line is rejoined."""
        if not _HYPHEN.search(text):
            return f"{text} {line}".strip()
        first, second = _LAST.search(text), _FIRST.match(line)
        one, two = first[0].lower() if first else "", second[0].lower() if second else ""
        if one and two and (self._words[one + two] or self._words[f"{one}-{two}"]):
            is_compound = self._words[f"{one}-{two}"] > self._words[one + two]
        else:
            both = min(len(one), len(two)) > 3 and self._words[one] and self._words[two]
            is_compound = bool(both or _COMPOUND.search(text))
        return (text if is_compound else text[:-1]) + line

    def _place_regions(self) -> Iterator[list[Element]]:
        """The elements of each page as they are drawn, captions and tables taken together; a table may go on at the next
        column or page."""
        goes_on = False
        for page in self.pages:
            elements, place = list[Element](), 0
            while place < len(page):
                start = self._end_caption(page, place) if (match := self._find_caption(page, place)) else place
                is_table = match is None or match["what"].lower().startswith("tab")
                end = self._end_table(page, start, match is not None, goes_on) if is_table else start
                if end > place:
                    elements.append(Region(page[place:start], page[start:end], goes_on and match is None))
                    goes_on = is_table
                else:
                    elements.append(page[place])
                    goes_on, end = False, place + 1
                place = end
            yield elements

    def _find_caption(self, page: Sequence[Line], place: int) -> re.Match[str] | None:
        """The label with which a caption begins in a line, and not the middle of a sentence."""
        line, before = page[place], page[place - 1] if place else None
        match = CAPTION.match(line.text)
        if not match or not line.text[0].isupper():
            return None
        rest, is_parted = line.text[match.end() :], bool(match["after"].strip())
        if _SAYS.match(rest) or (rest and not is_parted and not rest[0].isupper() and rest[0] not in "([“"):
            return None
        if before and self.is_body(before) and self.is_body(line) and 0 < before.height - line.height < _WIDE * self.leading:
            return match if is_parted and _ENDS.search(before.text) else None
        return match

    def _end_caption(self, page: Sequence[Line], place: int) -> int:
        """The place behind the last line of a caption: it ends with its size, at a gap or a cell, or in a short line."""
        first, leading = page[place], 0.0
        right = first.right
        for end in range(place + 1, len(page)):
            line, before = page[end], page[end - 1]
            drop, label_alone = before.height - line.height, end == place + 1 and CAPTION.fullmatch(before.text) is not None
            near = 0 <= drop < (1.25 * leading if leading else 1.75 * line.size)
            alike = label_alone or abs(line.size - first.size) <= 0.04 * first.size
            fits = before.right + line.size + line.words[0].right - line.words[0].left < right
            ends = drop > 0 and (len(split_cells(line)) > 1 or (not label_alone and fits and _ENDS.search(before.text)))
            if not near or not alike or ends or self._find_caption(page, end):
                return end
            leading, right = leading or drop, max(right, line.right)
        return len(page)

    def _end_table(self, page: Sequence[Line], start: int, has_caption: bool, goes_on: bool) -> int:
        """The place behind the last line of a table, where running text, another caption or another column begins.

        Without a caption these must be rows: several with several cells, the second below each other.
        """
        end = start
        while end < len(page) and not self._is_prose(page[end]) and not self._find_caption(page, end):
            drop = page[max(0, end - 1)].height - page[end].height
            if end > start and (
                drop > 5 * self.leading or drop < -12 * self.leading or self._names_section(page[end], page[end - 1])
            ):
                break
            if not has_caption and not goes_on and end == start and len(split_cells(page[end])) == 1:
                break
            end += 1
        while start < end < len(page) and self._may_be_heading(page[end - 1], page[end]):
            end -= 1  # what names the next section is no row of the table
        if has_caption or end == start:
            return end
        rows = [[cell for line in row for cell in split_cells(line)] for row in group_rows(page[start:end])]
        seconds = Counter(round(row[1][0].left / 4) for row in rows if len(row) > 1)
        many = seconds.total() > 0.2 * len(rows) if goes_on else max(seconds.values(), default=0) >= max(3, 0.4 * len(rows))
        return end if many else start

    def _is_prose(self, line: Line) -> bool:
        """Whether a line is of running text: as large, and nearly as wide as its column, without a cell's gap."""
        wide = len(line.text) >= 30 and line.right - line.left > 0.6 * self._width
        return wide and self.is_body_size(line) and not line.bold and len(split_cells(line)) == 1

    def _names_section(self, line: Line, before: Line) -> bool:
        """Whether a line behind a table's is a heading: larger, with a heading's words or larger than the text."""
        known = self.is_body_size(line) and looks_like_heading(line.text)
        return line.size > 1.04 * before.size and (known or line.size > 1.06 * self.body) and len(split_cells(line)) == 1

    def _may_be_heading(self, line: Line, following: Line) -> bool:
        if len(split_cells(line)) > 1 or abs(line.height - following.height) < 0.3 * line.size:
            return False
        is_apart = line.bold and self.is_body_size(line) and line.height - following.height > self.leading
        return looks_like_heading(line.text) or is_apart or line.size > 1.06 * self.body

    def _measure(self, lines: Sequence[Line]) -> Column:
        """The edges of a column, by its lines."""
        text = [line for line in lines if self.is_body_size(line)] or lines
        lefts, rights = Counter(round(line.left) for line in text), sorted(line.right for line in text)
        left, right = min(at for at, count in lefts.items() if count >= 0.12 * len(text)), rights[int(0.97 * (len(rights) - 1))]
        return left, max(right, left + self._width) if len(text) < 5 else right

    def _find_notes(self, column: Sequence[Line]) -> Sequence[Line]:
        """Small print at the foot of a column; the sentence above goes on overleaf."""
        lines = sorted(column, key=lambda line: line.height)
        small = next((at for at, one in enumerate(lines) if one.size > (1 - _SAME_SIZE) * self.body), len(lines))
        return lines[:small] if self.is_set and small <= len(lines) // 2 else ()


def _drop_edges(pages: Sequence[list[Line]]) -> tuple[list[list[Line]], list[str]]:
    """The pages without running heads, page numbers and stamps, and the text of these."""
    seen = Counter(key for page in pages for key in {_mask(line) for line in page})
    needed = min(_RUNNING_HEAD_PAGES, max(2, len(pages)))
    kept, edges = list[list[Line]](), list[str]()
    for page in pages:
        rows = [
            list(row) for _, row in groupby(sorted(page, key=lambda line: -line.height), key=lambda line: round(line.height / 2))
        ]
        many = max(_RUNNING_HEAD_PAGES, 0.6 * len(pages))
        dropped = {id(line) for line in page if seen[_mask(line)] >= many and len(_LETTERS.findall(line.text)) > 1}
        most = 3 if len(rows) > 6 else len(rows) > 1
        for outer in (rows[:most], rows[::-1][:most]):
            for row in outer:
                numbered = _PAGE_NUMBER.match(" ".join(line.text for line in row))
                if not numbered and not all(seen[_mask(one)] >= needed or _PAGE_NUMBER.match(one.text) for one in row):
                    break
                dropped |= {id(line) for line in row}
        edges += [line.text for line in page if id(line) in dropped]
        kept.append([line for line in page if id(line) not in dropped])
    return kept, edges


def _mask(line: Line) -> tuple[str, int]:
    """A running head and where it stands, without its numbers, since they differ from page to page."""
    return _NUMBER.sub("#", line.text), round(line.height / 2)


def _drop_line_numbers(pages: Sequence[Sequence[Line]]) -> list[list[Line]]:
    """The pages without numbers beside lines: those that stand below each other and rise by one step, if they count much of the
    text."""
    numbers, counted = set[int](), 0
    for page in pages:
        for end in (0, -1):
            groups = dict[int, list[tuple[float, int, Word]]]()
            for line in page:
                word = line.words[end]
                if word.text.isascii() and word.text.isdigit() and len(word.text) < 6:
                    at = word.left if end and len(line.words) > 1 else word.right
                    groups.setdefault(round(at / 4), []).append((-line.height, int(word.text), word))
            for key, group in groups.items():
                found = sorted([*group, *groups.get(key + 1, [])], key=lambda one: one[:2])
                step, often = Counter(two[1] - one[1] for one, two in pairwise([*found, found[-1]])).most_common(1)[0]
                if step in (1, 2, 5, 10) and often >= max(2, 0.85 * (len(found) - 1)):
                    counted += found[-1][1] - found[0][1]
                    numbers |= {id(word) for _, _, word in found}
    if counted < 0.3 * sum(map(len, pages)):
        return [list(page) for page in pages]
    kept = [[(line, [word for word in line.words if id(word) not in numbers]) for line in page] for page in pages]
    return [[replace(line, words=words) for line, words in page if words] for page in kept]


def split_cells(line: Line) -> list[list[Word]]:
    """The words of a line, parted where a gap is wider than that between the words of a stretched line."""
    gaps = [after.left - before.right for before, after in pairwise(line.words)]
    usual = median(gaps) if len(gaps) > 2 else 0.0
    least = max(_GAP * line.size, 2.2 * usual if usual < 0.6 * line.size else 1.6 * usual if usual < 1.3 * line.size else 0.0)
    cells = [[line.words[0]]]
    for gap, word in zip(gaps, line.words[1:], strict=True):
        if gap > least:
            cells.append([])
        cells[-1].append(word)
    return cells


def group_rows(lines: Sequence[Line]) -> list[list[Line]]:
    """Lines at one height together, from above."""
    rows = list[list[Line]]()
    for line in sorted(lines, key=lambda one: -one.height):
        if rows and abs(rows[-1][0].height - line.height) < 0.35 * line.size:
            rows[-1].append(line)
        else:
            rows.append([line])
    return [sorted(row, key=lambda one: one.left) for row in rows]


def _find_gutters(lines: Sequence[Line]) -> list[float]:
    """Where columns of text begin, but for the first: lines begin there, others end before, and few cross between them."""
    wide, found = [line for line in lines if len(line.text) >= 20], list[float]()
    for start in sorted({round(line.left / 2) for line in wide}):
        at = 2.0 * start
        right = [line for line in wide if abs(line.left - at) <= 3]
        left = [line for line in wide if line.right < at]
        if len(right) < 4 or len(left) < 3 or max(line.right for line in left) < at - 45 or (found and at - found[-1] < 60):
            continue
        heights = [line.height for line in right]
        crossing = [line for line in wide if line.left < at - 5 and line.right > at + 5]
        if sum(min(heights) <= line.height <= max(heights) for line in crossing) < 0.4 * len(right):
            found.append(max(line.right for line in left) + 1)
    return found


def _place(element: Element, gutters: Sequence[float]) -> tuple[int, int]:
    """The first and the last column that an element is in."""
    lines = [element] if isinstance(element, Line) else [*element.caption, *element.lines]
    left, right = min(line.left for line in lines), max(line.right for line in lines)
    return sum(left >= gutter for gutter in gutters), sum(right > gutter + 4 for gutter in gutters)


def _order(elements: Sequence[Element], gutters: Sequence[float]) -> Iterator[Element]:
    """The elements of a page as they are read: one column after the other, down to what crosses them.

    Those that are drawn one below the other, or on one line, stay together.
    """
    boxes = list[_Box]()
    for element in elements:
        lines = [element] if isinstance(element, Line) else [*element.caption, *element.lines]
        place, top, bottom = _place(element, gutters), max(one.height for one in lines), min(one.height for one in lines)
        last = boxes[-1] if boxes else None
        if last and last.place == place and isinstance(element, Line) and -0.5 < (last.bottom - top) / element.size < 3:
            last.elements.append(element)
            last.bottom = min(last.bottom, bottom)
        else:
            boxes.append(_Box(place, top, bottom, [element]))
    band = list[_Box]()
    for box in sorted(boxes, key=lambda one: -one.top):
        others = [one for one in boxes if one is not box and one.place[0] == one.place[1]]
        beside = any(one.top > box.bottom and one.bottom < box.top for one in others)
        if box.place[0] != box.place[1] and not beside:
            yield from _read_columns(band)
            yield from box.elements
            band = []
        else:
            band.append(box)
    yield from _read_columns(band)


@dataclass(slots=True)
class _Box:
    """Elements one below the other, the columns that they begin and end in, and the heights of the first and the last line."""

    place: tuple[int, int]
    top: float
    bottom: float
    elements: list[Element]


def _read_columns(boxes: Sequence[_Box]) -> Iterator[Element]:
    for box in sorted(boxes, key=lambda one: (one.place[0], -one.top)):
        yield from box.elements


class _Flow:
    """The items so far, and the one that is open: tables and captions in it come behind it."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._items, self._waiting = list[Item](), list[Item]()
        self._open: Item | None = None
        self._last: tuple[Line, Column] | None = None
        self._next: tuple[Line, Column] | None = None
        self._table = 0
        self.notes = list[Line]()

    def add(self, line: Line, column: Column) -> None:
        """Take the next line; whether one is a heading depends on what follows, so each waits for the next."""
        if self._next:
            self._take(*self._next, line)
        self._next = line, column

    def add_region(self, region: Region) -> None:
        """Take a caption, and the table below it."""
        from counterpoint.indexes.readers.pdf.tables import read_region

        self._table += not region.goes_on
        self._waiting += read_region(region, self._table, self._layout)

    def finish(self) -> list[Item]:
        """All items, notes at the end."""
        if self._next:
            self._take(*self._next, None)
        self._close()
        looks = sorted({_rank(item) for item in self._items if item.kind == "heading"}, reverse=True)
        for item in self._items:
            item.level = looks.index(_rank(item)) if item.kind == "heading" else 0
        last: Line | None = None
        for line in self.notes:
            if last and self._follows(last, line, 1.6 * line.size) and not re.match(r"\W?\d", line.text):
                self._items[-1].text = self._layout.join_line(self._items[-1].text, line.text)
            else:
                self._items.append(Item("note", line.text, line.page, size=line.size))
            last = line
        return self._items

    def _take(self, line: Line, column: Column, following: Line | None) -> None:
        before, self._last = self._last, (line, column)
        most = 1.1 * line.size * max(1.5, self._layout.leading / self._layout.body)
        goes_on = bool(
            self._open and self._open.kind == "heading" and before and _look(before[0]) == _look(line)
            and self._follows(before[0], line, most)
        )  # fmt: skip
        is_heading = self._is_heading(line, column, before[0] if before else None, following, goes_on)
        if self._open and not (goes_on and is_heading):
            ends = is_heading or self._open.kind == "heading"
            if ends or (before and self._breaks(*before, line, column)):
                self._close()
        if self._open:
            same_row = before is not None and before[0].height == line.height and before[0].page == line.page
            text = self._open.text
            self._open.text = f"{text} {line.text}" if same_row else self._layout.join_line(text, line.text)
        else:
            kind: ItemKind = "heading" if is_heading else "paragraph"
            self._open = Item(kind, line.text, line.page, size=line.size, bold=line.bold)

    def _close(self) -> None:
        self._items += [self._open, *self._waiting] if self._open else self._waiting
        self._open, self._waiting = None, []

    @staticmethod
    def _follows(before: Line, line: Line, most: float) -> bool:
        return before.page == line.page and 0 <= before.height - line.height < most

    def _is_heading(self, line: Line, column: Column, last: Line | None, following: Line | None, goes_on: bool) -> bool:
        """Whether a line stands alone and is set larger or otherwise than the text, or has the words of a heading."""
        layout, text = self._layout, line.text
        known, is_large = looks_like_heading(text), layout.is_set and line.size > 1.06 * layout.body
        if len(text.split()) > _LONGEST_HEADING or not re.search(r"[^\W\d_]{3}", text) or (text[-1] in ",;" and not is_large):
            return False
        apart = last is None or _look(last) != _look(line) or not self._follows(last, line, _WIDE * layout.leading)
        if not goes_on and not ((apart or _ENDS.search(last.text if last else "")) and _STARTS.match(text)):
            return False
        short = line.right < column[1] - 0.15 * (column[1] - column[0])
        if is_large or not layout.is_set or (known and (short or line.bold)):
            return is_large or known
        if line.size < (1 - _SAME_SIZE) * layout.body or text.endswith("."):
            return False
        if layout.is_body(line) and not line.bold:
            return text.isupper() and len(text) > 5 and short and not re.search(r"\d", text)
        drop = line.height - following.height if following and following.page == line.page else 0.0
        return following is None or drop > 1.12 * layout.leading or drop < 0 or _look(following) == _look(line) or short

    def _breaks(self, before: Line, old: Column, line: Line, column: Column) -> bool:
        """Whether a line begins another paragraph than the line before."""
        layout, drop = self._layout, before.height - line.height
        same_page = before.page == line.page
        if _HYPHEN.search(before.text) or (same_page and abs(drop) < 0.3 * line.size and line.left > before.left):
            return False
        if layout.is_set and abs(line.size - before.size) > _SAME_SIZE * line.size:
            return True
        ended, starts = bool(_ENDS.search(before.text)), bool(_STARTS.match(line.text))
        room = old[1] - before.right - (line.words[0].right - line.words[0].left) - 0.3 * line.size
        fits = room > 0.02 * (old[1] - old[0])
        near, indented = same_page and old == column and drop > 0, 0.7 * line.size < line.left - column[0] < 5 * line.size
        if near and drop > _WIDE * max(layout.leading, 1.1 * line.size) and (ended or starts):
            return True
        if near and indented and before.left - old[0] < 0.5 * line.size:
            return ended or (starts and fits)
        if ended and (starts or _ITEM.match(line.text)):
            return fits or (indented and not near) or bool(_ITEM.match(line.text))
        return starts and room > 0.3 * (old[1] - old[0]) and not before.text.endswith(("(", ","))


def _look(line: Line) -> tuple[float, str]:
    return round(2 * line.size) / 2, line.font


def _rank(item: Item) -> tuple[float, bool, bool]:
    return round(2 * item.size) / 2, item.text.isupper(), item.bold
