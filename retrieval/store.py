"""The documents beside Lucene: texts, sentence boundaries and negation cues in one SQLite file.

Lucene keeps ids only, since loading stored text for a thousand hits costs more than finding them. Boundaries and cues are
packed integers, found when the index was built, so that a query never splits or scans a text.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from retrieval.errors import IndexUnusable
from retrieval.values import Cue, Document, Notice, Section, Sentence, Span

# One row a document. boundaries: uint32 pairs (start, end); cues: uint32 quadruples (sentence, cue, start, end), where `cue`
# counts in the table cue_names. Offsets are characters of the abstract.
SCHEMA = """
CREATE TABLE documents (
    pmid TEXT PRIMARY KEY,
    title TEXT NOT NULL,
    abstract TEXT NOT NULL,
    year INTEGER,
    journal TEXT NOT NULL,
    types TEXT NOT NULL,
    notices TEXT NOT NULL,
    sections TEXT NOT NULL,
    version INTEGER NOT NULL,
    retracted INTEGER NOT NULL,
    boundaries BLOB NOT NULL,
    cues BLOB NOT NULL,
    written INTEGER NOT NULL
);
CREATE TABLE cue_names (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
"""
COLUMNS = "pmid, title, abstract, year, journal, types, notices, sections, version, retracted, boundaries, cues"

_PACKED = np.dtype("<u4")
Row = tuple[str, str, str, int | None, str, str, str, str, int, int, bytes, bytes]


def pack(numbers: Iterable[Sequence[int]]) -> bytes:
    """Tuples of offsets as little-endian uint32."""
    return np.array(list(numbers), dtype=_PACKED).tobytes()


def unpack(blob: bytes, width: int) -> npt.NDArray[np.uint32]:
    """The inverse of `pack`: [n, width] uint32."""
    return np.frombuffer(blob, dtype=_PACKED).reshape(-1, width)


class Entry:
    """A stored document with its sentences and cues, unpacked only as far as they are asked for."""

    __slots__ = ("_boundaries", "_cue_names", "_cues", "document")

    def __init__(self, row: Row, cue_names: dict[int, str]) -> None:
        pmid, title, abstract, year, journal, types, notices, sections, version, retracted, boundaries, cues = row
        self.document = Document(
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
        )
        self._boundaries = boundaries
        self._cues = cues
        self._cue_names = cue_names

    def __len__(self) -> int:
        """How many sentences the document has."""
        return len(self._boundaries) // (2 * _PACKED.itemsize)

    @property
    def spans(self) -> list[Span]:
        """Every sentence's (start, end) in the abstract."""
        return [(int(start), int(end)) for start, end in unpack(self._boundaries, 2)]

    def sentences(self) -> tuple[Sentence, ...]:
        """All sentences, in order."""
        return tuple(self._sentence(i, span, self._cues_by_sentence()) for i, span in enumerate(self.spans))

    def cue_sentences(self) -> tuple[Sentence, ...]:
        """The sentences that hold a negation cue, in order."""
        if not self._cues:
            return ()
        cues, spans = self._cues_by_sentence(), self.spans
        return tuple(self._sentence(i, spans[i], cues) for i in sorted(cues))

    def cue_sentence_count(self) -> int:
        """How many sentences hold a negation cue."""
        return len(set(unpack(self._cues, 4)[:, 0].tolist()))

    def _cues_by_sentence(self) -> dict[int, tuple[Cue, ...]]:
        placed: dict[int, tuple[Cue, ...]] = {}
        for index, cue, start, end in unpack(self._cues, 4).tolist():
            placed[index] = (*placed.get(index, ()), Cue(self._cue_names[cue], start, end))
        return placed

    def _sentence(self, index: int, span: Span, cues: dict[int, tuple[Cue, ...]]) -> Sentence:
        start, end = span
        text = self.document.abstract[start:end]
        return Sentence(self.document.pmid, index, start, end, text, cues.get(index, ()))


class Store:
    """Read access to the documents of an index; safe to use from several threads at once."""

    # SQLite allows 32,766 variables a statement; a thousand a statement is already as fast as it gets.
    _CHUNK = 1000

    def __init__(self, path: Path) -> None:
        self.path = path
        self._local = threading.local()
        self._cue_names = dict(self._query("SELECT id, name FROM cue_names"))

    def _connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            # A finished index never changes: `immutable` spares every query its locks.
            uri = f"{self.path.absolute().as_uri()}?mode=ro&immutable=1"
            connection = self._local.connection = sqlite3.connect(uri, uri=True)
        return connection

    def _query(self, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        try:
            return self._connection().execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise IndexUnusable(
                f"The document store {self.path} cannot be read ({error}); it is damaged: build the index again."
            ) from error

    def entries(self, pmids: Sequence[str]) -> Iterator[Entry]:
        """The stored documents of `pmids`, in their order; each must be in the index."""
        for at in range(0, len(pmids), self._CHUNK):
            chunk = pmids[at : at + self._CHUNK]
            marks = ",".join("?" * len(chunk))
            rows = self._query(f"SELECT {COLUMNS} FROM documents WHERE pmid IN ({marks})", chunk)
            found = {row[0]: row for row in rows}
            for pmid in chunk:
                if pmid not in found:
                    raise IndexUnusable(
                        f"Document {pmid} is in the Lucene index but not in {self.path}; the index is damaged: build it again."
                    )
                yield Entry(found[pmid], self._cue_names)

    def get(self, pmid: str) -> Entry | None:
        """One document, or None where the index does not hold it."""
        return next(self.entries([pmid]), None) if self.holds([pmid]) else None

    def holds(self, pmids: Sequence[str]) -> set[str]:
        """Those of `pmids` that the index holds."""
        held: set[str] = set()
        for at in range(0, len(pmids), self._CHUNK):
            chunk = pmids[at : at + self._CHUNK]
            marks = ",".join("?" * len(chunk))
            held.update(str(row[0]) for row in self._query(f"SELECT pmid FROM documents WHERE pmid IN ({marks})", chunk))
        return held
