"""Writing records to an index on a cluster, with their sentences and cues, so that a killed job can resume where it stopped.

How far a build or update has come is kept in the index itself, and so is the lock that one writer at a time holds. Documents are
sent in bulk, on several threads, until each has been accepted. Every write carries its place in the order of all writes as its
external version. So a write that is sent again changes nothing, one that arrives late never undoes a newer one, and a node that
dies in between costs only the time until its shards are back. A node whose heap is full, or that has just died, refuses for
seconds what it takes afterwards: it is asked again.

What becomes of full texts is decided where an index in a folder decides it (`indexes.full_texts`): for each batch the documents
and texts that it may concern are loaded into a small store, and what has changed there is sent back. They follow their records
once all records are written. A text is sent after its passages, so that one which is there is whole.
"""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from counterpoint.indexes.full_texts import Placed
from counterpoint.indexes.readers.base.fields import Deletion
from counterpoint.indexes.writer import Change, StoreWriter, annotate, settle, take_text
from counterpoint.nli.text.negation import load_cue_list
from counterpoint.retrieval.cluster.client import Address, ClusterBusy, connect, translate_faults
from counterpoint.retrieval.cluster.mapping import (
    TEXT_ROW,
    make_passage_source,
    make_source,
    make_text_source,
    name_texts,
    read_row,
    read_text,
)
from counterpoint.retrieval.cluster.search import page_sources, read_sources, run_searches
from counterpoint.retrieval.core.english import format_count
from counterpoint.retrieval.core.errors import BadInput, IndexUnusable, OutOfSpace
from counterpoint.retrieval.core.values import Document, FullText
from counterpoint.retrieval.store.documents import Entry, Row
from counterpoint.retrieval.store.manifest import STORE, TextPart
from counterpoint.retrieval.store.texts import make_part, name_passage, read_passage_name

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
        """Send a part, and what the cluster does not take of it again."""
        rest = list(part)

        def send_rest() -> None:
            nonlocal rest
            lines = "".join(f"{json.dumps(one)}\n" for action in rest for one in action if one is not None)
            with translate_faults(self.address):
                reply = connect(self.address).bulk(body=lines, index=self.name, params={"request_timeout": _TIMEOUT})
            outcomes = [next(iter(item.values())) for item in reply["items"]]
            rest = [action for action, outcome in zip(rest, outcomes, strict=True) if self._has_failed(outcome)]
            if rest:
                raise ClusterBusy(f"The cluster of {self.address} did not take {format_count(len(rest), 'document')}; try again.")

        insist(send_rest)

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


def read_now(address: Address, name: str, ids: Sequence[str], fields: Sequence[str] = ()) -> dict[str, dict[str, Any]]:
    """The sources (or these fields of them) of those documents that the index of this real name holds, even if just written."""
    return insist(lambda: read_sources(address, name, ids, fields, now=True))


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
        keep(address, name, PROGRESS, {"progress": asdict(self)})


def keep(address: Address, name: str, id: str, source: dict[str, Any]) -> None:
    """Write a document that is no paper, such as the progress of a job, over the one with this id."""

    def write() -> None:
        with translate_faults(address):
            connect(address).index(index=name, id=id, body=source, params={"request_timeout": 60})

    insist(write)


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
            keep(self._address, self._name, LOCK, {"lock": self._describe()})
            self._renewal_time = time.monotonic()

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
        pid = os.getpid()
        return {"host": socket.gethostname(), "pid": pid, "began": _find_start(pid), "until": time.time() + _LEASE}


def _is_dead(holder: dict[str, Any]) -> bool:
    """Whether the holder of a lock has ended: certain for this machine's processes, assumed for others once the lease is over."""
    if holder["host"] == socket.gethostname() and Path("/proc").is_dir():
        return bool(_find_start(holder["pid"]) != holder["began"])
    return time.time() > float(holder["until"])


def _find_start(pid: int) -> str:
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


_CANDIDATES = 20
_PAGE = 80
"""Texts that follow their records at once: what is written of them, three actions each at most, is one request."""
_LONGEST_TITLE = 500
Sources = dict[str, dict[str, Any]]
"""What the index of documents holds, by PMID."""


class ClusterWriter:
    """An index being written (`indexes.sources.Target`), with `texts` its full texts too: while the cluster indexes a batch, the
    next is prepared here."""

    def __init__(self, address: Address, name: str, progress: Progress, lock: WriteLock, texts: bool) -> None:
        self.address, self.name, self.progress = address, name, progress
        self._texts, self._names = name_texts(name) if texts else "", list_cue_names()
        self._lock, self._sender, self._text_sender = lock, BulkSender(address, name), BulkSender(address, self._texts)
        self._cue_ids = {cue: number for number, cue in self._names.items()}
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
        version, held = self.progress.version, self._find_held(pmids).items()
        return {pmid for pmid, source in held if source["written"] == version and source["order"] != order}

    def find_by_doi(self, dois: Iterable[str]) -> list[Document]:
        """The documents that have one of these DOIs, but for those that texts made of themselves: a record takes their place, and
        is not given their id."""
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
        papers = [Document(**hit["_source"]) for hit in hits]
        texts = read_now(self.address, self._texts, [paper.pmid for paper in papers], [TEXT_ROW]) if self._texts else {}
        return [paper for paper in papers if not (paper.pmid in texts and texts[paper.pmid][TEXT_ROW][1])]

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
        changed = [pmid for pmid in state if pmid in rows or pmid in sources]
        self._sender.send([self._make_action(pmid, rows.get(pmid), sources.get(pmid), order) for pmid in changed])
        self._batch = (source, end, list(repeats))
        return Change([pmid for pmid in state if pmid in sources], [take_text(row) for row in rows.values()])

    def settle(self) -> None:
        """Wait until the current batch is in, and save how far its source has been read."""
        self._text_sender.wait()
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
        self._text_sender.close()
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

    def write_texts(self, texts: Sequence[FullText], source: int, end: int, placed: Placed) -> Change:
        """Begin to write a batch of full texts, behind the records that they make of themselves."""
        self.settle()
        self._lock.renew()
        refresh(self.address, self.name)
        order = make_order(self.progress.version, source, end)
        # What is in this place in the order already is from an attempt that was stopped, and is made again.
        before = {pmid: one for pmid, one in self._find_records([text.record for text in texts]).items() if one["order"] != order}
        with self._load(before) as store:
            change = store.write_texts(texts, source, end, placed)
            own = {pmid for pmid, *_ in change.written}
            actions = list[Action]()
            for row, written in (one for rows in store.rows() for one in rows):
                if row[0] in own or row != read_row(before[row[0]]):
                    place = order if row[0] in own else before[row[0]]["order"]
                    actions.append(index_action(row[0], make_source(row, written, place), place, again=True))
            self._sender.send(actions)
            self._sender.wait()
            self._send_texts(store, change, order)
        self._batch = (source, end, [])
        return change

    def finish_texts(self) -> TextPart | None:
        """Let every text follow its record, once all records are written; what the manifest says of the texts."""
        self.settle()
        if not self._texts:
            return None
        both, every = f"{self.name},{self._texts}", {"exists": {"field": "text_of"}}
        refresh(self.address, both)
        order = make_order(self.progress.version, MOST_SOURCES - 1, 0)
        for page in page_sources(self.address, self._texts, every, [TEXT_ROW, "title", "order"], _PAGE, "text_of"):
            self._lock.renew()
            self._follow({source[TEXT_ROW][0]: source for source in page}, order)
        self.settle()
        refresh(self.address, both)
        pages = page_sources(self.address, self._texts, every, [TEXT_ROW], 10 * _PAGE, "text_of")
        return make_part(source[TEXT_ROW] for page in pages for source in page)

    def _follow(self, texts: Sources, order: int) -> None:
        """Remove those of these texts whose record was deleted, take over the title of a revised or new one, and give a text that
        made a record of itself to another record of its paper."""
        records, deleted = read_now(self.address, self.name, list(texts)), list[str]()
        made, revised, change = Sources(), Sources(), Change([], [])
        for pmid, text in texts.items():
            record, (_, own, *_, passages, _, _) = records.get(pmid), text[TEXT_ROW]
            if record is None:
                deleted.append(pmid)
                change.passages_removed.extend(name_passage(pmid, number) for number in range(passages))
            elif own and record["order"] == text["order"]:
                made[pmid] = record
            elif own or record["title"] != text["title"]:
                revised[pmid] = record
        found = self._find_records([self._read(record) for record in made.values()])
        later = {pmid: record for pmid, record in found.items() if pmid not in texts}
        before = {pmid: record | {"title": texts[pmid]["title"]} for pmid, record in revised.items()}
        if not (deleted or revised or later):
            return
        with self._load(before | (made | later if later else {})) as store:
            assert store.tables
            held = store.tables.held(list(later))
            news = [self._read(record) for pmid, record in (revised | later).items() if pmid not in held]
            written = store.write(news, 0, 0, newest=False)
            change.passages_removed.extend(written.passages_removed)
            change.passages_written.extend(written.passages_written)
            self._send_texts(store, change, order, left=made.keys() & set(written.removed))

    def _read(self, source: dict[str, Any]) -> Document:
        return Entry(read_row(source), self._names).document

    def _find_records(self, records: Sequence[Document]) -> Sources:
        """The documents that may be the records of these papers: by PMID, PMCID, DOI and the words of the title."""
        bodies: list[dict[str, Any]] = []
        for record in records:
            ids = {name: value for name in ("pmid", "pmcid", "doi") if (value := getattr(record, name))}
            either = [{"constant_score": {"filter": {"term": {name: value}}, "boost": 1e6}} for name, value in ids.items()]
            if title := record.title[:_LONGEST_TITLE]:
                either.append({"match": {"fields.title": {"query": title, "minimum_should_match": "75%"}}})
            if either:
                bodies.append({"query": {"bool": {"should": either}}, "size": _CANDIDATES})
        replies = insist(lambda: run_searches(self.address, self.name, bodies, opened=False)) if bodies else []
        return {hit["_id"]: hit["_source"] for reply in replies for hit in reply["hits"]["hits"]}

    @contextmanager
    def _load(self, documents: Sources) -> Iterator[StoreWriter]:
        """A store of these documents and their texts."""
        texts = read_now(self.address, self._texts, list(documents))
        with (
            TemporaryDirectory() as folder,
            closing(StoreWriter(Path(folder) / STORE, self.progress.version, texts=True)) as store,
        ):
            store.adopt([(read_row(source), int(source["written"])) for source in documents.values()])
            store.adopt_texts([read_text(source, self._names) for source in texts.values()])
            yield store

    def _send_texts(self, store: StoreWriter, change: Change, order: int, left: Iterable[str] = ()) -> None:
        """Send the passages that have changed, then their texts together with the deletion of the documents that they left."""
        passages = {name: delete_action(name, order, again=True) for name in change.passages_removed}
        for name, title, words, *_ in change.passages_written:
            passages[name] = index_action(name, make_passage_source(name, title, words), order, again=True)
        texts = {pmid: delete_action(pmid, order, again=True) for pmid, _ in map(read_passage_name, passages)}
        assert store.tables
        for stored in store.tables.read_all(self._names):
            if stored.pmid in texts:
                source = make_text_source(stored, store.find_title(stored.pmid), order)
                texts[stored.pmid] = index_action(stored.pmid, source, order, again=True)
        self._text_sender.send(list(passages.values()))
        self._text_sender.send([*(delete_action(pmid, order, index=self.name) for pmid in left), *texts.values()])
