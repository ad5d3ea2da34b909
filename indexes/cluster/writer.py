"""Writing records to an index on a cluster, with their sentences and cues, so that a killed job can resume where it stopped.

How far a build or update has come is kept in the index itself, and so is the lock that one writer at a time holds.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from indexes.cluster.bulk import Action, BulkSender, delete_action, index_action, insist
from indexes.readers.base.records import Deletion
from indexes.readers.exports.entry import Paper
from indexes.writer import Change, annotate, settle
from nli.text.negation import load_cue_list
from retrieval.cluster.client import Address, ClusterBusy, connect, translate_faults
from retrieval.cluster.mapping import make_source
from retrieval.core.errors import BadInput
from retrieval.core.values import Document

PROGRESS, LOCK = "__progress__", "__lock__"
_LEASE = 300.0
"""Seconds after which another writer may take the lock of a silent one."""


@dataclass
class Progress:
    """A job's inputs and version, and for each source how many records are in and which of them repeated an id."""

    fingerprint: str
    version: int
    files: list[str] = field(default_factory=list)
    done: dict[str, int] = field(default_factory=dict)
    repeats: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    last: str = ""

    def write(self, address: Address, name: str) -> None:
        """Save the progress in the index with this real name."""
        insist(lambda: self._write_once(address, name))

    def _write_once(self, address: Address, name: str) -> None:
        with translate_faults(address):
            connect(address).index(index=name, id=PROGRESS, body={"progress": asdict(self)}, params={"request_timeout": 60})


def read_progress(address: Address, name: str) -> Progress | None:
    """The progress of an unfinished job; None if there is none."""
    with translate_faults(address):
        reply = connect(address).get(index=name, id=PROGRESS, ignore=[404])
    return Progress(**reply["_source"]["progress"]) if reply.get("found") else None


def drop_progress(address: Address, name: str) -> None:
    """Delete the progress: the job is done."""
    with translate_faults(address):
        connect(address).delete(index=name, id=PROGRESS, ignore=[404])


class WriteLock:
    """Keeps a second build or update off an index.

    A writer on the same machine may take a dead writer's lock at once, one on another machine when the lease ends.
    """

    def __init__(self, address: Address, name: str) -> None:
        self._address, self._name = address, name
        self._renewal_time = 0.0

    def __enter__(self) -> WriteLock:
        with translate_faults(self._address):
            self._take()
        return self

    def __exit__(self, *_: object) -> None:
        with translate_faults(self._address):
            connect(self._address).delete(index=self._name, id=LOCK, ignore=[404])

    def renew(self) -> None:
        """Show that the writer is alive."""
        if time.monotonic() - self._renewal_time > _LEASE / 10:
            insist(self._renew_once)
            self._renewal_time = time.monotonic()

    def _renew_once(self) -> None:
        with translate_faults(self._address):
            connect(self._address).index(index=self._name, id=LOCK, body={"lock": self._describe()})

    def _take(self) -> None:
        client = connect(self._address)
        for _ in range(3):
            reply = client.index(index=self._name, id=LOCK, body={"lock": self._describe()}, op_type="create", ignore=[409])
            if reply.get("result") == "created":
                self._renewal_time = time.monotonic()
                return
            lock = client.get(index=self._name, id=LOCK, ignore=[404])
            if not lock.get("found"):
                continue
            holder = lock["_source"]["lock"]
            if not _is_dead(holder):
                raise BadInput(
                    f"Another build or update of {self._address} is running (process {holder['pid']} on {holder['host']}); wait "
                    "until it is done."
                )
            condition = {"if_seq_no": lock["_seq_no"], "if_primary_term": lock["_primary_term"]}
            client.delete(index=self._name, id=LOCK, params=condition, ignore=[404, 409])
        raise BadInput(f"Another build or update of {self._address} has just begun; wait until it is done.")

    def _describe(self) -> dict[str, Any]:
        return {
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "began": _tell_start(os.getpid()),
            "until": time.time() + _LEASE,
        }


def _is_dead(holder: dict[str, Any]) -> bool:
    """Whether the holder of a lock has ended: certain for this machine's processes, assumed for others once the lease is over."""
    if holder["host"] == socket.gethostname() and Path("/proc").is_dir():
        return bool(_tell_start(holder["pid"]) != holder["began"])
    return time.time() > float(holder["until"])


def _tell_start(pid: int) -> str:
    """When a process began, in the kernel's clock ticks; "" if it has ended. Tells apart processes that reuse a number."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


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
        return {
            pmid for pmid, source in sources.items() if source["written"] == self.progress.version and source["order"] != order
        }

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
        state = settle(records, {pmid: source["version"] for pmid, source in sources.items()}, newest)
        order = make_order(self.progress.version, source, end)
        self._sender.send(
            [
                self._make_action(pmid, record, sources.get(pmid), order)
                for pmid, record in state.items()
                if record or pmid in sources
            ]
        )
        self._batch = (source, end, list(repeats))
        texts = [(record.pmid, record.title, record.abstract) for record in state.values() if record]
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
        if any("error" in document for document in reply["docs"]):
            raise ClusterBusy(f"Documents of {self.address} could not be read; try again.")
        return {document["_id"]: document["_source"] for document in reply["docs"] if document["found"]}
