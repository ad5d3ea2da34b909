"""A JATS article as a full text: its record, and its paragraphs, captions and rows of tables in their order."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from lxml import etree

from indexes.readers.base.fields import RecordError
from indexes.readers.base.markup import find_name
from indexes.readers.full_text.front import read_licence, read_record
from indexes.readers.full_text.jats import find_first, read_words, replace_marks, walk
from indexes.readers.full_text.tables import BAR, Row, read_rows
from nli.text.sentences import sentence_spans
from retrieval.core.characters import replace_surrogates
from retrieval.core.values import Block, FullText, Location, SectionKind

MOST_BLOCKS = 20_000
"""A paper has fewer paragraphs and rows of tables."""
_ABBREVIATIONS = re.compile(r"abbreviations?\b|[\w/-]{1,12}\s*[,=:]\s*[^.;,]{3,80}[;,.]\s*[\w/-]{1,12}\s*[,=:]\s", re.IGNORECASE)
_SYMBOL = re.compile(r"[*†‡§¶#‖]+|[a-z]\b")
_LEAST_WORDS = 6
"""Of a table's note that is read by itself."""
_LONGEST_NOTE = 150


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
    if not blocks.found:
        raise RecordError("expected the text of a paper, got a body without a word")
    if len(blocks.found) > MOST_BLOCKS:
        raise RecordError(f"expected one paper, got {len(blocks.found):,} paragraphs and rows of tables")
    return FullText(record, tuple(blocks.found), "jats", source, read_licence(article), blocks.pictures)


class _Blocks:
    """The blocks read so far; no two have the same location."""

    def __init__(self) -> None:
        self.found: list[Block] = []
        self.pictures = 0
        self._numbers = Counter[tuple[SectionKind, str]]()
        self._labels = Counter[str]()

    def read(self, element: etree._Element, kind: SectionKind) -> None:
        """Append what stands below an element."""
        for piece in walk(element, kind):
            if piece.element is not None:
                self._read_float(piece.element)
            elif not piece.heading:
                self._add(piece.text, piece.kind, piece.section)

    def _add(self, text: str, kind: SectionKind, section: str, context: str = "") -> None:
        self._numbers[kind, section] += 1
        text = replace_surrogates(text)
        self._append(Location(kind, section, self._numbers[kind, section]), text, sentence_spans(text), context)

    def _append(self, location: Location, text: str, spans: list[tuple[int, int]], context: str) -> None:
        if spans:
            self.found.append(Block(location, text, tuple(spans), replace_surrogates(context)))

    def _read_float(self, element: etree._Element) -> None:
        """A table or a figure: its caption, the table's rows, and its notes that say something."""
        is_table = find_name(element) == "table-wrap"
        label = self._name(_read_label(element) or ("Table" if is_table else "Figure"))
        title = find_first(element, "caption")
        caption = "" if title is None else " ".join(piece.text for piece in walk(title, "caption") if piece.text)
        self._append(Location("caption", label, 0), caption, sentence_spans(caption), "")
        if not is_table:
            return
        notes = list(_read_notes(element))
        rows = list(_read_tables(element))
        self.pictures += not rows and any(find_name(one).endswith("graphic") for one in element.iter())
        for row in rows:
            marks = set(_SYMBOL.findall(row.text))
            said = [note for mark, note in notes if mark in marks and len(note) <= _LONGEST_NOTE]
            context = BAR.join(filter(None, (caption, *row.context, *said)))
            self._append(Location("table", label, row.number), row.text, [(0, len(row.text))], context)
        for _, note in notes:
            if len(note.split()) >= _LEAST_WORDS and not _ABBREVIATIONS.match(note):
                self._add(note, "caption", f"{label}, notes", caption)

    def _name(self, label: str) -> str:
        """The label, with a number if it occurred before."""
        self._labels[label] += 1
        return label if self._labels[label] == 1 else f"{label} ({self._labels[label]})"


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
    """The notes below a table, each with the mark that points to it, "" if it has none."""
    for foot in wrap.iter("{*}table-wrap-foot"):
        for element in foot:
            label = _read_label(element)
            for place in [element] if find_name(element) == "p" else element.iter("{*}p"):
                if text := read_words(place):
                    mark = _SYMBOL.match(label or text)
                    yield mark[0] if mark else "", text
