"""A JATS article as a full text: its record, and its paragraphs, captions and rows of tables in their order."""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree

from counterpoint.indexes.readers.base.fields import RecordError
from counterpoint.indexes.readers.base.markup import find_name
from counterpoint.indexes.readers.full_text.blocks import Blocks, find_mark
from counterpoint.indexes.readers.full_text.front import read_licence, read_record
from counterpoint.indexes.readers.full_text.jats import find_first, read_words, replace_marks, walk
from counterpoint.indexes.readers.full_text.tables import Row, read_rows
from counterpoint.retrieval.core.values import FullText, SectionKind

MOST_BLOCKS = 20_000
"""A paper has fewer paragraphs and rows of tables."""


def read_article(article: etree._Element, source: str) -> FullText:
    """The full text of an article; raises `RecordError` for one without a body, or without a word in it."""
    replace_marks(article)
    body = find_first(article, "body")
    if body is None:
        raise RecordError("expected the text of a paper, got a file without a body; its publisher may only give the abstract")
    record = read_record(article)
    blocks = _Blocks()
    blocks.read(body, "introduction" if record.abstract else "other")
    for appendix in article.iterfind("{*}back/{*}app-group/{*}app"):
        blocks.read(appendix, "other")
    for group in article.iterfind("{*}floats-group"):
        blocks.read(group, "other")
    for wrap in article.iterfind("{*}floats-wrap"):
        blocks.read(wrap, "other")
    # Some publishers have all tables and figures behind the text, among declarations that are no text of the paper.
    for section in article.iterfind("{*}back/{*}sec"):
        for element in section.iter("{*}table-wrap", "{*}fig"):
            blocks.read_float(element)
    if not blocks.found:
        raise RecordError("expected the text of a paper, got a body without a word")
    if len(blocks.found) > MOST_BLOCKS:
        raise RecordError(f"expected one paper, got {len(blocks.found):,} paragraphs and rows of tables")
    return FullText(record, tuple(blocks.found), "jats", source, read_licence(article), blocks.pictures)


class _Blocks(Blocks):
    """The blocks of an article."""

    pictures = 0

    def read(self, element: etree._Element, kind: SectionKind) -> None:
        """Append what stands below an element."""
        for piece in walk(element, kind):
            if piece.element is not None:
                self.read_float(piece.element)
            elif not piece.heading:
                self.add(piece.text, piece.kind, piece.section)

    def read_float(self, element: etree._Element) -> None:
        """A table or a figure: its caption, the table's rows, and its notes that say something."""
        is_table = find_name(element) == "table-wrap"
        label = self.name(_read_label(element) or ("Table" if is_table else "Figure"))
        title = find_first(element, "caption")
        caption = "" if title is None else " ".join(piece.text for piece in walk(title, "caption") if piece.text)
        self.add_caption(label, caption)
        if is_table:
            rows = [(row, None) for row in _read_tables(element)]
            self.pictures += not rows and any(find_name(one).endswith("graphic") for one in element.iter())
            self.add_table(
                label, caption, rows, [(find_mark(mark) or find_mark(text), text, None) for mark, text in _read_notes(element)]
            )


def _read_label(element: etree._Element) -> str:
    label = find_first(element, "label")
    return "" if label is None else " ".join("".join(map(str, label.itertext())).split()).rstrip(" .:")


def _read_tables(wrap: etree._Element) -> Iterator[Row]:
    """The rows of all tables in the element, counted through."""
    number = 0
    for table in wrap.iter("{*}table"):
        for row in read_rows(table, number):
            number = row.number
            yield row


def _read_notes(wrap: etree._Element) -> Iterator[tuple[str, str]]:
    """The notes below a table, each with its label, "" if it has none."""
    for foot in wrap.iter("{*}table-wrap-foot"):
        for element in foot:
            label = _read_label(element)
            for place in [element] if find_name(element) == "p" else element.iter("{*}p"):
                if text := read_words(place):
                    yield label, text
