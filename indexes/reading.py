"""One source read into the store and into Lucene, past what an earlier try at the same build has kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from tqdm import tqdm

from indexes.lucene_writer import LuceneWriter, make_contents
from indexes.readers import FORMATS, Columns, Deletion, Omission, Record, SkipBad, read
from indexes.writer import StoreWriter
from retrieval.core.errors import BadRecord
from retrieval.core.values import Document

BATCH = 1000
"""Records that are written at once."""
_Numbered = Sequence[tuple[int, Document | Deletion]]


class SourceReading:
    """The reading of the `number`-th source of a build or update, and what it found.

    `seen` counts records, `changed` documents written or deleted, `without_abstract` and `repeated` what exports hold of no use.
    """

    def __init__(self, store: StoreWriter, lucene: LuceneWriter, number: int, path: Path, kind: str, skip: SkipBad) -> None:
        self.seen = self.changed = self.without_abstract = self.repeated = 0
        self._store, self._lucene, self._number, self._path, self._kind, self._skip = store, lucene, number, path, kind, skip
        self._repeats = FORMATS[kind].repeats

    def read_all(self, bar: tqdm[Any], columns: Columns | None = None) -> None:
        """Read every record that is not in the store yet; those that cannot be used are told or counted."""
        self._tell(self._store.repeats_done(self._number))
        records = read(self._path, self._kind, self._skip, columns)
        done = self._store.records_done(self._number)
        while batch := list(islice(records, BATCH)):
            first, self.seen = self.seen + 1, self.seen + len(batch)
            bar.update(len(batch))
            # Counted anew by a build that goes on: its sources are read again from their beginning.
            self.without_abstract += sum(isinstance(record, Omission) for record in batch)
            if self.seen > done:
                self._write(list(enumerate(batch, first))[max(0, done + 1 - first) :])

    def _write(self, fresh: Sequence[tuple[int, Record]]) -> None:
        usable: _Numbered = [(number, record) for number, record in fresh if not isinstance(record, Omission)]
        repeats: list[tuple[int, str]] = []
        # PubMed's files repeat a PMID to replace or delete it; in a JSONL corpus a second time is a mistake.
        if self._repeats != "replace":
            if self._repeats == "skip":
                usable = self._join_by_doi(usable)
            repeats = list(_find_repeats(usable, self._store.written_now([record.pmid for _, record in usable])))
            self._tell(repeats)
        left_out = {number for number, _ in repeats}
        kept = [record for number, record in usable if number not in left_out]
        change = self._store.write(kept, self._number, self.seen, repeats, newest=self._repeats == "replace")
        self._lucene.remove(change.removed)
        self._lucene.add((pmid, make_contents(title, abstract)) for pmid, title, abstract in change.written)
        self.changed += len(change.written) + len(set(change.removed) - {pmid for pmid, _, _ in change.written})

    def _tell(self, repeats: Iterable[tuple[int, str]]) -> None:
        for number, pmid in repeats:
            if self._repeats == "skip":
                self.repeated += 1
            else:
                where = f"record {number} (id {pmid})"
                self._skip(BadRecord(self._path, where, "this id is repeated; every id must be unique"))

    def _join_by_doi(self, records: _Numbered) -> _Numbered:
        """The records, each under the id that its paper has already: one export knows a paper's PMID, another its DOI alone."""
        known = self._store.ids_by_doi([record.doi for _, record in records if isinstance(record, Document)])
        joined: list[tuple[int, Document | Deletion]] = []
        for number, record in records:
            if isinstance(record, Document) and record.doi:
                held = known.setdefault(record.doi, record.pmid)
                # Two PMIDs with one DOI are two records of PubMed's.
                if not (held.isdigit() and record.pmid.isdigit()):
                    record = replace(record, pmid=held)
            joined.append((number, record))
        return joined


def _find_repeats(records: _Numbered, known: set[str]) -> Iterator[tuple[int, str]]:
    """The numbered records whose id is `known` or stands twice among them."""
    for number, record in records:
        if record.pmid in known and not isinstance(record, Deletion):
            yield number, record.pmid
        known.add(record.pmid)
