"""Reading the sources into the store and into Lucene, skipping what an earlier attempt at the same build has kept; the report."""

from __future__ import annotations

import os
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from tqdm import tqdm

from counterpoint.indexes.full_texts import Placed, name_records
from counterpoint.indexes.plan import MOST_PAPERS, Inputs
from counterpoint.indexes.readers import FORMATS, WHOLE, Columns, Deletion, Note, Omission, Record, SkipBad, read
from counterpoint.indexes.readers.exports.entry import is_same, make_id
from counterpoint.indexes.readers.full_text import read_full_texts
from counterpoint.indexes.writer import Change, LuceneWriters
from counterpoint.retrieval.core.english import format_count, list_words
from counterpoint.retrieval.core.errors import BadInput, BadRecord, CounterpointError
from counterpoint.retrieval.core.progress import make_bar
from counterpoint.retrieval.core.values import Document, FullText
from counterpoint.retrieval.store.manifest import IndexSource, Manifest

FULL_TEXT = "full-text"
"""The format that a manifest gives a source of full texts."""
BATCH = 1000
"""Records written at a time."""
_Numbered = Sequence[tuple[int, Document | Deletion]]


class Target(Protocol):
    """What records are written to: a store, or an index on a cluster."""

    def records_done(self, source: int) -> int:
        """How many records of the `source`-th file are already in."""

    def repeats_done(self, source: int) -> list[tuple[int, str]]:
        """The records among them, by number and id, that were left out because their id had occurred before."""

    def written_now(self, pmids: Sequence[str], source: int, end: int) -> set[str]:
        """Those documents that this build or update has written before it reaches record `end` of a source."""

    def find_by_doi(self, dois: Iterable[str]) -> list[Document]:
        """The documents that have one of these DOIs."""

    def write(
        self,
        records: Sequence[Document | Deletion],
        source: int,
        end: int,
        repeats: Sequence[tuple[int, str]] = (),
        newest: bool = True,
    ) -> Change:
        """Write a batch and how far its source has been read."""

    def write_texts(self, texts: Sequence[FullText], source: int, end: int, placed: Placed) -> Change:
        """Write a batch of full texts and how far their source has been read; `placed` is told what became of them."""


class SourceReading:
    """The reading of the `number`-th source of a build or update, and what it found.

    `seen` counts records; `without_abstract` and `repeated` count the records of exports that are left out. A target that indexes
    texts itself needs no `lucene`.
    """

    def __init__(
        self, store: Target, lucene: LuceneWriters | None, number: int, path: Path, kind: str, skip: SkipBad, changes: Changes
    ) -> None:
        self.seen = self.without_abstract = self.repeated = 0
        self._changes = changes
        self._store, self._lucene, self._number, self._path, self._kind, self._skip = store, lucene, number, path, kind, skip
        self._repeats = FORMATS[kind].repeats if kind in FORMATS else "skip"

    def read_all(self, bar: tqdm[Any], columns: Columns | None = None) -> None:
        """Read every record that is not in the store yet; unusable ones are reported or counted."""
        self._report_repeats(self._store.repeats_done(self._number))
        records = self._read(columns)
        offset = self._store.records_done(self._number)
        while batch := list(islice(records, BATCH)):
            first, self.seen = self.seen + 1, self.seen + len(batch)
            bar.update(len(batch))
            # A resumed build counts these again: its sources are read from their beginning.
            self.without_abstract += sum(isinstance(record, Omission) for record in batch)
            if self.seen > offset:
                self._write(list(enumerate(batch, first))[max(0, offset + 1 - first) :])

    def _read(self, columns: Columns | None) -> Iterator[Record]:
        """The records; those of a file that cannot be read to its end up to there, if whatever cannot be read is left out."""
        count = 0
        try:
            for record in read(self._path, self._kind, self._skip, columns):
                count += 1
                yield record
        except BadInput as error:
            if self._skip.limit != SkipBad.ALL:
                raise
            before = f"; the {format_count(count, 'record')} before that came in" if count else ""
            self._skip(BadRecord(self._path, WHOLE, f"{str(error).rstrip('.')}{before}"))

    def _write(self, fresh: Sequence[tuple[int, Record]]) -> None:
        usable: _Numbered = [(number, record) for number, record in fresh if not isinstance(record, Omission)]
        repeats: list[tuple[int, str]] = []
        # PubMed's files repeat a PMID to replace or delete it; in a JSONL corpus a repeated id is a mistake.
        if self._repeats != "replace":
            if self._repeats == "skip":
                usable = self._join_by_doi(usable)
            written = self._store.written_now([record.pmid for _, record in usable], self._number, self.seen)
            repeats = list(_find_repeats(usable, written))
            self._report_repeats(repeats)
        left_out = {number for number, _ in repeats}
        records = [
            record
            for number, record in usable
            # One that repeats a paper stands all the same if it says that the paper was retracted.
            if number not in left_out or (self._repeats == "skip" and isinstance(record, Document) and record.retracted)
        ]
        change = self._store.write(records, self._number, self.seen, repeats, newest=self._repeats == "replace")
        if self._lucene:
            self._lucene.apply(change)
        self._changes.count(change)

    def _report_repeats(self, repeats: Iterable[tuple[int, str]]) -> None:
        for number, pmid in repeats:
            if self._repeats == "skip":
                self.repeated += 1
            else:
                where = f"record {number} (id {pmid})"
                self._skip(BadRecord(self._path, where, "this id is repeated; every id must be unique"))

    def _join_by_doi(self, records: _Numbered) -> _Numbered:
        """The records, each under the id its paper already has: one export gives a paper's PMID, another only its DOI.

        Papers of a supplement may share a DOI: one with another title is another paper, with an id of its own.
        """
        known: dict[str, list[Document]] = defaultdict(list)
        for paper in self._store.find_by_doi([record.doi for _, record in records if isinstance(record, Document)]):
            known[paper.doi].append(paper)
        results: list[tuple[int, Document | Deletion]] = []
        for number, record in records:
            if isinstance(record, Document) and record.doi:
                same = next((other.pmid for other in known[record.doi] if is_same(other, record)), "")
                # Two PMIDs with one DOI are two separate PubMed records.
                if same and not (same.isdigit() and record.pmid.isdigit()):
                    record = replace(record, pmid=same)
                elif not same and not record.pmid.isdigit() and record.pmid in {other.pmid for other in known[record.doi]}:
                    record = replace(record, pmid=make_id(record.title, record.abstract, str(record.year or "")))
                known[record.doi].append(record)
            results.append((number, record))
        return results


def _find_repeats(records: _Numbered, ids: set[str]) -> Iterator[tuple[int, str]]:
    """The number and id of each record whose id is in `ids` or occurs earlier among the records."""
    for number, record in records:
        if record.pmid in ids and not isinstance(record, Deletion):
            yield number, record.pmid
        ids.add(record.pmid)


class TooMany(CounterpointError):
    """An index would hold more documents than it may."""

    status = 422


@dataclass(slots=True)
class Changes:
    """How many documents a build or update added, revised and deleted, and how many more are marked as retracted after it; `held`
    is how many there were before.

    For a resumed update: what was done since it was resumed.
    """

    held: int = 0
    added: int = 0
    revised: int = 0
    deleted: int = 0
    retracted: int = 0

    def count(self, change: Change) -> None:
        """Count a change; raises `TooMany` if it leaves more documents than there may be."""
        revised = len(set(change.removed) & {pmid for pmid, *_ in change.written})
        self.added += len(change.written) - revised
        self.revised += revised
        self.deleted += len(change.removed) - revised
        most = int(os.environ.get(MOST_PAPERS, sys.maxsize))
        if self.added > self.deleted and self.held + self.added - self.deleted > most:
            raise TooMany(f"The library may hold {format_count(most, 'paper')}, and these are more; leave some of them out.")

    @property
    def touched(self) -> int:
        """How many documents were written or deleted."""
        return self.added + self.revised + self.deleted

    def __str__(self) -> str:
        return f"{self.added:,} added, {self.revised:,} revised, {self.deleted:,} deleted, {self.retracted:,} newly retracted"


@dataclass(frozen=True)
class TextsRead:
    """The full texts of a build or update: the sources, what became of the texts, and which could not be read.

    For a resumed build: of those texts that were read since.
    """

    sources: Sequence[IndexSource]
    placed: Placed
    bad: Sequence[BadRecord]
    notes: Sequence[Note]


@dataclass(frozen=True)
class SourcesRead:
    """The sources of a build or update, each read to its end: what they were, what they changed, the bad records left out, and
    notes on the others."""

    sources: Sequence[IndexSource]
    changes: Changes
    bad: Sequence[BadRecord]
    notes: Sequence[Note]
    texts: TextsRead | None = None

    def report(self, index: Manifest, old: Manifest | None = None) -> BuildReport:
        """The report on `index`, made from `old` if there was one."""
        # All marks are set again, so those that the index had before are not new.
        self.changes.retracted = max(0, index.counts.retracted - (old.counts.retracted if old else 0))
        return BuildReport(index, self)


@dataclass(frozen=True)
class BuildReport:
    """What a build or update did: the manifest of the index, and what it read."""

    manifest: Manifest
    read: SourcesRead


_NAMED = 3
"""The most files that are named one by one."""


def describe_emptiness(read: SourcesRead) -> str:
    """Why an index of these sources would hold no document: by the first fault, if there was one."""
    paths = [source.path for source in read.sources]
    names = list_words(paths if len(paths) <= _NAMED else [*paths[:1], f"{len(paths) - 1:,} other files"])
    empty = sum(source.without_abstract for source in read.sources)
    bad = [*read.bad, *(read.texts.bad if read.texts else ())]
    if bad:
        fault = bad[0].expected if bad[0].record == WHOLE else str(bad[0])
        return f"There is no document that can be read in {names}; the first fault: {fault.rstrip('.')}."
    if empty:
        return f"None of the {empty:,} records in {names} has an abstract, and only those are searched; export them too."
    return f"There is no document in {names}; an index needs at least one."


def read_all(target: Target, lucene: LuceneWriters | None, inputs: Inputs, held: int = 0) -> SourcesRead:
    """Read every source to its end, and then full texts; `held` is how many documents there are already.

    Raises `BadInput` if there is nothing but files that cannot be read.
    """
    skip, sources, changes, files = SkipBad(inputs.skip_bad), list[IndexSource](), Changes(held), inputs.files
    for number, (path, kind) in enumerate(files):
        reading = SourceReading(target, lucene, number, path, kind, skip, changes)
        bad_before = len(skip.faults)
        with make_bar(f"{path.name} [{number + 1}/{len(files)}]", "records") as bar:
            reading.read_all(bar, inputs.columns)
        counts = (reading.seen, len(skip.faults) - bad_before, reading.without_abstract, reading.repeated)
        sources.append(IndexSource(str(path), kind, path.stat().st_size, *counts))
    paths = inputs.full_texts
    texts = _read_texts(target, lucene, paths, len(files), changes) if paths else None
    read = SourcesRead([*sources, *(texts.sources if texts else ())], changes, skip.faults, skip.notes, texts)
    if any(fault.record == WHOLE for fault in skip.faults) and not any(source.records for source in read.sources):
        raise BadInput(describe_emptiness(read))
    return read


_TEXTS_AT_ONCE = 50
"""Full texts written at a time."""


def _read_texts(target: Target, lucene: LuceneWriters | None, paths: Sequence[Path], first: int, changes: Changes) -> TextsRead:
    """Read every full text of these files, folders and archives; one that cannot be read is left out and listed.

    `first` is the number of the first path among the sources.
    """
    skip, sources, placed = SkipBad(sys.maxsize), list[IndexSource](), Placed()
    for number, path in enumerate(paths, first):
        seen, done, bad_before = 0, target.records_done(number), len(skip.faults)
        texts = name_records(path, read_full_texts(path, skip))
        with make_bar(path.name, "texts") as bar:
            while batch := list(islice(texts, _TEXTS_AT_ONCE)):
                before, seen = seen, seen + len(batch)
                bar.update(len(batch))
                if seen > done:
                    change = target.write_texts(batch[max(0, done - before) :], number, seen, placed)
                    if lucene:
                        lucene.apply(change)
                    changes.count(change)
        sources.append(IndexSource(str(path), FULL_TEXT, measure(path), seen, len(skip.faults) - bad_before))
    return TextsRead(sources, placed, skip.faults, skip.notes)


def measure(path: Path) -> int:
    """The bytes of a file, or of the files in a folder."""
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file()) if path.is_dir() else path.stat().st_size
