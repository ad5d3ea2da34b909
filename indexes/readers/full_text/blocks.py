"""The blocks of a full text while it is read, each with a location of its own."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from counterpoint.indexes.readers.full_text.tables import BAR, Row
from counterpoint.nli.text.sentences import sentence_spans
from counterpoint.retrieval.core.characters import replace_surrogates
from counterpoint.retrieval.core.values import Block, Location, SectionKind

_ABBREVIATIONS = re.compile(r"abbreviations?\b|[\w/-]{1,12}\s*[,=:]\s*[^.;,]{3,80}[;,.]\s*[\w/-]{1,12}\s*[,=:]\s", re.IGNORECASE)
_SYMBOL = re.compile(r"[*†‡§¶#‖]+|[a-z]\b")
_LONGEST_NOTE = 150
_LEAST_WORDS = 6
"""Of a table's note that is read by itself."""


class Blocks:
    """The blocks read so far; no two have the same location."""

    def __init__(self) -> None:
        self.found: list[Block] = []
        self._numbers = Counter[tuple[SectionKind, str]]()
        self._labels = Counter[str]()

    def add(self, text: str, kind: SectionKind, section: str, context: str = "", page: int | None = None) -> None:
        """A paragraph, the next one of its section."""
        self._numbers[kind, section] += 1
        text = replace_surrogates(text)
        self._append(Location(kind, section, self._numbers[kind, section], page), text, sentence_spans(text), context)

    def name(self, label: str) -> str:
        """The label of a table or figure, with a number if it occurred before."""
        self._labels[label] += 1
        return label if self._labels[label] == 1 else f"{label} ({self._labels[label]})"

    def add_caption(self, label: str, text: str, page: int | None = None) -> None:
        """The caption of a table or figure."""
        self._append(Location("caption", label, 0, page), text, sentence_spans(text), "")

    def add_table(
        self,
        label: str,
        caption: str,
        rows: Iterable[tuple[Row, int | None]],
        notes: Sequence[tuple[str, str, int | None]],
    ) -> None:
        """The rows of a table, each with its page and as one sentence; its notes, each with the mark that points to it and its
        page, stand by their rows and, if they say something, by themselves."""
        for row, page in rows:
            marks = set(_SYMBOL.findall(row.text))
            said = [note for mark, note, _ in notes if mark in marks and len(note) <= _LONGEST_NOTE]
            context = BAR.join(filter(None, (caption, *row.context, *said)))
            self._append(Location("table", label, row.number, page), row.text, [(0, len(row.text))], context)
        for _, note, page in notes:
            if len(note.split()) >= _LEAST_WORDS and not _ABBREVIATIONS.match(note):
                self.add(note, "caption", f"{label}, notes", caption, page)

    def _append(self, location: Location, text: str, spans: list[tuple[int, int]], context: str) -> None:
        if spans:
            self.found.append(Block(location, replace_surrogates(text), tuple(spans), replace_surrogates(context)))


def find_mark(text: str) -> str:
    """The mark at the beginning of a note; "" if there is none."""
    mark = _SYMBOL.match(text)
    return mark[0] if mark else ""
