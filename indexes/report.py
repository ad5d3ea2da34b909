"""What a build or update reports when it is done, and what it counts along the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tqdm import tqdm

from indexes.lucene_writer import LuceneWriter
from indexes.readers import Columns, Note, SkipBad
from indexes.reading import SourceReading, Target
from retrieval.core.errors import BadRecord
from retrieval.store.manifest import IndexSource, Manifest


@dataclass(frozen=True, slots=True)
class Changes:
    """How many documents an update added, revised and deleted, and how many more are marked as retracted after it.

    For a resumed update: what was done since it was resumed.
    """

    added: int = 0
    revised: int = 0
    deleted: int = 0
    retracted: int = 0

    @property
    def touched(self) -> int:
        """How many documents were written or deleted."""
        return self.added + self.revised + self.deleted

    def add(self, reading: SourceReading) -> Changes:
        """These changes plus those from reading a source."""
        return replace(
            self,
            added=self.added + reading.added,
            revised=self.revised + reading.revised,
            deleted=self.deleted + reading.deleted,
        )

    def __str__(self) -> str:
        return f"{self.added:,} added, {self.revised:,} revised, {self.deleted:,} deleted, {self.retracted:,} newly retracted"


@dataclass(frozen=True)
class BuildReport:
    """What a build or update did: the manifest of the index, the bad records it left out, how many documents it touched, the
    sources that it read, and what to know about records that it read all the same."""

    manifest: Manifest
    bad: tuple[BadRecord, ...]
    touched: int
    sources: tuple[IndexSource, ...] = ()
    changes: Changes = Changes()
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True)
class SourcesRead:
    """The sources of a build or update, each read to its end: what they were, what they changed, the bad records left out, and
    notes on the others."""

    sources: tuple[IndexSource, ...]
    changes: Changes
    bad: tuple[BadRecord, ...]
    notes: tuple[Note, ...] = ()

    def report(self, index: Manifest, old: Manifest | None = None, earlier_count: int = 0) -> BuildReport:
        """The report on `index`, made from `old` if there was one; an earlier attempt wrote `earlier_count` of its documents."""
        # All marks are set again, so those that the index had before are not new.
        retractions = max(0, index.counts.retracted - (old.counts.retracted if old else 0))
        changes = replace(self.changes, retracted=retractions)
        return BuildReport(index, self.bad, earlier_count + changes.touched, self.sources, changes, self.notes)


def read_source(
    reading: SourceReading, path: Path, kind: str, skip: SkipBad, columns: Columns | None, bar: tqdm[Any]
) -> IndexSource:
    """Read a source to its end; return its entry for the manifest."""
    bad_before = len(skip.faults)
    reading.read_all(bar, columns)
    counts = (reading.seen, len(skip.faults) - bad_before, reading.without_abstract, reading.repeated)
    return IndexSource(str(path), kind, path.stat().st_size, *counts)


def describe_emptiness(read_sources: Sequence[IndexSource]) -> str:
    """Why an index of these sources would hold no document."""
    names = ", ".join(source.path for source in read_sources)
    empty = sum(source.without_abstract for source in read_sources)
    if empty:
        return f"None of the {empty:,} records in {names} has an abstract, and only those are searched; export them too."
    return f"There is no document in {names}; an index needs at least one."


def read_all(
    target: Target, lucene: LuceneWriter | None, files: Sequence[tuple[Path, str]], skip_bad: int, columns: Columns | None
) -> SourcesRead:
    """Read every source, each with its format, to its end; up to `skip_bad` bad records are left out."""
    skip, sources, changes = SkipBad(skip_bad), list[IndexSource](), Changes()
    for number, (path, kind) in enumerate(files):
        bar = tqdm(desc=f"{path.name} [{number + 1}/{len(files)}]", unit=" records", disable=None, mininterval=0.5)
        reading = SourceReading(target, lucene, number, path, kind, skip)
        with bar:
            sources.append(read_source(reading, path, kind, skip, columns, bar))
        changes = changes.add(reading)
    return SourcesRead(tuple(sources), changes, tuple(skip.faults), tuple(skip.notes))
