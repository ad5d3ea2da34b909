"""PDF with a text layer as a passage: headings, paragraphs, and the cells of tables, each by itself; notes follow at the end."""

from __future__ import annotations

from counterpoint.indexes.readers.pdf.lines import CLOSE, OPEN
from counterpoint.indexes.readers.pdf.reading import read_printed
from counterpoint.indexes.readers.prose.passage import Passage, Writing

_MARKS = {ord(OPEN): "[", ord(CLOSE): "]"}


def read_pdf(raw: bytes, name: str) -> Passage:
    """The text of a PDF; raises `BadInput` for one that is damaged, has a password or too many pages, or has no readable text."""
    writing = Writing()
    for item in read_printed(raw, name).items:
        for text, *_ in item.cells:
            writing.add(text.translate(_MARKS), "cell")
        writing.add(item.text.translate(_MARKS), "heading" if item.kind == "heading" else "paragraph")
    return writing.done()
