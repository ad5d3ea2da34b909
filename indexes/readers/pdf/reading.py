"""A PDF as items in reading order, and what its first page and the file itself say of the paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from counterpoint.indexes.readers.base import apart
from counterpoint.indexes.readers.pdf.layout import Item, Layout
from counterpoint.indexes.readers.pdf.lines import read_pages
from counterpoint.indexes.readers.pdf.readable import is_readable
from counterpoint.retrieval.core.errors import BadInput


@dataclass(frozen=True, slots=True)
class Printed:
    """`front` are the lines of the first page, as drawn; `edges` what stands at the edges of pages; `said` what the file says.

    `words` is the median of a page's words, `is_landscape` whether most pages are wider than high.
    """

    items: Sequence[Item]
    front: Sequence[str]
    edges: Sequence[str]
    said: dict[str, str]
    pages: int
    words: float
    is_landscape: bool


def read_printed(raw: bytes, name: str) -> Printed:
    """The text of a PDF; raises `BadInput` for one that is damaged, has a password or too many pages, or has no readable text."""
    pages, is_wide, said = read_pages(raw, name)
    front = [line.text for line in next(filter(None, pages))]
    counts = [sum(len(line.words) for line in page) for page in pages if page]
    layout = Layout(pages)
    items = layout.read()
    if not is_readable("\n".join(item.text or " ".join(text for text, *_ in item.cells) for item in items)):
        raise BadInput(
            f"{name} has no readable text layer: its fonts do not say which letters they draw; recognise its text (OCR) first."
        )
    return Printed(items, front, list(dict.fromkeys(layout.edges)), said, len(pages), median(counts), is_wide)


def read_printed_apart(raw: bytes, name: str) -> Printed:
    """The same in a process of its own."""
    items, *others = apart.read_apart(f"{__name__}:read_printed", raw, name)
    return Printed([Item(*item) for item in items], *others)
