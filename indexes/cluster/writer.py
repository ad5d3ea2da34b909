"""Writing records to an index on a cluster, with their sentences and cues, so that a killed job can resume where it stopped.

How far a build or update has come is kept in the index itself, and so is the lock that one writer at a time holds. Documents are
sent in bulk, on several threads, until each has been accepted. Every write carries its place in the order of all writes as its
external version. So a write that is sent again changes nothing, one that arrives late never undoes a newer one, and a node that
dies in between costs only the time until its shards are back. A node whose heap is full, or that has just died, refuses for
seconds what it takes afterwards: it is asked again.
"""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from counterpoint.indexes.readers.base.fields import Deletion
from counterpoint.indexes.readers.exports.entry import Paper
from counterpoint.indexes.writer import Change, annotate, settle, take_text
from counterpoint.nli.text.negation import load_cue_list
from counterpoint.retrieval.cluster.client import Address, ClusterBusy, connect, translate_faults
from counterpoint.retrieval.cluster.mapping import make_source
from counterpoint.retrieval.core.english import format_count
from counterpoint.retrieval.core.errors import BadInput, IndexUnusable, OutOfSpace
from counterpoint.retrieval.core.values import Document
from counterpoint.retrieval.store.documents import Row

PATIENCE = 180.0
"""Seconds for which a request that a cluster does not accept is sent again."""
_PAUSE, _LONGEST_PAUSE = 0.5, 10.0
_Result = TypeVar("_Result")


def insist(attempt: Callable[[], _Result]) -> _Result:
    """The result of an attempt that may be repeated without harm.

    Raises the last `ClusterBusy` if the cluster is still busy after `PATIENCE` seconds.
    """
    until, pause = time.monotonic() + PATIENCE, _PAUSE
    while True:
        try:
            return attempt()
        except ClusterBusy:
            if time.monotonic() > until:
                raise
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)


Action = tuple[dict[str, Any], dict[str, Any] | None]
"""What is done to one document, and its source if it is written."""

_CHUNK = 250
_THREADS = 4
_TIMEOUT = 90
_CONFLICT, _GONE = 409, 404


def index_action(id: str, source: dict[str, Any], order: int, again: bool = False) -> Action:
    """Write a document; with `again`, it may replace the one at the same place in the order."""
    kind = "external_gte" if again else "external"
    return {"index": {"_id": id, "version": order, "version_type": kind}}, source


def delete_action(id: str, order: int, again: bool = False, index: str = "") -> Action:
    """Delete a document; with `again`, also one at the same place in the order; of the sender's index, unless one is named."""
    about = {"_id": id, "version": order, "version_type": "external_gte" if again else "external"}
    return {"delete": about | ({"_index": index} if index else {})}, None


class BulkSender:
    """Sends the parts of one batch in parallel; `wait` raises what went wrong with any of them."""

    def __init__(self, address: Address, name: str) -> None:
        self.address, self.name = address, name
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="bulk")
        self._jobs: list[Future[None]] = []

    def send(self, actions: Sequence[Action]) -> None:
        """Begin to send a batch, once the previous one has been accepted."""
        self.wait()
        parts = [actions[at : at + _CHUNK] for at in range(0, len(actions), _CHUNK)]
        self._jobs = [self._threads.submit(self._send_part, part) for part in parts]

    def wait(self) -> None:
        """Wait until everything sent has been accepted; raise the error if the cluster refused any of it."""
        jobs, self._jobs = self._jobs, []
        faults = [error for job in jobs if (error := job.exception())]
        if faults:
            raise faults[0]

    def close(self) -> None:
        """End the threads."""
        self._threads.shutdown(wait=True, cancel_futures=True)

    def _send_part(self, part: Sequence[Action]) -> None:
        rest = list(part)

        def send_rest() -> None:
            nonlocal rest
            rest = self._try(rest)
            if rest:
                raise ClusterBusy(f"The cluster of {self.address} did not take {format_count(len(rest), 'document')}; try again.")

        insist(send_rest)

    def _try(self, part: Sequence[Action]) -> list[Action]:
        """Send a part once; return those actions that should be sent again."""
        lines = "".join(_write_lines(action, source) for action, source in part)
        with translate_faults(self.address):
            reply = connect(self.address).bulk(body=lines, index=self.name, params={"request_timeout": _TIMEOUT})
        if not reply["errors"]:
            return []
        outcomes = [next(iter(item.values())) for item in reply["items"]]
        return [action for action, outcome in zip(part, outcomes, strict=True) if self._has_failed(outcome)]

    def _has_failed(self, outcome: dict[str, Any]) -> bool:
        """Whether a write should be sent again; one already in counts as done. Raises for one that can never succeed."""
        if outcome["status"] < 300 or outcome["status"] in (_CONFLICT, _GONE):
            return False
        error = outcome.get("error") or {}
        reason = f"{error.get('type')} {error.get('reason')}"
        if "flood" in reason or "read-only-allow-delete" in reason:
            raise OutOfSpace(
                f"The cluster of {self.address} refuses writes, because a node's disk is past its flood-stage watermark; what "
                "was done so far is saved: free some space there and run the same command again to resume."
            )
        if outcome["status"] in (429, 500, 502, 503, 504):
            return True
        raise IndexUnusable(f"The cluster refused document {outcome['_id']} ({outcome['status']}, {reason[:300]}).")


def _write_lines(action: dict[str, Any], source: dict[str, Any] | None) -> str:
    first = json.dumps(action, ensure_ascii=True)
    return f"{first}\n" if source is None else f"{first}\n{json.dumps(source, ensure_ascii=True)}\n"


def read_now(address: Address, name: str, ids: Sequence[str], fields: Sequence[str] = ()) -> dict[str, dict[str, Any]]:
    """The sources (or these fields of them) of those documents that the index of this real name holds, even if just written."""
    params = {"request_timeout": 60} | ({"_source_includes": ",".join(fields)} if fields else {})

    def read() -> dict[str, dict[str, Any]]:
        with translate_faults(address):
            reply = connect(address).mget(index=name, body={"ids": sorted(set(ids))}, params=params)
        if any("error" in document for document in reply["docs"]):
            raise ClusterBusy(f"Documents of {address} could not be read; try again.")
        return {document["_id"]: document["_source"] for document in reply["docs"] if document["found"]}

    return insist(read) if ids else {}


_REFRESH_SECONDS = 600


def refresh(address: Address, name: str) -> None:
    """Let searches see what was written."""
    with translate_faults(address):
        connect(address).indices.refresh(index=name, params={"request_timeout": _REFRESH_SECONDS})


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
MOST_SOURCES = 1 << _SOURCE_BITS
_MARKED = 2
"""The value of `retracted` for a document that another's notice points to."""


def list_cue_names() -> dict[int, str]:
    """The names of the cues by the numbers that documents store for them."""
    return {number: entry.name for number, entry in enumerate(load_cue_list().cues, 1)}


def make_order(version: int, source: int, end: int) -> int:
    """The place of a batch in the order of all writes to an index: the job, the source, the record; positive, 63 bits.

    Raises `BadInput` for more sources than fit.
    """
    if source >= MOST_SOURCES:
        raise BadInput(f"A build or update on a cluster takes at most {MOST_SOURCES:,} files; give it fewer at a time.")
    return ((version << _SOURCE_BITS | source) << _RECORD_BITS) + end


class ClusterWriter:
    """An index being written (`indexes.sources.Target`): while the cluster indexes a batch, the next is prepared here."""

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
        sources = self._find_held(pmids)
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
        sources = self._find_held([record.pmid for record in records])
        state = settle(records, {pmid: source["version"] for pmid, source in sources.items()}, newest)
        order = make_order(self.progress.version, source, end)
        rows = {pmid: annotate(record, self._cue_ids) for pmid, record in state.items() if record}
        self._sender.send(
            [
                self._make_action(pmid, rows.get(pmid), sources.get(pmid), order)
                for pmid in state
                if pmid in rows or pmid in sources
            ]
        )
        self._batch = (source, end, list(repeats))
        return Change([pmid for pmid in state if pmid in sources], [take_text(row) for row in rows.values()])

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

    def _make_action(self, pmid: str, row: Row | None, old_source: dict[str, Any] | None, order: int) -> Action:
        if row is None:
            return delete_action(pmid, order)
        source = make_source(row, self.progress.version, order)
        if old_source and old_source["retracted"] == _MARKED and not source["retracted"]:
            # Until the notices are checked at the end of the job, their previous marks still hold.
            source["retracted"] = _MARKED
        return index_action(pmid, source, order)

    def _find_held(self, pmids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """What the index holds for these, even if just written: version, retracted, written, order."""
        return read_now(self.address, self.name, pmids, ["version", "retracted", "written", "order"])
