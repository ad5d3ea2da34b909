"""The lines of a PDF in reading order, as headings, paragraphs, captions, rows of tables and notes.

What repeats on the edges of pages and the numbers of lines are left out. Columns are found by where lines begin. A line is joined
to the next unless it ends a paragraph: the next is indented, or further away, or its first word would have fitted in.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from statistics import median
from typing import Literal

from indexes.readers.pdf.lines import CLOSE, OPEN, Line, Pages, Word
from nli.text.headings import looks_like_heading

ItemKind = Literal["heading", "paragraph", "caption", "row", "legend", "note"]
CAPTION = re.compile(
    r"(?P<label>(?:supplementary |supplemental |additional |extended data )?(?P<what>tables?|tab\.|figures?|fig\.?|box|scheme)\s*"
    r"(?P<number>[a-z]?\d{1,3}[a-z]?|[ivx]{1,5})\b)(?P<after>\s*[.:|–—-]?\s*)",
    re.IGNORECASE,
)
"""What a caption begins with."""
_SAYS = re.compile(
    r"(?:\([a-z]\)\s*)?(?:and|or|to|in|of|for|also|which|is|are|was|were|has|have|had|(?:show|present|list|summari[sz]e|give|display|report|provide|describe|"
    r"depict|illustrate|contain|compare|indicate|detail|outline|demonstrate|include|reveal)(?:s|d|ed)?)\b|[),;]"
)
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
_ENDS = re.compile(rf"""[.?!:](?:['"”’)\[\]\d,–-]|{OPEN}[^{CLOSE}]*{CLOSE})*$""")
_STARTS = re.compile(r"[\[(“\"'•]*[A-Z0-9•]")
_ITEM = re.compile(r"(?:[•▪●◦–—*-]|\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)])\s+\S")
_SAME_SIZE = 0.08
"""Lines whose sizes differ by a larger share than this are not of one paragraph."""
_WIDE = 1.3
"""A gap between two lines of this many times the usual distance separates paragraphs."""
_GAP = 0.9
"""Blank space between two cells of a row, in sizes of their letters, is more than this."""
_LONGEST_HEADING = 20


@dataclass(slots=True)
class Item:
    """A part of the text in reading order; a heading's `level` counts from 0, the most prominent. A row has cells."""

    kind: ItemKind
    text: str
    page: int
    level: int = 0
    size: float = 0.0
    table: int = 0
    cells: list[tuple[str, int, int, bool]] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)


@dataclass(slots=True)
class Region:
    """A table: its caption and the lines below it, on one page or, going on, on several."""

    label: str
    caption: list[Line] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    goes_on: bool = False


Element = Line | Region


class Layout:
    """The pages of a PDF, without what repeats on their edges; `body` is the usual size and font of its lines."""

    def __init__(self, pages: Pages) -> None:
        lines = [line for page in pages.lines for line in page]
        self.edges = list[str]()
        self.pages = [list(page) for page in pages.lines]
        self._drop_line_numbers()
        self._drop_edges()
        sizes = Counter[float]()
        for line in lines:
            sizes[round(2 * line.size) / 2] += len(line.text)
        self.body, frequency = sizes.most_common(1)[0]
        # Where text was recognised in a picture, every line has a size of its own, which says nothing.
        self.is_set = frequency > 0.4 * sizes.total()
        fonts = Counter[str]()
        for line in lines:
            if self.is_body_size(line):
                fonts[line.font] += len(line.text)
        self._fonts = {font for font, count in fonts.items() if count > 0.3 * fonts.total()}
        self._pages_fonts: dict[int, str] = {}
        for number, page in enumerate(self.pages, 1):
            own = Counter[str]()
            for line in page:
                if self.is_body_size(line):
                    own[line.font] += len(line.text)
            if own:
                self._pages_fonts[number] = own.most_common(1)[0][0]
        widths = sorted(line.right - line.left for line in lines if self.is_body_size(line) and len(line.text) >= 25)
        self.width = widths[int(0.6 * len(widths))] if widths else 0.0
        drops = [
            above.height - below.height
            for page in self.pages
            for above, below in pairwise(page)
            if self.is_body_size(above) and self.is_body_size(below) and 0 < above.height - below.height < 3 * below.size
        ]
        self.leading = median(drops) if drops else 1.2 * self.body
        self.words = Counter(
            word for line in lines for word in _LETTERS.findall(" ".join(one.text for one in line.words[:-1]).lower())
        )

    def is_body_size(self, line: Line) -> bool:
        """Whether a line is as large as most of the text."""
        return not self.is_set or abs(line.size - self.body) <= max(0.25, 0.04 * self.body)

    def is_body(self, line: Line) -> bool:
        """Whether a line is set as most of the text is."""
        named = not line.font[:1].isdigit()
        return self.is_body_size(line) and (
            line.font in self._fonts if named else line.font == self._pages_fonts.get(line.page, line.font)
        )

    def is_prose(self, line: Line) -> bool:
        """Whether a line is of running text: as large, and nearly as wide as its column, without a cell's gap."""
        return (
            self.is_body_size(line)
            and not line.bold
            and len(line.text) >= 30
            and line.right - line.left > 0.6 * self.width
            and len(split_cells(line)) == 1
        )

    def _drop_edges(self) -> None:
        """Take running heads and page numbers from the pages; what stood there goes to `edges`."""
        heads = Counter(key for page in self.pages for key in {_mask(line) for row in _list_edges(page) for line in row})
        needed = min(_RUNNING_HEAD_PAGES, max(2, len(self.pages)))
        seen = Counter(
            (*_mask(line), round(line.left)) for page in self.pages for line in page if len(_LETTERS.findall(line.text)) > 1
        )
        stamps = {key for key, count in seen.items() if count >= max(_RUNNING_HEAD_PAGES, 0.6 * len(self.pages))}
        for number, page in enumerate(self.pages):
            dropped = {id(line) for line in page if (*_mask(line), round(line.left)) in stamps}
            self.edges += [line.text for line in page if id(line) in dropped]
            for rows in (_list_edges(page)[:3], _list_edges(page)[:2:-1]):
                for row in rows:
                    text = " ".join(line.text for line in row)
                    repeats = all(heads[_mask(line)] >= needed or _PAGE_NUMBER.match(line.text) for line in row)
                    if not repeats and not _PAGE_NUMBER.match(text):
                        break
                    dropped |= {id(line) for line in row}
                    self.edges.append(text)
            self.pages[number] = [line for line in page if id(line) not in dropped]

    def _drop_line_numbers(self) -> None:
        """Take the numbers beside lines away: those that rise by one step, as far apart as the lines that they count."""
        found = dict[int, set[int]]()
        for number, page in enumerate(self.pages):
            for end in (0, -1):
                groups = dict[int, list[Line]]()
                for line in page:
                    word = line.words[end]
                    if word.text.isascii() and word.text.isdigit() and len(word.text) < 6:
                        at = word.right if end == 0 or len(line.words) == 1 else word.left
                        groups.setdefault(round(at / 4), []).append(line)
                for key in list(groups):
                    group = groups[key] + groups.get(key + 1, [])
                    if _counts_lines(page, group, end):
                        found.setdefault(number, set()).update(id(line) for line in group)
                        for line in group:
                            line.words[end] = Word("", line.words[end].left, line.words[end].right)
        if not found:
            return
        for number, page in enumerate(self.pages):
            kept = list[Line]()
            for line in page:
                words = [word for word in line.words if word.text]
                if len(words) == len(line.words):
                    kept.append(line)
                elif words:
                    kept.append(Line(words, line.size, line.height, line.font, line.page, line.bold))
            self.pages[number] = _mend_rows(kept)

    def read(self) -> list[Item]:
        """The text in reading order; notes follow at the end."""
        flow = _Flow(self)
        for elements in self._place_regions():
            lines = [one for one in elements if isinstance(one, Line)]
            gutters = self._find_gutters(lines)
            columns = self._measure_columns(lines, gutters)
            notes = self._find_notes(lines, gutters)
            for element in _order([one for one in elements if id(one) not in notes], gutters):
                if isinstance(element, Line):
                    flow.add(element, columns[_place(element, gutters)])
                else:
                    flow.put_region(element)
            flow.notes += [line for line in lines if id(line) in notes]
        return flow.finish()

    def join(self, paragraph: str, line: str) -> str:
        """A paragraph with one more line; a word split at the end of a line is rejoined."""
        if not _HYPHEN.search(paragraph):
            return f"{paragraph} {line}".strip()
        first, second = _LAST.search(paragraph[:-1]), _FIRST.match(line)
        bare = paragraph[:-1] + line
        if not first or not second:
            return paragraph + line if _COMPOUND.search(paragraph) else bare
        one, two, words = first[0].lower(), second[0].lower(), self.words
        if words[f"{one}-{two}"] > words[one + two]:
            return paragraph + line
        if words[one + two]:
            return bare
        whole = len(one) > 3 and len(two) > 3 and words[one] and words[two]
        return paragraph + line if whole or _COMPOUND.search(paragraph) else bare

    def join_all(self, lines: Sequence[Line]) -> str:
        """The text of some lines."""
        text = ""
        for line in lines:
            text = self.join(text, line.text)
        return text

    def _place_regions(self) -> Iterator[list[Element]]:
        """The elements of each page as they are drawn, captions with what belongs to them taken together."""
        open_table: Region | None = None
        for page in self.pages:
            elements, place = list[Element](), 0
            while place < len(page):
                line = page[place]
                if open_table:
                    end = self._end_table(page, place, Region(open_table.label))
                    if not place:
                        while (
                            end < len(page)
                            and page[end].size < (1 - _SAME_SIZE) * self.body
                            and not self._find_caption(page, end)
                        ):
                            end += 1
                    open_table = open_table if end > place else None
                    if end > place:
                        elements.append(Region("", [], page[place:end], goes_on=True))
                        place = end
                        continue
                if match := self._find_caption(page, place):
                    region = Region(" ".join(match["label"].split()))
                    start = place
                    place = self._end_caption(page, place)
                    region.caption = page[start:place]
                    if match["what"].lower().startswith("tab"):
                        end = self._end_table(page, place, region)
                        region.lines = page[place:end]
                        place = end
                        open_table = region
                    elements.append(region)
                    continue
                end = self._end_bare_table(page, place)
                if end > place:
                    elements.append(Region("", [], page[place:end]))
                    place = end
                    continue
                elements.append(line)
                place += 1
            yield elements

    def _find_caption(self, page: Sequence[Line], place: int) -> re.Match[str] | None:
        """Whether a caption begins in a line: a label that is followed by what it names and is not in the middle of a sentence."""
        line = page[place]
        match = CAPTION.match(line.text)
        if not match or not line.text[:1].isupper():
            return None
        rest = line.text[match.end() :]
        if _SAYS.match(rest) or (rest and not match["after"].strip() and not rest[:1].isupper() and rest[:1] not in "([“"):
            return None
        before = page[place - 1] if place else None
        goes_on = (
            before is not None
            and self.is_body(before)
            and self.is_body(line)
            and abs(before.size - line.size) < 0.04 * line.size
            and 0 < before.height - line.height < _WIDE * self.leading
            and before.left < line.right
            and before.right > line.left
            and before.right - before.left > 0.5 * self.width
        )
        return None if goes_on and not (before and _ENDS.search(before.text) and match["after"].strip()) else match

    def _end_caption(self, page: Sequence[Line], place: int) -> int:
        """The place behind the last line of a caption."""
        first, place = page[place], place + 1
        leading = 0.0
        while place < len(page):
            line, before = page[place], page[place - 1]
            drop = before.height - line.height
            label_only = place > 0 and bool(CAPTION.fullmatch(" ".join(one.text for one in page[place - 1 : place]).strip()))
            near = 0 <= drop < (1.25 * leading if leading else 1.75 * line.size)
            if drop == 0 and line.left > before.right:
                near = line.left - before.right < 3 * line.size
            alike = abs(line.size - first.size) <= 0.04 * first.size
            if not (near and (alike or label_only)) or self._find_caption(page, place):
                break
            if self.is_body(line) and not self.is_body(first) and not label_only and not self.is_body(before):
                break
            if drop and len(split_cells(line)) > 1:
                break
            if (
                not label_only
                and drop
                and _ENDS.search(before.text)
                and before.right + line.size + line.words[0].right - line.words[0].left
                < max(one.right for one in page[place - 1 :][:1])
            ):
                break
            leading = leading or drop
            place += 1
        return place

    def _end_table(self, page: Sequence[Line], place: int, region: Region) -> int:
        """The place behind the last line of a table that goes on at a place of a page."""
        start = place
        while place < len(page):
            line = page[place]
            if self.is_prose(line) or self._find_caption(page, place):
                break
            if place > start and line.size > 1.08 * max(self.body, page[place - 1].size):
                break
            before = page[place - 1] if place > start else (region.caption or [line])[-1]
            if before.height - line.height > 5 * self.leading or line.height - before.height > 12 * self.leading:
                break
            place += 1
        # What names the next section is no row of the table.
        while place > start and place < len(page) and self._may_be_heading(page[place - 1], page[place]):
            place -= 1
        rows = group_rows(page[start:place])
        multi = sum(len(row) > 1 or len(split_cells(row[0])) > 1 for row in rows)
        if not region.caption and multi < 0.4 * len(rows):
            return start
        return place

    def _may_be_heading(self, line: Line, following: Line) -> bool:
        if len(split_cells(line)) > 1 or abs(line.height - following.height) < 0.3 * line.size:
            return False
        return (
            looks_like_heading(line.text)
            or (
                line.text[:1].isupper()
                and self.is_body_size(line)
                and line.bold
                and line.height - following.height > self.leading
            )
            or line.size > 1.06 * self.body
        )

    def _end_bare_table(self, page: Sequence[Line], place: int) -> int:
        """The place behind a table without a caption, three rows or more whose second cells stand below each other; else the
        same place."""
        end, starts = place, Counter[int]()
        while end < len(page) and not self.is_prose(page[end]) and len(cells := split_cells(page[end])) > 1:
            starts[round(cells[1][0].left / 3)] += 1
            end += 1
        return end if end - place >= 3 and max(starts.values()) >= 0.6 * (end - place) else place

    def _find_gutters(self, lines: Sequence[Line]) -> list[float]:
        """Where columns of text begin, but for the first: lines begin there, others end before, and few cross between them."""
        wide = [line for line in lines if len(line.text) >= 20]
        found = list[float]()
        starts = Counter(round(line.left / 2) for line in wide)
        for start in sorted(starts):
            at = 2.0 * start
            right = [line for line in wide if abs(line.left - at) <= 3]
            if len(right) < 4 or any(at - gutter < 60 for gutter in found):
                continue
            top, bottom = max(line.height for line in right), min(line.height for line in right)
            left = [line for line in wide if line.right < at]
            ends = max((line.right for line in left), default=0.0)
            crossing = [line for line in wide if line.left < at - 5 and line.right > at + 5 and bottom <= line.height <= top]
            if len(left) >= 3 and ends > at - 45 and len(crossing) < 0.4 * len(right):
                found.append(min(line.left for line in right) - 2)
        return found

    def _measure_columns(self, lines: Sequence[Line], gutters: Sequence[float]) -> dict[tuple[int, int], tuple[float, float]]:
        """The left and right edge of each column, and of what crosses columns."""
        groups = dict[tuple[int, int], list[Line]]()
        for line in lines:
            groups.setdefault(_place(line, gutters), []).append(line)
        columns = dict[tuple[int, int], tuple[float, float]]()
        for key, group in groups.items():
            text = [line for line in group if self.is_body_size(line)] or group
            lefts = Counter(round(line.left) for line in text)
            left = min(at for at, count in lefts.items() if count >= 0.12 * len(text))
            rights = sorted(line.right for line in text)
            right = rights[int(0.97 * (len(rights) - 1))]
            columns[key] = left, max(right, left + self.width) if len(text) < 5 and key[0] == key[1] else right
        return columns

    def _find_notes(self, lines: Sequence[Line], gutters: Sequence[float]) -> set[int]:
        """Small print at the foot of a column; the sentence above goes on overleaf."""
        notes = set[int]()
        if not self.is_set:
            return notes
        groups = dict[int, list[Line]]()
        for line in lines:
            groups.setdefault(_place(line, gutters)[0], []).append(line)
        for group in groups.values():
            group.sort(key=lambda line: line.height)
            small = 0
            while small < len(group) and group[small].size < (1 - _SAME_SIZE) * self.body:
                small += 1
            if small <= len(group) // 2:
                notes |= {id(line) for line in group[:small]}
        return notes


def _place(line: Element, gutters: Sequence[float]) -> tuple[int, int]:
    """The first and the last column that a line is in."""
    lines = [line] if isinstance(line, Line) else [*line.caption, *line.lines]
    left, right = min(one.left for one in lines), max(one.right for one in lines)
    return sum(left >= gutter for gutter in gutters), sum(right > gutter + 4 for gutter in gutters)


@dataclass(slots=True)
class _Box:
    elements: list[Element]
    place: tuple[int, int]
    left: float
    right: float
    top: float
    bottom: float

    def is_before(self, other: _Box, boxes: Sequence[_Box]) -> bool:
        """Whether this is read first (Breuel 2003): it is above, or in a column to the left with nothing across both between."""
        if min(self.right, other.right) - max(self.left, other.left) > 2:
            return self.bottom >= other.top - 2
        if self.right > other.left + 2:
            return False
        return not any(
            box is not self
            and box is not other
            and min(box.right, self.right) - max(box.left, self.left) > 2
            and min(box.right, other.right) - max(box.left, other.left) > 2
            and min(self.bottom, other.bottom) >= 0
            and _is_between(box, self, other)
            for box in boxes
        )


def _is_between(box: _Box, one: _Box, other: _Box) -> bool:
    return (one.bottom >= box.top - 2 and box.bottom >= other.top - 2) or (
        other.bottom >= box.top - 2 and box.bottom >= one.top - 2
    )


def _order(elements: Sequence[Element], gutters: Sequence[float]) -> Iterator[Element]:
    """The elements of a page as they are read: those drawn one below the other stay together."""
    boxes = list[_Box]()
    for element in elements:
        lines = [element] if isinstance(element, Line) else [*element.caption, *element.lines]
        top = max(line.height + 0.8 * line.size for line in lines)
        bottom = min(line.height - 0.2 * line.size for line in lines)
        left, right = min(line.left for line in lines), max(line.right for line in lines)
        place, last = _place(element, gutters), boxes[-1] if boxes else None
        if (
            last
            and isinstance(element, Line)
            and isinstance(last.elements[-1], Line)
            and last.place == place
            and -2 < last.bottom - top < 3 * element.size
        ):
            last.elements.append(element)
            last.left, last.right, last.bottom = min(last.left, left), max(last.right, right), min(last.bottom, bottom)
        elif (
            last
            and isinstance(element, Line)
            and isinstance(last.elements[-1], Line)
            and bottom >= last.bottom
            and top <= last.top
        ):
            last.elements.append(element)
            last.left, last.right = min(last.left, left), max(last.right, right)
        else:
            boxes.append(_Box([element], place, left, right, top, bottom))
    left_over = list(range(len(boxes)))
    earlier = (
        {one: {two for two in left_over if two != one and boxes[two].is_before(boxes[one], boxes)} for one in left_over}
        if len(boxes) < 100
        else {one: set[int]() for one in left_over}
    )
    while left_over:
        waiting = set(left_over)
        first = next((one for one in left_over if not earlier[one] & waiting), left_over[0])
        left_over.remove(first)
        yield from boxes[first].elements


class _Flow:
    """The items so far, and the paragraph that is open: tables and captions in it come behind it."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._items = list[Item]()
        self._open: Item | None = None
        self._waiting = list[Item]()
        self._last: tuple[Line, tuple[float, float]] | None = None
        self._styles = dict[int, tuple[float, bool, bool]]()
        self._table = 0
        self._pending: list[tuple[Line, tuple[float, float]]] = []
        self.notes = list[Line]()

    def add(self, line: Line, column: tuple[float, float]) -> None:
        """Take the next line; whether one is a heading depends on what follows, so each waits for the next."""
        self._pending.append((line, column))
        if len(self._pending) > 1:
            self._take(*self._pending.pop(0), line)

    def put_region(self, region: Region) -> None:
        """Take a caption, and the table below it."""
        from indexes.readers.pdf.tables import read_region

        self._table += not region.goes_on
        self._waiting += read_region(region, self._table, self._layout)

    def finish(self) -> list[Item]:
        """All items, notes at the end."""
        for line, column in self._pending:
            self._take(line, column, None)
        self._close()
        self._number_levels()
        last: Line | None = None
        for line in self.notes:
            if (
                last
                and 0 < last.height - line.height < 1.6 * line.size
                and last.page == line.page
                and not re.match(r"\W?\d", line.text)
            ):
                self._items[-1].text = self._layout.join(self._items[-1].text, line.text)
            else:
                self._items.append(Item("note", line.text, line.page, size=line.size))
            last = line
        return self._items

    def _take(self, line: Line, column: tuple[float, float], following: Line | None) -> None:
        before, self._last = self._last, (line, column)
        heading = self._is_heading(line, column, before, following)
        if self._open and self._open.kind == "heading":
            goes_on = (
                before is not None
                and _look(before[0]) == _look(line)
                and self._follows(before[0], line, max(1.5, self._layout.leading / self._layout.body) * 1.1 * line.size)
            )
            if goes_on and heading and len(self._open.text.split()) < 3 * _LONGEST_HEADING:
                self._open.text = self._layout.join(self._open.text, line.text)
                return
            self._close()
        if heading:
            self._close()
            self._open = Item("heading", line.text, line.page, size=line.size, lines=[line])
            return
        if self._open and before and self._breaks(before[0], before[1], line, column):
            self._close()
        if self._open is None:
            self._open = Item("paragraph", line.text, line.page, size=line.size)
        elif before and before[0].height == line.height and before[0].page == line.page and not _HYPHEN.search(before[0].text):
            self._open.text += f" {line.text}"
        else:
            self._open.text = self._layout.join(self._open.text, line.text)

    def _close(self) -> None:
        if self._open:
            self._items.append(self._open)
        self._items += self._waiting
        self._open, self._waiting = None, []

    @staticmethod
    def _follows(before: Line, line: Line, most: float) -> bool:
        return before.page == line.page and 0 <= before.height - line.height < most

    def _is_heading(
        self, line: Line, column: tuple[float, float], last: tuple[Line, tuple[float, float]] | None, following: Line | None
    ) -> bool:
        layout, text = self._layout, line.text
        known, is_large = looks_like_heading(text), layout.is_set and line.size > 1.06 * layout.body
        if (
            len(text.split()) > _LONGEST_HEADING
            or not re.search(r"[^\W\d_]{3}", text)
            or (text.endswith((",", ";")) and not is_large)
        ):
            return False
        goes_on = self._open is not None and self._open.kind == "heading" and last is not None and _look(last[0]) == _look(line)
        apart = last is None or _look(last[0]) != _look(line) or not self._follows(last[0], line, _WIDE * layout.leading)
        if not (apart or goes_on or _ENDS.search(last[0].text)) or not (_STARTS.match(text) or goes_on):
            return False
        short = line.right < column[1] - 0.15 * (column[1] - column[0])
        if is_large or (known and (short or line.bold)) or not layout.is_set:
            return is_large or known
        if line.size < (1 - _SAME_SIZE) * layout.body or text.endswith("."):
            return False
        styled = not layout.is_body(line) or line.bold
        drop = line.height - following.height if following and following.page == line.page else 0.0
        apart = following is None or drop > 1.12 * layout.leading or drop < 0 or _look(following) == _look(line)
        if styled:
            return apart or short
        return text.isupper() and len(text) > 5 and short and not re.search(r"\d", text)

    def _breaks(self, before: Line, old: tuple[float, float], line: Line, column: tuple[float, float]) -> bool:
        """Whether a line begins another paragraph than the line before."""
        layout = self._layout
        if _HYPHEN.search(before.text):
            return False
        if before.page == line.page and abs(before.height - line.height) < 0.3 * line.size and line.left > before.left:
            return False
        if layout.is_set and abs(line.size - before.size) > _SAME_SIZE * line.size:
            return True
        ended, starts = bool(_ENDS.search(before.text)), bool(_STARTS.match(line.text))
        room = old[1] - before.right - (line.words[0].right - line.words[0].left) - 0.3 * line.size
        fits = room > 0.02 * (old[1] - old[0])
        near = before.page == line.page and old == column and before.height - line.height > 0
        if near and before.height - line.height > _WIDE * max(layout.leading, 1.1 * line.size) and (ended or starts):
            return True
        indented = 0.7 * line.size < line.left - column[0] < 5 * line.size
        if near and indented and before.left - old[0] < 0.5 * line.size:
            return ended or (starts and fits)
        if ended and _ITEM.match(line.text):
            return True
        if ended and starts:
            return fits or (not near and indented)
        return starts and room > 0.3 * (old[1] - old[0]) and not before.text.endswith(("(", ","))

    def _number_levels(self) -> None:
        """The levels of headings, by how they are set: larger, bold, in capital letters."""
        headings = [item for item in self._items if item.kind == "heading"]
        looks = sorted({_rank(item) for item in headings}, reverse=True)
        for item in headings:
            item.level = looks.index(_rank(item))


_LAST = re.compile(r"[^\W\d_]+$")
_FIRST = re.compile(r"[^\W\d_]+")


def _look(line: Line) -> tuple[float, str]:
    return round(2 * line.size) / 2, line.font


def _rank(item: Item) -> tuple[float, bool, bool]:
    return round(2 * item.size) / 2, item.text.isupper(), any(line.bold for line in item.lines)


def group_rows(lines: Sequence[Line]) -> list[list[Line]]:
    """Lines at one height together, from above."""
    rows = list[list[Line]]()
    for line in sorted(lines, key=lambda one: (-one.height, one.left)):
        if rows and abs(rows[-1][0].height - line.height) < 0.35 * line.size:
            rows[-1].append(line)
        else:
            rows.append([line])
    for row in rows:
        row.sort(key=lambda one: one.left)
    return rows


def _counts_lines(page: Sequence[Line], group: Sequence[Line], end: int) -> bool:
    """Whether the numbers at one end of some lines count the lines of their column."""
    ordered = sorted(group, key=lambda line: -line.height)
    numbers = [int(line.words[end].text) for line in ordered]
    steps = Counter(second - first for first, second in pairwise(numbers))
    if len(numbers) < 4 or not steps:
        return False
    [(step, count)] = steps.most_common(1)
    if step not in (1, 2, 5, 10) or count < 0.9 * (len(numbers) - 1):
        return False
    left, right = min(line.left for line in ordered) - 5, max(line.right for line in ordered)
    bare = all(len(line.words) == 1 for line in ordered)
    columns = [(left, right + 300), (left - 300, right)] if bare else [(left, right)]
    counted = numbers[-1] - numbers[0] + 1
    for low, high in columns:
        heights = {
            round(line.height / 3)
            for line in page
            if low <= line.left <= high and ordered[-1].height - 1 <= line.height <= ordered[0].height + 1
        }
        if 0.7 < len(heights) / counted < 1.6:
            return True
    return False


def _mend_rows(lines: list[Line]) -> list[Line]:
    """Join lines that were one before the number between them went."""
    joined = list[Line]()
    for line in lines:
        before = joined[-1] if joined else None
        if before and before.height == line.height and 0 <= line.left - before.right < 0.6 * line.size:
            joined[-1] = Line([*before.words, *line.words], before.size, before.height, before.font, before.page, before.bold)
        else:
            joined.append(line)
    return joined


def _list_edges(page: Sequence[Line]) -> list[list[Line]]:
    """The three highest and the three lowest rows of a page, from its edges inwards; the lowest begin at the fourth place."""
    rows = [list(row) for _, row in groupby(sorted(page, key=lambda line: -line.height), key=lambda line: round(line.height / 2))]
    if len(rows) < 7:
        return [*rows[:1], [], [], [], [], *rows[-1:]] if len(rows) > 1 else []
    return [*rows[:3], *rows[-3:]]


def _mask(line: Line) -> tuple[str, int]:
    """A running head and where it stands, without its numbers, since they differ from page to page."""
    return _NUMBER.sub("#", line.text), round(line.height / 2)


def split_cells(line: Line) -> list[list[Word]]:
    """The words of a line, parted where a gap is wider than that between the words of a stretched line."""
    gaps = [after.left - before.right for before, after in pairwise(line.words)]
    usual = median(gaps) if len(gaps) > 2 else 0.0
    least = max(_GAP * line.size, 2.2 * usual if usual < 0.6 * line.size else 0.0)
    cells = [[line.words[0]]]
    for gap, word in zip(gaps, line.words[1:], strict=True):
        if gap > least:
            cells.append([])
        cells[-1].append(word)
    return cells
