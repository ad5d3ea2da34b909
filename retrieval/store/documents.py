"""The documents beside Lucene: texts, sentence boundaries and negation cues in SQLite.

Lucene keeps ids only, since loading stored text for a thousand hits costs more than finding them. Boundaries and cues are
packed integers, found when the index was built, so that a query never splits or scans a text.
"""

from __future__ import annotations

import json
import sqlite3
import struct
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, Protocol, TypeVar

from retrieval.core.errors import IndexUnusable
from retrieval.core.values import Author, Cue, Document, Notice, Section, Sentence, Span
from retrieval.store.layers import COLUMNS, open_read_only

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
        placed: dict[int, tuple[Cue, ...]] = {}
        for index, cue, start, end in unpack(self._row[11], 4):
            placed[index] = (*placed.get(index, ()), Cue(self._cue_names[cue], start, end))
        return placed

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


class Documents(Protocol):
    """Read access to the documents of an index, wherever they lie; safe to use from several threads at once.

    Every method raises `IndexUnusable` where they cannot be read.
    """

    def entries(self, pmids: Sequence[str]) -> Iterator[Entry]:
        """The stored documents of `pmids`, in their order; each must be in the index."""

    def get(self, pmid: str) -> Entry | None:
        """One document, or None where the index does not hold it."""

    def get_by_doi(self, doi: str) -> Entry | None:
        """The document with a DOI (in lower case), or None where the index holds none."""

    def texts(self, batch: int) -> Iterator[list[tuple[str, str, str]]]:
        """Every document's PMID, title and abstract, by PMID, in batches."""

    def sample(self, most: int) -> list[Entry]:
        """At most `most` documents, spread evenly over the index; the same ones each time."""

    def holds(self, pmids: Sequence[str]) -> set[str]:
        """Those of `pmids` that the index holds."""

    def written(self, pmids: Sequence[str]) -> dict[str, int]:
        """The version of the index that brought the stored text of each of `pmids`; one that the index lacks is left out."""

    def close(self) -> None:
        """Let go of what is open; no other thread may be reading."""


class Store:
    """Read access to the documents of an index; safe to use from several threads at once."""

    # SQLite allows 32,766 variables a statement; a thousand a statement is already as fast as it gets.
    _CHUNK = 1000

    def __init__(self, path: Path) -> None:
        self.path = path
        self._local = threading.local()
        self._opened: list[sqlite3.Connection] = []
        self._cue_names = dict(self._query("SELECT id, name FROM cue_names"))

    def _connect(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            # Each thread has a connection of its own; sharing is allowed for the sake of `close` alone.
            connection = self._local.connection = open_read_only(self.path)
            self._opened.append(connection)
        return connection

    def _query(self, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        try:
            return self._connect().execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise IndexUnusable(
                f"The document store {self.path} cannot be read ({error}); if it was replaced or moved while in use, restart, "
                "otherwise it is damaged: build the index again."
            ) from error

    def entries(self, pmids: Sequence[str]) -> Iterator[Entry]:
        """The stored documents of `pmids`, in their order; each must be in the index.

        Raises `IndexUnusable` where the store lacks one.
        """
        for at in range(0, len(pmids), self._CHUNK):
            chunk = pmids[at : at + self._CHUNK]
            found = self._fetch(COLUMNS, chunk)
            for pmid in chunk:
                if pmid not in found:
                    raise IndexUnusable(
                        f"Document {pmid} is in the Lucene index but not in {self.path}; the index is damaged: build it again."
                    )
                yield Entry(found[pmid], self._cue_names)

    def get(self, pmid: str) -> Entry | None:
        """One document, or None where the index does not hold it."""
        row = self._fetch(COLUMNS, [pmid]).get(pmid)
        return Entry(row, self._cue_names) if row else None

    def get_by_doi(self, doi: str) -> Entry | None:
        """The document with a DOI (in lower case), or None where the index holds none."""
        rows = self._query("SELECT pmid FROM documents WHERE doi != '' AND doi = ? ORDER BY pmid LIMIT 1", [doi])
        return self.get(rows[0][0]) if rows else None

    def texts(self, batch: int) -> Iterator[list[tuple[str, str, str]]]:
        """Every document's PMID, title and abstract, by PMID, in batches."""
        statement = "SELECT pmid, title, abstract FROM documents WHERE pmid > ? ORDER BY pmid LIMIT ?"
        last = ""
        while found := self._query(statement, (last, batch)):
            yield found
            last = found[-1][0]

    def sample(self, most: int) -> list[Entry]:
        """At most `most` documents, spread evenly over the index; the same ones each time."""
        last = int(self._query("SELECT coalesce(max(rowid), 0) FROM main.documents")[0][0])
        step = max(1, last // most)
        places = ",".join(str(place) for place in range(1, last + 1, step))
        rows = self._query(f"SELECT {COLUMNS} FROM documents WHERE rowid IN ({places}) ORDER BY rowid LIMIT {most}")
        return [Entry(row, self._cue_names) for row in rows]

    def holds(self, pmids: Sequence[str]) -> set[str]:
        """Those of `pmids` that the index holds."""
        held: set[str] = set()
        for at in range(0, len(pmids), self._CHUNK):
            held.update(self._fetch("pmid", pmids[at : at + self._CHUNK]))
        return held

    def written(self, pmids: Sequence[str]) -> dict[str, int]:
        """The version of the index that brought the stored text of each of `pmids`; one that the index lacks is left out."""
        found: dict[str, int] = {}
        for at in range(0, len(pmids), self._CHUNK):
            rows = self._fetch("pmid, written", pmids[at : at + self._CHUNK])
            found.update((pmid, int(row[1])) for pmid, row in rows.items())
        return found

    def _fetch(self, columns: str, pmids: Sequence[str]) -> dict[str, Any]:
        marks = ",".join("?" * len(pmids))
        rows = self._query(f"SELECT {columns} FROM documents WHERE pmid IN ({marks})", pmids)
        return {str(row[0]): row for row in rows}

    def close(self) -> None:
        """Let go of the file; no other thread may be reading."""
        while self._opened:
            self._opened.pop().close()
        self._local = threading.local()
