"""Writing documents into a store, with their sentences and cues, so that a killed build can go on where it stopped."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from nli.cues import cue_list, cues_by_sentence
from nli.sentences import document_spans
from retrieval.manifest import Counts
from retrieval.store import COLUMNS, SCHEMA, Row, pack, unpack
from retrieval.values import Document

_JOURNAL = """
CREATE TABLE IF NOT EXISTS progress (source INTEGER PRIMARY KEY, records INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS touched (pmid TEXT PRIMARY KEY);
CREATE TABLE IF NOT EXISTS plan (fingerprint TEXT NOT NULL);
"""
_INSERT = f"INSERT OR REPLACE INTO documents ({COLUMNS}, written) VALUES ({', '.join('?' * 13)})"


def annotated_row(document: Document, cue_ids: dict[str, int]) -> Row:
    """A document as the store keeps it, its sentences and cues found: the only place where texts are split and scanned."""
    spans = document_spans(document)
    cues = cues_by_sentence(document.abstract, spans)
    return (
        document.pmid,
        document.title,
        document.abstract,
        document.year,
        document.journal,
        json.dumps(document.types),
        json.dumps([(n.kind, n.pmid) for n in document.notices]),
        json.dumps([(s.label, s.start, s.end) for s in document.sections]),
        document.version,
        int(document.retracted),
        pack(spans),
        pack((index, cue_ids[cue.name], cue.start, cue.end) for index, cue in cues),
    )


class StoreWriter:
    """A store being written: documents replaced by PMID, deletions, and how far each source has been read.

    `version` numbers the build or update under way; a row remembers which one wrote it.
    """

    def __init__(self, path: Path, version: int) -> None:
        self.path, self.version = path, version
        fresh = not path.exists()
        self._db = sqlite3.connect(path, isolation_level=None)
        # Survives a killed process; a power cut may cost the unfinished build, never a finished index.
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=NORMAL")
        if fresh:
            self._db.executescript(SCHEMA)
        self._db.executescript(_JOURNAL)
        known = {str(name) for (name,) in self._db.execute("SELECT name FROM cue_names")}
        new = [(entry.name,) for entry in cue_list().cues if entry.name not in known]
        self._db.executemany("INSERT INTO cue_names (name) VALUES (?)", new)
        self._cue_ids = {str(name): int(i) for i, name in self._db.execute("SELECT id, name FROM cue_names")}

    def plan(self) -> str | None:
        """The fingerprint of what this store is being built from, None while unknown."""
        row = self._db.execute("SELECT fingerprint FROM plan").fetchone()
        return row[0] if row else None

    def set_plan(self, fingerprint: str) -> None:
        """Say what this store is being built from, so that only the same build goes on with it."""
        self._db.execute("INSERT INTO plan VALUES (?)", (fingerprint,))

    def records_done(self, source: int) -> int:
        """How many records of the `source`-th file are already in."""
        row = self._db.execute("SELECT records FROM progress WHERE source = ?", (source,)).fetchone()
        return int(row[0]) if row else 0

    def written_now(self, pmid: str) -> bool:
        """Whether this very build or update has already written the document."""
        row = self._db.execute("SELECT written FROM documents WHERE pmid = ?", (pmid,)).fetchone()
        return row is not None and row[0] == self.version

    def put(self, document: Document) -> None:
        """Add or replace a document; of two versions of one PMID the higher stands."""
        row = self._db.execute("SELECT version FROM documents WHERE pmid = ?", (document.pmid,)).fetchone()
        if row is None or row[0] <= document.version:
            self._db.execute(_INSERT, (*annotated_row(document, self._cue_ids), self.version))
            self._touch(document.pmid)

    def delete(self, pmid: str) -> None:
        """Take a document out, if it is in."""
        if self._db.execute("DELETE FROM documents WHERE pmid = ?", (pmid,)).rowcount:
            self._touch(pmid)

    def _touch(self, pmid: str) -> None:
        self._db.execute("INSERT OR IGNORE INTO touched VALUES (?)", (pmid,))

    def begin(self) -> None:
        """Start a batch that is kept whole or not at all."""
        self._db.execute("BEGIN")

    def commit(self, source: int, records: int) -> None:
        """Keep the batch, together with how far its source has been read."""
        self._db.execute("INSERT OR REPLACE INTO progress VALUES (?, ?)", (source, records))
        self._db.execute("COMMIT")

    def rollback(self) -> None:
        """Forget the batch."""
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")

    def mark_retractions(self) -> None:
        """Mark every document that a retraction notice in the store points to, in whatever order the two came."""
        notices = self._db.execute("SELECT notices FROM documents WHERE notices LIKE '%RetractionOf%'").fetchall()
        retracted = {pmid for (text,) in notices for kind, pmid in json.loads(text) if kind == "RetractionOf"}
        self._db.executemany("UPDATE documents SET retracted = 1 WHERE pmid = ?", [(pmid,) for pmid in sorted(retracted)])

    def touched(self) -> Iterator[tuple[str, str | None, str | None]]:
        """(pmid, title, abstract) of every document this build or update wrote or deleted; None for the deleted."""
        yield from self._db.execute(
            "SELECT touched.pmid, title, abstract FROM touched LEFT JOIN documents USING (pmid) ORDER BY touched.pmid"
        )

    def touched_count(self) -> int:
        """How many documents this build or update wrote or deleted."""
        return int(self._db.execute("SELECT count(*) FROM touched").fetchone()[0])

    def summary(self) -> tuple[Counts, str]:
        """The store's counts and the hash of its texts, in one pass in the order of PMIDs."""
        digest = hashlib.sha256()
        documents = sentences = cues = cue_sentences = retracted = 0
        rows = self._db.execute("SELECT pmid, title, abstract, boundaries, cues, retracted FROM documents ORDER BY pmid")
        for pmid, title, abstract, boundaries, cue_blob, is_retracted in rows:
            digest.update("\x1f".join((pmid, title, abstract)).encode("utf-8") + b"\x1e")
            documents += 1
            retracted += is_retracted
            sentences += len(unpack(boundaries, 2))
            found = unpack(cue_blob, 4)
            cues += len(found)
            cue_sentences += len(set(found[:, 0].tolist()))
        return Counts(documents, sentences, cues, cue_sentences, retracted), digest.hexdigest()

    def finish(self) -> None:
        """Drop the journal of the build and leave one read-only file."""
        self._db.executescript("DROP TABLE progress; DROP TABLE touched; DROP TABLE plan;")
        self._db.execute("PRAGMA journal_mode=DELETE")
        self.close()

    def close(self) -> None:
        """Close the file; what was committed stays."""
        self._db.close()
