"""The documents beside Lucene: texts, sentence boundaries and negation cues in SQLite.

Lucene keeps ids only, since loading stored text for a thousand hits costs more than finding them. The documents are in one file,
and each later update that is not merged yet has a file beside it. As with Lucene's segments, no file changes once it is complete:
an update writes a file of changes beside hard links to the earlier files. Through a view over all of them every query reads one
table of documents.

Boundaries and cues are packed integers, found when the index was built, so that a query never splits or scans a text. Counts and
the hash of the texts are kept as sums, so that an update counts only what it changed.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TypeVar

from counterpoint.retrieval.core.errors import IndexUnusable
from counterpoint.retrieval.core.values import Author, Cue, Document, Notice, Section, Sentence, Span
from counterpoint.retrieval.store.manifest import IndexCounts
from counterpoint.retrieval.store.packing import unpack
from counterpoint.retrieval.store.texts import BLOCK_COLUMNS, BLOCKS, REPLACED_TEXTS, TEXT_COLUMNS, TEXTS, StoredText, has_texts

RETRACTING = frozenset({"RetractionOf", "RetractedandRepublishedFrom"})
"""The notices by which one record says that another is retracted (PubMed's RefTypes)."""

Row = tuple[str, str, str, int | None, str, str, str, str, int, int, bytes, bytes, str, str, str, str]


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


TALLIED = "pmid, title, abstract, boundaries, cues, retracted"
"""The columns of a row that counts."""
_MODULUS = 2**256


class Tally:
    """Counts and a sum of hashes, of no documents or of those that a manifest counted (`IndexCounts`, `corpus_sha256`)."""

    def __init__(self, counts: IndexCounts | None = None, digest: str = "0") -> None:
        base = counts or IndexCounts(0, 0, 0, 0, 0)
        self._documents, self._sentences, self._cues, self._cue_sentences = (
            base.documents, base.sentences, base.cues, base.cue_sentences,
        )  # fmt: skip
        self.retracted = base.retracted
        self._total = int(digest, 16)

    def add(self, row: Sequence[Any], times: int = 1) -> None:
        """Count a row of `TALLIED`; with -1, take it out again."""
        pmid, title, abstract, boundaries, cues, retracted = row
        # A sum of hashes: the same texts give the same figure in whatever order they came, and none need be sorted.
        digest = hashlib.sha256("\x1f".join((pmid, title, abstract)).encode())
        self._total += times * int.from_bytes(digest.digest())
        cue_rows = unpack(cues, 4)
        self._documents += times
        self._sentences += times * (len(boundaries) // 8)
        self._cues += times * len(cue_rows)
        self._cue_sentences += times * len({cue[0] for cue in cue_rows})
        self.retracted += times * (retracted > 0)

    @property
    def counts(self) -> IndexCounts:
        """What was counted."""
        return IndexCounts(self._documents, self._sentences, self._cues, self._cue_sentences, self.retracted)

    @property
    def digest(self) -> str:
        """The sum of the hashes, as a manifest has it."""
        return f"{self._total % _MODULUS:064x}"


def find_targets(notices: str) -> list[str]:
    """The documents that a row's notices (JSON) say are retracted."""
    if "Retract" not in notices:
        return []
    return [target for kind, target in json.loads(notices) if kind in RETRACTING]


# One row a document. boundaries: uint32 pairs (start, end); cues: uint32 quadruples (sentence, cue, start, end), where `cue`
# counts in the table cue_names. Offsets are characters of the abstract. retracted: 1 by the document's own record, 2 by
# another's notice that points to it. written: the version of the index that brought this row. authors: JSON lists of family
# name, given name, suffix; mesh: JSON.
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
    written INTEGER NOT NULL,
    authors TEXT NOT NULL DEFAULT '[]',
    doi TEXT NOT NULL DEFAULT '',
    pmcid TEXT NOT NULL DEFAULT '',
    mesh TEXT NOT NULL DEFAULT '[]'
);
CREATE INDEX dois ON documents (doi) WHERE doi != '';
CREATE INDEX pmcids ON documents (pmcid) WHERE pmcid != '';
CREATE INDEX retracted_documents ON documents (retracted) WHERE retracted > 0;
CREATE TABLE cue_names (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
"""
POINTERS = """
CREATE TABLE IF NOT EXISTS pointers (target TEXT NOT NULL, pmid TEXT NOT NULL, PRIMARY KEY (target, pmid)) WITHOUT ROWID;
"""
"""Which document (pmid) reports which other (target) as retracted: for the whole index, in its newest file."""
REPLACED = "CREATE TABLE replaced (pmid TEXT PRIMARY KEY) WITHOUT ROWID;"
"""In a file of changes: the documents of older files that no longer count."""

COLUMNS = (
    "pmid, title, abstract, year, journal, types, notices, sections, version, retracted, boundaries, cues, "
    "authors, doi, pmcid, mesh"
)


def name_changes(store: Path, version: int) -> Path:
    """The file of changes that the update to this version writes beside a store."""
    return store.with_name(f"changes-{version:06d}.sqlite")


def list_changes(store: Path) -> list[Path]:
    """The files of changes beside a store, the oldest first."""
    return sorted(store.parent.glob("changes-*.sqlite"))


def open_read_only(store: Path) -> sqlite3.Connection:
    """A connection whose `documents` are those of a store with all changes beside it; other threads may close it.

    Raises `sqlite3.Error` where a file cannot be read.
    """
    db = sqlite3.connect(_make_uri(store), uri=True, check_same_thread=False)
    changes = attach(db, list_changes(store))
    if changes:
        define_view(db, "documents", ["main", *changes])
        define_text_views(db, ["main", *changes])
    return db


def read_rows(store: sqlite3.Connection, last: str = "", batch: int = 1000) -> Iterator[list[tuple[Row, int]]]:
    """The rows of a store by PMID, in batches, from after `last`, each with the version that wrote it."""
    statement = f"SELECT {COLUMNS}, written FROM documents WHERE pmid > ? ORDER BY pmid LIMIT {batch}"
    while rows := store.execute(statement, (last,)).fetchall():
        yield [(row[:-1], int(row[-1])) for row in rows]
        last = rows[-1][0]


def attach(db: sqlite3.Connection, files: Sequence[Path]) -> list[str]:
    """Let a connection read these finished files; returns their names in its statements."""
    names = [f"layer{number}" for number in range(len(files))]
    for file, name in zip(files, names, strict=True):
        db.execute(f"ATTACH ? AS {name}", (_make_uri(file),))
    return names


def define_view(
    db: sqlite3.Connection,
    name: str,
    layers: Sequence[str],
    table: str = "documents",
    columns: str = f"rowid AS rowid, {COLUMNS}, written",
    replaced: str = "replaced",
) -> None:
    """Let a table of this name hold the rows of several files, the oldest first, without those that a newer one replaced."""
    parts = []
    for number, layer in enumerate(layers):
        newer = [f"NOT EXISTS (SELECT 1 FROM {layer}.{replaced} AS r WHERE r.pmid = d.pmid)" for layer in layers[number + 1 :]]
        where = f" WHERE {' AND '.join(newer)}" if newer else ""
        parts.append(f"SELECT {columns} FROM {layer}.{table} AS d{where}")
    db.execute(f"CREATE TEMP VIEW {name} AS {' UNION ALL '.join(parts)}")


def define_text_views(db: sqlite3.Connection, layers: Sequence[str], prefix: str = "") -> bool:
    """The same for the full texts, as far as the files have any; returns whether one has."""
    with_texts = [layer for layer in layers if has_texts(db, layer)]
    if with_texts:
        define_view(db, f"{prefix}{TEXTS}", with_texts, TEXTS, TEXT_COLUMNS, REPLACED_TEXTS)
        define_view(db, f"{prefix}{BLOCKS}", with_texts, BLOCKS, BLOCK_COLUMNS, REPLACED_TEXTS)
    return bool(with_texts)


def _make_uri(path: Path) -> str:
    # A finished file never changes: `immutable` spares every query its locks.
    return f"{path.absolute().as_uri()}?mode=ro&immutable=1"


Sort = Literal["id", "title", "newest", "oldest"]
_ORDERS: dict[Sort, str] = {
    "id": "pmid", "title": "title COLLATE NOCASE, pmid", "newest": "year DESC, pmid", "oldest": "year IS NULL, year, pmid",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which documents of a list, in which order: with these words in title, authors, journal or id; None is either."""

    words: str = ""
    since: int | None = None
    until: int | None = None
    retracted: bool | None = None
    full_text: bool | None = None
    sort: Sort = "id"


class Store:
    """Read access to the documents of an index; safe to use from several threads at once."""

    # SQLite allows 32,766 variables a statement; a thousand a statement is already as fast as it gets.
    _CHUNK = 1000

    def __init__(self, path: Path) -> None:
        self.path = path
        self._local = threading.local()
        self._connections: list[sqlite3.Connection] = []
        self._cue_names = dict(self._query("SELECT id, name FROM cue_names"))

    def _connect(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            # Each thread has its own connection; sharing is allowed only so that `close` can close them all.
            connection = self._local.connection = open_read_only(self.path)
            self._connections.append(connection)
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
            rows = self._fetch(COLUMNS, chunk)
            for pmid in chunk:
                if pmid not in rows:
                    raise IndexUnusable(
                        f"Document {pmid} is in the Lucene index but not in {self.path}; the index is damaged: build it again."
                    )
                yield Entry(rows[pmid], self._cue_names)

    def get(self, pmid: str) -> Entry | None:
        """One document, or None where the index does not hold it."""
        row = self._fetch(COLUMNS, [pmid]).get(pmid)
        return Entry(row, self._cue_names) if row else None

    def get_by_doi(self, doi: str) -> Entry | None:
        """The document with a DOI (in lower case), or None where the index holds none."""
        rows = self._query("SELECT pmid FROM documents WHERE doi != '' AND doi = ? ORDER BY pmid LIMIT 1", [doi])
        return self.get(rows[0][0]) if rows else None

    def get_by_pmcid(self, pmcid: str) -> Entry | None:
        """The document with a PMCID ("PMC123"), or None."""
        rows = self._query("SELECT pmid FROM documents WHERE pmcid != '' AND pmcid = ? ORDER BY pmid LIMIT 1", [pmcid])
        return self.get(rows[0][0]) if rows else None

    def browse(self, wanted: Wanted, begin: int, end: int) -> tuple[int, list[Entry]]:
        """How many documents are wanted, and those from place `begin` up to place `end` of the list."""
        where, values = ["1"], list[object]()
        for word in wanted.words.split():
            where.append("instr(lower(pmid || ' ' || title || ' ' || authors || ' ' || journal || ' ' || doi), ?)")
            values.append(word.lower())
        limits = {"year >= ?": wanted.since, "year <= ?": wanted.until, "(retracted > 0) = ?": wanted.retracted}
        for condition, value in limits.items():
            if value is not None:
                where.append(condition)
                values.append(value)
        if wanted.full_text is not None:
            texts = f"pmid IN (SELECT pmid FROM {TEXTS})" if self._has_texts else "0"
            where.append(texts if wanted.full_text else f"NOT {texts}")
        chosen = f"FROM documents WHERE {' AND '.join(where)}"
        ((total,),) = self._query(f"SELECT count(*) {chosen}", values)
        statement = f"SELECT {COLUMNS} {chosen} ORDER BY {_ORDERS[wanted.sort]} LIMIT ? OFFSET ?"
        rows = self._query(statement, (*values, end - begin, begin))
        return total, [Entry(row, self._cue_names) for row in rows]

    def texts(self, batch: int) -> Iterator[list[tuple[str, str, str]]]:
        """Every document's PMID, title and abstract, by PMID, in batches."""
        statement = "SELECT pmid, title, abstract FROM documents WHERE pmid > ? ORDER BY pmid LIMIT ?"
        last = ""
        while rows := self._query(statement, (last, batch)):
            yield rows
            last = rows[-1][0]

    def sample(self, most: int) -> Iterator[Entry]:
        """At most `most` documents, spread evenly over the index; the same ones each time."""
        last = int(self._query("SELECT coalesce(max(rowid), 0) FROM main.documents")[0][0])
        places = [1 + number * last // min(most, last) for number in range(min(most, last))]
        statement = f"SELECT {COLUMNS} FROM documents WHERE rowid IN ({{}}) ORDER BY rowid"
        rows = (
            row
            for chunk in (places[at : at + self._CHUNK] for at in range(0, len(places), self._CHUNK))
            for row in self._query(statement.format(",".join(map(str, chunk))))
        )
        # A file of changes numbers its rows by itself, so a place may stand for several.
        return islice((Entry(row, self._cue_names) for row in rows), most)

    def holds(self, pmids: Sequence[str]) -> set[str]:
        """Those of `pmids` that the index holds."""
        return set(self._fetch("pmid", pmids))

    def read_versions(self, pmids: Sequence[str]) -> dict[str, int]:
        """The index version that added the stored text of each of `pmids`; those not in the index are left out."""
        versions = {pmid: int(row[1]) for pmid, row in self._fetch("pmid, written", pmids).items()}
        for pmid, written in self._query_texts("SELECT pmid, written FROM texts WHERE pmid IN ({})", list(versions)):
            versions[pmid] = max(versions[pmid], int(written))
        return versions

    def full_texts(self, pmids: Sequence[str]) -> dict[str, StoredText]:
        """The full texts of those of `pmids` that have one."""
        columns = ", ".join(f"t.{name}" for name in TEXT_COLUMNS.split(", "))
        statement = f"SELECT {columns}, b.* FROM texts AS t JOIN blocks AS b USING (pmid) WHERE t.pmid IN ({{}})"
        width = TEXT_COLUMNS.count(",") + 1
        rows = self._query_texts(statement, pmids)
        return {str(row[0]): StoredText(row[:width], row[width:], self._cue_names) for row in rows}

    def hash_texts(self, pmids: Sequence[str]) -> dict[str, str]:
        """The SHA-256 of the full text of each of `pmids` that has one."""
        return dict(self._query_texts("SELECT pmid, digest FROM texts WHERE pmid IN ({})", pmids))

    def list_own_records(self) -> frozenset[str]:
        """The ids of the documents that a full text made of itself."""
        statement = "SELECT pmid FROM texts WHERE own = 1"
        return frozenset(str(pmid) for (pmid,) in self._query(statement)) if self._has_texts else frozenset()

    def leave_out_texts(self) -> None:
        """From now on be as if there were no full texts."""
        self._has_texts = False

    @cached_property
    def _has_texts(self) -> bool:
        tables = "SELECT name FROM main.sqlite_master UNION SELECT name FROM temp.sqlite_master"
        return bool(self._query(f"SELECT 1 FROM ({tables}) WHERE name = '{TEXTS}'"))

    def _query_texts(self, statement: str, pmids: Sequence[str]) -> list[tuple[Any, ...]]:
        """The rows of a statement with a place for the ids; none in an index without texts."""
        return self._query_chunks(statement, pmids) if self._has_texts else []

    def _query_chunks(self, statement: str, pmids: Sequence[str]) -> list[tuple[Any, ...]]:
        chunks = (pmids[at : at + self._CHUNK] for at in range(0, len(pmids), self._CHUNK))
        return [row for chunk in chunks for row in self._query(statement.format(",".join("?" * len(chunk))), chunk)]

    def _fetch(self, columns: str, pmids: Sequence[str]) -> dict[str, Any]:
        return {str(row[0]): row for row in self._query_chunks(f"SELECT {columns} FROM documents WHERE pmid IN ({{}})", pmids)}

    def close(self) -> None:
        """Release the file; no other thread may be reading."""
        while self._connections:
            self._connections.pop().close()
        self._local = threading.local()
