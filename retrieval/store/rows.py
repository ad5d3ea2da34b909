"""A stored document as a row of a table, and what is read from it.

Boundaries and cues are packed integers, found when the index was built, so that a query never splits or scans a text.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import chain
from typing import TypeVar

from retrieval.core.errors import IndexUnusable
from retrieval.core.values import Author, Cue, Document, Notice, Section, Sentence, Span

RETRACTING = frozenset({"RetractionOf", "RetractedandRepublishedFrom"})
"""The notices by which one record says that another is retracted (PubMed's RefTypes)."""

Row = tuple[str, str, str, int | None, str, str, str, str, int, int, bytes, bytes, str, str, str, str]


def pack(numbers: Iterable[Sequence[int]]) -> bytes:
    """Tuples of offsets as little-endian uint32."""
    flat = list(chain.from_iterable(numbers))
    return struct.pack(f"<{len(flat)}I", *flat)


def unpack(blob: bytes, width: int) -> list[tuple[int, ...]]:
    """The inverse of `pack`: tuples of `width` numbers."""
    return list(struct.iter_unpack(f"<{width}I", blob))


_Part = TypeVar("_Part")


def _refuse_damage(read: Callable[[Entry], _Part]) -> Callable[[Entry], _Part]:
    """Say in one sentence that a row is damaged in a way that SQLite itself does not see."""

    def reading(self: Entry) -> _Part:
        try:
            return read(self)
        except (ValueError, TypeError, KeyError, struct.error) as error:
            raise IndexUnusable(f"Document {self.pmid} is damaged in the index's store ({error}): build it again.") from error

    return reading


class Entry:
    """A stored document with its sentences and cues, unpacked only as far as they are asked for."""

    def __init__(self, row: Row, cue_names: dict[int, str]) -> None:
        self._row, self._cue_names = row, cue_names
        self.pmid = row[0]

    @cached_property
    @_refuse_damage
    def document(self) -> Document:
        """The document as its reader gave it, but for `spans`, which are here, and a retraction that came later."""
        pmid, title, abstract, year, journal, types, notices, sections, version, retracted, *_ = self._row
        authors, doi, pmcid, mesh = self._row[12:]
        return Document(
            pmid=pmid,
            title=title,
            abstract=abstract,
            year=year,
            journal=journal,
            types=tuple(json.loads(types)),
            notices=tuple(Notice(*notice) for notice in json.loads(notices)),
            sections=tuple(Section(*section) for section in json.loads(sections)),
            version=version,
            retracted=bool(retracted),
            authors=tuple(Author(*author) for author in json.loads(authors)),
            doi=doi,
            pmcid=pmcid,
            mesh=tuple(json.loads(mesh)),
        )

    def __len__(self) -> int:
        """How many sentences the document has."""
        return len(self._row[10]) // 8

    def __bool__(self) -> bool:
        # A document without a sentence is there nonetheless: `if store.get(pmid)` asks for that.
        return True

    @cached_property
    @_refuse_damage
    def spans(self) -> list[Span]:
        """Every sentence's (start, end) in the abstract."""
        return [(start, end) for start, end in unpack(self._row[10], 2)]

    @cached_property
    @_refuse_damage
    def _cues(self) -> dict[int, tuple[Cue, ...]]:
        """The cues of each sentence that holds any."""
        cues: dict[int, tuple[Cue, ...]] = {}
        for index, cue, start, end in unpack(self._row[11], 4):
            cues[index] = (*cues.get(index, ()), Cue(self._cue_names[cue], start, end))
        return cues

    def sentences(self) -> tuple[Sentence, ...]:
        """All sentences, in order."""
        return tuple(self._make_sentence(index) for index in range(len(self)))

    def cue_sentences(self) -> tuple[Sentence, ...]:
        """The sentences that hold a negation cue, in order."""
        return tuple(self._make_sentence(index) for index in sorted(self._cues))

    def cue_sentence_count(self) -> int:
        """How many sentences hold a negation cue."""
        return len(self._cues)

    def cue_count(self) -> int:
        """How many negation cues the document holds."""
        return sum(map(len, self._cues.values()))

    def _make_sentence(self, index: int) -> Sentence:
        start, end = self.spans[index]
        return Sentence(self.pmid, index, start, end, self._row[2][start:end], self._cues.get(index, ()))
