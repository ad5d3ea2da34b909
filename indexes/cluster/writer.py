"""Writing records to an index on a cluster, with their sentences and cues, so that a killed job can resume where it stopped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from indexes.cluster.bulk import Action, BulkSender, delete_action, index_action
from indexes.cluster.patience import insist
from indexes.cluster.progress import Progress, WriteLock
from indexes.readers.base.records import Deletion
from indexes.readers.exports.papers import Paper
from indexes.writer import Change, annotate, settle
from nli.text.cues import load_cue_list
from retrieval.cluster.address import Address
from retrieval.cluster.client import connect
from retrieval.cluster.faults import ClusterBusy, translate_faults
from retrieval.cluster.records import make_source
from retrieval.core.errors import BadInput
from retrieval.core.values import Document

_SOURCE_BITS, _RECORD_BITS = 13, 32
_MARKED = 2
"""The value of `retracted` for a document that another's notice points to."""


def list_cue_names() -> dict[int, str]:
    """The names of the cues by the numbers that documents store for them."""
    return {number: entry.name for number, entry in enumerate(load_cue_list().cues, 1)}


def make_order(version: int, source: int, end: int) -> int:
    """The place of a batch in the order of all writes to an index: the job, the source, the record; positive, 63 bits.

    Raises `BadInput` for more sources than fit.
    """
    if source >= 1 << _SOURCE_BITS:
        raise BadInput(f"A build or update on a cluster takes at most {1 << _SOURCE_BITS:,} files; give it fewer at a time.")
    return ((version << _SOURCE_BITS | source) << _RECORD_BITS) + end


class ClusterWriter:
    """An index being written (`indexes.reading.Target`): while the cluster indexes a batch, the next is prepared here."""

    def __init__(self, address: Address, name: str, progress: Progress, lock: WriteLock) -> None:
        self.address, self.name, self.progress = address, name, progress
        self._lock, self._sender = lock, BulkSender(address, name)
        self._cue_ids = {cue: number for number, cue in list_cue_names().items()}
        self._batch: tuple[int, int, list[tuple[int, str]]] | None = None

    def records_done(self, source: int) -> int:
        """How many records of the `source`-th file are already in."""
        return self.progress.done.get(str(source), 0)

    def repeats_done(self, source: int) -> list[tuple[int, str]]:
        """The records among them, by number and id, that were left out because their id had occurred before."""
        return [(number, pmid) for number, pmid in self.progress.repeats.get(str(source), [])]

    def written_now(self, pmids: Sequence[str], source: int, end: int) -> set[str]:
        """Those documents that this job has written in earlier batches; an earlier attempt at this batch does not count."""
        self.settle()
        order = make_order(self.progress.version, source, end)
        sources = insist(lambda: self._find_held(pmids))
        return {pmid for pmid, one in sources.items() if one["written"] == self.progress.version and one["order"] != order}

    def find_by_doi(self, dois: Iterable[str]) -> list[Paper]:
        """The documents that have one of these DOIs."""
        values = sorted({doi for doi in dois if doi})
        if not values:
            return []
        self.settle()
        fields = ["pmid", "doi", "title", "abstract"]
        with translate_faults(self.address):
            client = connect(self.address)
            client.indices.refresh(index=self.name)
            body = {"query": {"terms": {"doi": values}}, "size": 10_000, "_source": fields, "sort": ["pmid"]}
            hits = client.search(index=self.name, body=body)["hits"]["hits"]
        return [Paper(*(hit["_source"][name] for name in fields)) for hit in hits]

    def write(
        self,
        records: Sequence[Document | Deletion],
        source: int,
        end: int,
        repeats: Sequence[tuple[int, str]] = (),
        newest: bool = True,
    ) -> Change:
        """Begin to write a batch; the next call, or `settle`, waits until it is in and counts it as read.

        With `newest`, the higher of two versions of one PMID stands (PubMed's rule), else the later record.
        """
        self.settle()
        self._lock.renew()
        sources = insist(lambda: self._find_held([record.pmid for record in records]))
        state = settle(records, {pmid: one["version"] for pmid, one in sources.items()}, newest)
        order = make_order(self.progress.version, source, end)
        self._sender.send(
            [self._make_action(pmid, one, sources.get(pmid), order) for pmid, one in state.items() if one or pmid in sources]
        )
        self._batch = (source, end, list(repeats))
        texts = [(one.pmid, one.title, one.abstract) for one in state.values() if one]
        return Change([pmid for pmid in state if pmid in sources], texts)

    def settle(self) -> None:
        """Wait until the current batch is in, and save how far its source has been read."""
        self._sender.wait()
        if self._batch:
            source, end, repeats = self._batch
            self.progress.done[str(source)] = end
            if repeats:
                self.progress.repeats[str(source)] = [*self.progress.repeats.get(str(source), []), *repeats]
            self.progress.write(self.address, self.name)
            self._batch = None

    def close(self) -> None:
        """End the threads; what was sent stays."""
        self._sender.close()

    def _make_action(self, pmid: str, document: Document | None, old_source: dict[str, Any] | None, order: int) -> Action:
        if document is None:
            return delete_action(pmid, order)
        source = make_source(annotate(document, self._cue_ids), self.progress.version, order)
        if old_source and old_source["retracted"] == _MARKED and not source["retracted"]:
            # Until the notices are checked at the end of the job, their previous marks still hold.
            source["retracted"] = _MARKED
        return index_action(pmid, source, order)

    def _find_held(self, pmids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """What the index holds for these, even if just written: version, retracted, written, order."""
        if not pmids:
            return {}
        params = {"_source_includes": "version,retracted,written,order", "request_timeout": 60}
        with translate_faults(self.address):
            reply = connect(self.address).mget(index=self.name, body={"ids": sorted(set(pmids))}, params=params)
        if any("error" in one for one in reply["docs"]):
            raise ClusterBusy(f"Documents of {self.address} could not be read; try again.")
        return {one["_id"]: one["_source"] for one in reply["docs"] if one["found"]}
