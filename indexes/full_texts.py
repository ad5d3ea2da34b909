"""Full texts into an index: which record each belongs to, the better of two for one record, and their passages.

A text is joined to its record by PMID, PMCID, DOI, or an exact title that is long, unique and contradicted by no id; where there
is none, the text makes a record of its own. A record that comes later takes the text over from the one that the text made.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, cast

from counterpoint.indexes.readers.base.fields import SkipBad, is_retracted
from counterpoint.indexes.readers.exports.entry import is_same, list_letters, make_id
from counterpoint.indexes.readers.full_text import read_full_texts
from counterpoint.indexes.readers.json_formats import make_csl
from counterpoint.nli.text.negation import find_cues_by_sentence
from counterpoint.retrieval.core.errors import BadInput
from counterpoint.retrieval.core.values import Document, FullText
from counterpoint.retrieval.index import Documents
from counterpoint.retrieval.store.packing import pack
from counterpoint.retrieval.store.texts import (
    BLOCK_COLUMNS,
    REPLACED_TEXTS_SCHEMA,
    TEXT_COLUMNS,
    TEXT_SCHEMA,
    StoredText,
    compress,
    count_sentences,
    cut_passages,
    hash_text,
    name_passage,
    pack_boundaries,
    write_content,
    write_passage,
)
from counterpoint.retrieval.words.forms import capitalise

Passages = list[tuple[str, str, str, str, str, int | None]]
"""What is searched of passages (`indexes.writer.Text`): id, title of the paper, words."""
Join = Literal["PMID", "PMCID", "DOI", "title", "choice"]
_LONG = 30
"""Letters of a title by which a text may find its record."""
_FRONT = 5
"""Blocks at the beginning of a PDF in which the title of its record is looked for."""
_SAYS_ENOUGH = 15
"""Different longer words in an abstract that can tell papers of one title apart."""
NAMED = ".records.json"
"""In a folder of full texts: by the name of a file, the id in the index of the record of its paper, and that record in CSL-JSON,
or nothing if it joins the one that is there, whatever it says."""
_TEXT_WIDTH = TEXT_COLUMNS.count(",") + 1


@dataclass(slots=True)
class Placed:
    """What became of texts: how many were joined to a record by what, made a record of their own, or were there already; a
    sentence on each that was left out."""

    joined: Counter[Join] = field(default_factory=Counter)
    own: int = 0
    unchanged: int = 0
    notes: list[tuple[str, str]] = field(default_factory=list)


class TextTables:
    """The texts of a store that is being written. `layers` are the earlier files of the index, whose texts the views `texts` and
    `blocks` show too."""

    def __init__(self, db: sqlite3.Connection, version: int, has_layers: bool) -> None:
        self._db, self._version, self._has_layers = db, version, has_layers
        db.executescript(TEXT_SCHEMA + (REPLACED_TEXTS_SCHEMA if has_layers else ""))
        self._own: dict[tuple[str, str], str] | None = None
        self._looked_up: set[str] = set()

    def rows(self) -> Iterator[Sequence[Any]]:
        """The row of every text in the index (`TEXT_COLUMNS`)."""
        return iter(self._db.execute(f"SELECT {TEXT_COLUMNS} FROM texts"))

    def held(self, pmids: Sequence[str]) -> dict[str, Sequence[Any]]:
        """The rows of those of these documents that have a text."""
        marks = ",".join("?" * len(pmids))
        rows = self._db.execute(f"SELECT {TEXT_COLUMNS} FROM texts WHERE pmid IN ({marks})", list(pmids))
        return {row[0]: row for row in rows}

    def is_same(self, row: Sequence[Any], text: FullText) -> bool:
        """Whether a row is that of this very text."""
        return bool(row[8] == hash_text(row[0], write_content(text)))

    def put(self, pmid: str, own: bool, text: FullText, cue_ids: Mapping[str, int], title: str) -> Passages:
        """Write the text of a document, which has none; returns its passages."""
        content, sentence, cues = write_content(text), 0, list[tuple[int, int, int, int]]()
        for block in text.blocks:
            for index, cue in find_cues_by_sentence(block.text, block.spans):
                cues.append((sentence + index, cue_ids[cue.name], cue.start, cue.end))
            sentence += len(block.spans)
        passages = cut_passages(text)
        row = (
            pmid, int(own), text.format, text.source, text.licence, text.pictures, count_sentences(text), len(passages),
            hash_text(pmid, content), self._version,
        )  # fmt: skip
        blocks = (pmid, compress(content), pack_boundaries(text), pack(cues), pack(passages))
        self.insert(row, blocks)
        stored = StoredText(row, blocks, {number: name for name, number in cue_ids.items()})
        return list_passages(stored, title)

    def remove(self, pmid: str) -> list[str]:
        """Remove the text of a document; returns the ids of its passages."""
        row = self._db.execute("SELECT passages FROM texts WHERE pmid = ?", (pmid,)).fetchone()
        if row is None:
            return []
        self._own = None
        self._db.execute("DELETE FROM main.texts WHERE pmid = ?", (pmid,))
        self._db.execute("DELETE FROM main.blocks WHERE pmid = ?", (pmid,))
        if self._has_layers:
            self._db.execute("INSERT OR IGNORE INTO main.replaced_texts VALUES (?)", (pmid,))
        return [name_passage(pmid, number) for number in range(row[0])]

    def move(self, old: str, new: str, cue_names: Mapping[int, str], title: str) -> tuple[list[str], Passages]:
        """Give the text of a record that it made itself to one that came later; returns the passages removed and written."""
        stored = self.read(old, cue_names)
        row, blocks = list(stored.row), list(stored.packed)
        removed = self.remove(old)
        row[0], row[1], blocks[0] = new, 0, new
        if new != old:
            row[8], row[9] = hash_text(new, stored.content), self._version
        self.insert(row, blocks)
        return removed, list_passages(StoredText(row, blocks, cue_names), title)

    def read(self, pmid: str, cue_names: Mapping[int, str]) -> StoredText:
        """The text of a document that has one."""
        return next(self.read_all(cue_names, "WHERE t.pmid = ?", (pmid,)))

    def read_all(self, cue_names: Mapping[int, str], where: str = "", values: Sequence[str] = ()) -> Iterator[StoredText]:
        """The texts of the index, or those that a condition holds for."""
        columns = ", ".join(f"t.{name}" for name in TEXT_COLUMNS.split(", "))
        for row in self._db.execute(f"SELECT {columns}, b.* FROM texts AS t JOIN blocks AS b USING (pmid) {where}", values):
            yield StoredText(row[:_TEXT_WIDTH], row[_TEXT_WIDTH:], cue_names)

    def insert(self, row: Sequence[Any], blocks: Sequence[Any]) -> None:
        """Write the rows of a text (`TEXT_COLUMNS`, `BLOCK_COLUMNS`)."""
        self._db.execute(f"INSERT INTO main.texts ({TEXT_COLUMNS}) VALUES ({', '.join('?' * len(row))})", row)
        self._db.execute(f"INSERT INTO main.blocks ({BLOCK_COLUMNS}) VALUES ({', '.join('?' * len(blocks))})", blocks)

    def find_own(self, document: Document) -> str:
        """The id of a record that a text made of itself and that is of the same paper as this one; "" if there is none."""
        if self._own is None:
            self._own = {}
            pmids = self._db.execute("SELECT pmid FROM texts WHERE own = 1").fetchall()
            for (pmid,) in pmids:
                self._own |= dict.fromkeys(_list_keys(self._read_document(pmid)), pmid)
        how, found = next(((key[0], self._own[key]) for key in _list_keys(document) if key in self._own), ("", ""))
        if not found or found == document.pmid:
            return ""
        return found if _agree(document, self._read_document(found), by_title=how == "title") else ""

    def find_record(self, text: FullText) -> tuple[str, Join] | None:
        """The document that a text belongs to, and by what it was found; raises `BadInput` if the one chosen is not there."""
        if text.joins:
            if not self._db.execute("SELECT 1 FROM documents WHERE pmid = ?", (text.joins,)).fetchone():
                raise BadInput(f"There is no document {text.joins}; give the id of one.")
            return text.joins, "choice"
        record = text.record
        is_there = record.pmid and self._db.execute("SELECT 1 FROM documents WHERE pmid = ?", (record.pmid,)).fetchone()
        if is_there and _is_own(text, self._read_document(record.pmid)):
            return record.pmid, "PMID"
        keys: list[tuple[Join, str]] = [("PMCID", record.pmcid), ("DOI", record.doi), ("title", _make_title_key(record.title))]
        for how, key in keys:
            if not key:
                continue
            candidates = [self._read_document(pmid) for pmid in self._look_up(how, key)]
            candidates = [one for one in candidates if _agree(record, one, by_title=how == "title")]
            if how == "DOI":
                candidates = [one for one in candidates if len(candidates) == 1 or is_same(record, one)]
            if how == "title":
                candidates = [one for one in candidates if _has_same_abstract(record.abstract, one.abstract)]
            candidates = [one for one in candidates if how == "title" or _is_own(text, one)]
            if candidates and (how != "title" or len(candidates) == 1):
                return candidates[0].pmid, how
        return None

    def has_doi(self, doi: str) -> bool:
        """Whether a document of the index has this DOI."""
        return bool(doi and self._look_up("DOI", doi))

    def _look_up(self, how: Join, key: str) -> list[str]:
        if how == "DOI":
            statement = "SELECT pmid FROM documents WHERE doi != '' AND doi = ? ORDER BY pmid"
            return [pmid for (pmid,) in self._db.execute(statement, (key,))]
        # Made at the first look-up, in one pass: most texts are found by their PMID or DOI.
        table = f"by_{how.lower()}"
        if how not in self._looked_up:
            self._looked_up.add(how)
            self._db.execute(f"CREATE TEMP TABLE {table} (key BLOB NOT NULL, pmid TEXT NOT NULL)")
            column = "pmcid" if how == "PMCID" else "title"
            rows = self._db.execute(f"SELECT {column}, pmid FROM documents WHERE {column} != ''")
            while chunk := rows.fetchmany(10_000):
                keyed = [(value if how == "PMCID" else _make_title_key(value), pmid) for value, pmid in chunk]
                self._db.executemany(f"INSERT INTO {table} VALUES (?, ?)", [row for row in keyed if row[0]])
            self._db.execute(f"CREATE INDEX {table}_keys ON {table} (key)")
        found = self._db.execute(f"SELECT DISTINCT t.pmid FROM {table} AS t JOIN documents USING (pmid) WHERE t.key = ?", (key,))
        return [pmid for (pmid,) in found]

    def note_own(self, document: Document) -> None:
        """Let later texts find a record that a text made of itself."""
        for how, key in (("PMCID", document.pmcid), ("title", _make_title_key(document.title))):
            if key and how in self._looked_up:
                self._db.execute(f"INSERT INTO by_{how.lower()} VALUES (?, ?)", (key, document.pmid))
        self._own = None

    def _read_document(self, pmid: str) -> Document:
        statement = "SELECT pmid, title, abstract, doi, pmcid FROM documents WHERE pmid = ?"
        pmid, title, abstract, doi, pmcid = self._db.execute(statement, (pmid,)).fetchone()
        return Document(pmid, title, abstract, doi=doi, pmcid=pmcid)


def name_records(path: Path, texts: Iterable[FullText]) -> Iterator[FullText]:
    """The texts of a folder, each with the record that the file `NAMED` gives it; the abstract is the text's own."""
    named = json.loads((path / NAMED).read_text("utf-8")) if (path / NAMED).is_file() else {}
    for text in texts:
        if text.source in named:
            id, item = named[text.source]
            if item is None:
                yield replace(text, joins=id)
                continue
            own, record = text.record, cast(Document, make_csl(item | {"abstract": "Makes it a document."}))
            title, retracted = record.title or own.title, record.retracted or is_retracted(record.title)
            record = replace(record, pmid=id, title=title, retracted=retracted, abstract=own.abstract, sections=own.sections)
            text = replace(text, record=record)
        yield text


@contextmanager
def join_to(path: Path, pmid: str) -> Iterator[Path]:
    """A folder of one full text, which joins this document whatever it says itself."""
    with TemporaryDirectory() as folder:
        place = Path(folder) / path.name
        place.mkdir()
        (place / path.name).symlink_to(path.resolve())
        (place / NAMED).write_text(json.dumps({path.name: [pmid, None]}), "utf-8")
        yield place


def find_doubts(path: Path, documents: Documents, pmid: str) -> str:
    """What somebody should confirm before the paper in a file joins a document, as the beginning of a sentence; "" for nothing.

    Raises `BadInput` for a file that is not one paper that can be read, or if there is no such document.
    """
    entry, held = documents.get(pmid), documents.full_texts([pmid]).get(pmid)
    if entry is None:
        raise BadInput(f"There is no document {pmid}; give the id of one.")
    skip, document = SkipBad(SkipBad.ALL), entry.document
    texts = list(islice(read_full_texts(path, skip), 2))
    if skip.faults and not texts:
        raise BadInput(f"{path.name} cannot be joined: {skip.faults[0].expected.removeprefix(f'{path} ').rstrip('.')}.")
    if len(texts) != 1 or texts[0].source != path.name:
        raise BadInput(f"{path.name} is not one paper: expected a PDF or JATS XML with a single article; give that file.")
    (text,) = texts
    title, record = list_letters(document.title), text.record
    if record.title and title:
        is_its = title in _list_front(text) or is_same(record, document)
    else:
        pairs = ((record.pmid, document.pmid), (record.pmcid, document.pmcid), (record.doi, document.doi))
        is_its = any(one and one == other for one, other in pairs)
    called = f"“{record.title}”" if record.title else "one without a title"
    doubts = [] if is_its else [f"the file seems to be another paper ({called}) than “{document.title or pmid}”"]
    if held:
        doubts.append(f"the paper has a full text already (from {held.source}), which this one replaces")
    return capitalise(", and ".join(doubts))


def make_own_record(text: FullText, has_doi: bool) -> Document:
    """The record that a text makes of itself, with the id that it has by the rules of exports; `has_doi` says that its DOI is its
    own, and not that of another paper in the index."""
    record = text.record if has_doi else replace(text.record, doi="")
    words = record.abstract or next((block.text for block in text.blocks), text.source)
    return replace(
        record,
        title=record.title or text.source,
        pmid=record.pmid or record.pmcid or record.doi or make_id(record.title, words, str(record.year or "")),
    )


def is_better(text: FullText, row: Sequence[Any], version: int) -> bool:
    """Whether a text should replace the stored one of the same record (`TEXT_COLUMNS`): JATS before PDF, then the newer, and of
    two that came at once the longer."""
    if text.format != row[2]:
        return text.format == "jats"
    return bool(row[9] != version or count_sentences(text) > row[6])


def list_passages(stored: StoredText, title: str) -> Passages:
    """What is searched of the passages of a text."""
    passages = Passages()
    for passage in stored.passages:
        words = ". ".join(filter(None, (passage.location.section, write_passage(passage))))
        passages.append((name_passage(stored.pmid, passage.number), title, words, "[]", "", None))
    return passages


def _make_title_key(title: str) -> str:
    letters = list_letters(title)
    return hashlib.sha256(letters.encode()).hexdigest()[:24] if len(letters) >= _LONG and len(title.split()) > 3 else ""


def _list_keys(document: Document) -> list[tuple[str, str]]:
    keys = [("PMCID", document.pmcid), ("DOI", document.doi), ("title", _make_title_key(document.title))]
    return [key for key in keys if key[1]]


def _agree(one: Document, other: Document, by_title: bool) -> bool:
    """Whether no id says that two records are of different papers; where only the title speaks for it, a DOI may not differ."""
    pairs = [(one.pmid if one.pmid.isdigit() else "", other.pmid if other.pmid.isdigit() else ""), (one.pmcid, other.pmcid)]
    if by_title:
        pairs.append((one.doi, other.doi))
    return all(not first or not second or first == second for first, second in pairs)


def _is_own(text: FullText, document: Document) -> bool:
    """Whether the id that a text was found by is its own: the first on a PDF's page may be another paper's. The text has the
    title of the document, or the document's title is at its beginning."""
    if text.format != "pdf" or is_same(text.record, document):
        return True
    return list_letters(document.title) in _list_front(text)


def _list_front(text: FullText) -> str:
    """The letters at the beginning of a text."""
    return list_letters(" ".join([text.record.title, text.record.abstract, *(block.text for block in text.blocks[:_FRONT])]))


def _has_same_abstract(abstract: str, other: str) -> bool:
    """Whether two abstracts may be of one paper; a letter or a second part may have the title of another paper."""
    first, second = ({word for word in text.lower().split() if len(word) > 4} for text in (abstract, other))
    return min(len(first), len(second)) < _SAYS_ENOUGH or len(first & second) >= 0.4 * min(len(first), len(second))
