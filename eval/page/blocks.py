"""The blocks of a page. HTML and Markdown are two renderings of the same blocks, so that both say the same."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class Cell:
    """A figure, the note below it, and whether its difference from what it is compared with is significant."""

    text: str
    details: tuple[str, ...] = ()
    sure: bool = False


@dataclass(frozen=True, slots=True)
class TableRow:
    """A line of a table; `swatch` names the colour in which a plot shows it."""

    name: str
    cells: tuple[Cell, ...]
    note: str = ""
    swatch: str = ""


@dataclass(frozen=True, slots=True)
class Body:
    """Lines of a table that belong together, under a title where there are several such groups."""

    rows: tuple[TableRow, ...]
    title: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table: `groups` are titles that each span several columns, `definitions` explain the columns, `number` is its number."""

    kind: ClassVar[str] = "table"
    caption: str
    corner: str
    columns: tuple[str, ...]
    bodies: tuple[Body, ...]
    groups: tuple[tuple[str, int], ...] = ()
    definitions: tuple[tuple[str, str], ...] = ()
    number: int = 0

    @property
    def headings(self) -> tuple[str, ...]:
        """One heading per column, for formats that allow only one line of headings."""
        if not self.groups:
            return self.columns
        titles = [title for title, span in self.groups for _ in range(span)]
        return tuple(f"{title}: {column}" for title, column in zip(titles, self.columns, strict=True))

    @property
    def openings(self) -> frozenset[int]:
        """The columns before which a new group begins, counted from 0."""
        return frozenset(accumulate(span for _, span in self.groups[:-1]))


@dataclass(frozen=True, slots=True)
class Swatch:
    """What a colour of a plot stands for."""

    colour: str
    name: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Plot:
    """A plot as inline SVG, once for wide windows and once for narrow ones, with a description and a table of its numbers."""

    kind: ClassVar[str] = "plot"
    caption: str
    alternative: str
    wide: str
    narrow: str
    table: Table
    legend: tuple[Swatch, ...] = ()
    number: int = 0


@dataclass(frozen=True, slots=True)
class Words:
    """A paragraph; an important one is emphasised."""

    kind: ClassVar[str] = "words"
    text: str
    weighs: bool = False


@dataclass(frozen=True, slots=True)
class Fact:
    """A name and its value; code is shown as typed."""

    name: str
    text: str
    code: bool = False


@dataclass(frozen=True, slots=True)
class Facts:
    """Names and their values."""

    kind: ClassVar[str] = "facts"
    heading: str
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Listing:
    """A file's text, shown on demand."""

    kind: ClassVar[str] = "listing"
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Loss:
    """A gold document that was lost: its claim, its evidence, and which variants lost it at which rank of the retrieval."""

    claim: str
    claim_text: str
    document: str
    title: str
    passages: tuple[tuple[str, str], ...]
    lost_by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Losses:
    """Documents of one stance that were lost in one way."""

    kind: ClassVar[str] = "losses"
    title: str
    meaning: str
    swatch: str
    losses: tuple[Loss, ...]


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading inside a section."""

    kind: ClassVar[str] = "heading"
    text: str


Block = Table | Plot | Words | Facts | Listing | Losses | Heading


@dataclass(frozen=True, slots=True)
class PageSection:
    """Blocks under a heading; `id` is its address in the page."""

    id: str
    heading: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """A page: its title, what to know before reading it, and its sections."""

    title: str
    lead: tuple[str, ...]
    sections: tuple[PageSection, ...]


class Numbers:
    """Numbers for tables and plots, in the order in which they appear on the page."""

    def __init__(self) -> None:
        self.tables = self.plots = 0

    def give(self, block: Block) -> Block:
        """The block with its number, if it is of a numbered kind."""
        if isinstance(block, Plot):
            self.plots += 1
            return replace(block, number=self.plots, table=self._table(block.table))
        return self._table(block) if isinstance(block, Table) else block

    def _table(self, table: Table) -> Table:
        self.tables += 1
        return replace(table, number=self.tables)
