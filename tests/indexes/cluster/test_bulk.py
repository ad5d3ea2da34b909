"""Bulk writes against a stand-in server: what is sent again, what counts as done, what stops a job."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from counterpoint.indexes.cluster import writer
from counterpoint.indexes.cluster.writer import BulkSender, Progress, delete_action, index_action, make_order
from counterpoint.retrieval.cluster import client
from counterpoint.retrieval.cluster.client import Access, ClusterBusy, read_address
from counterpoint.retrieval.core.errors import BadInput, CounterpointError, IndexUnusable, OutOfSpace
from tests.cluster.fake_server import Answer, FakeCluster, serve_cluster

FLOOD = {
    "type": "cluster_block_exception",
    "reason": "index [pubmed-v0001] blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark, index has "
    "read-only-allow-delete block];",
}


class Taking:
    """Takes documents, but for those that `refuse` names: their outcomes, one for each time that they come."""

    def __init__(self) -> None:
        self.refuse: dict[str, list[tuple[int, dict[str, Any]]]] = {}
        self.taken: list[str] = []

    def __call__(self, method: str, path: str, body: Any) -> Answer:
        items = []
        for line in body if isinstance(body, list) else [body]:
            for kind in ("index", "delete"):
                if isinstance(line.get(kind), dict) and "_id" in line[kind]:
                    items.append({kind: self._take(line[kind]["_id"])})
        return 200, {"errors": any("error" in next(iter(one.values())) for one in items), "items": items}

    def _take(self, id: str) -> dict[str, Any]:
        if self.refuse.get(id):
            status, error = self.refuse[id].pop(0)
            return {"_id": id, "status": status, "error": error}
        self.taken.append(id)
        return {"_id": id, "status": 201}


@pytest.fixture
def taking() -> Taking:
    return Taking()


@pytest.fixture
def cluster(taking: Taking, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeCluster]:
    monkeypatch.setattr(writer, "PATIENCE", 2.0)
    client.use_access(Access(seconds=2.0))
    with serve_cluster(taking) as fake:
        yield fake
    client.use_access(Access())


def send(cluster: FakeCluster, *ids: str) -> None:
    sender = BulkSender(read_address(cluster.place()), "pubmed-v0001")
    try:
        sender.send([index_action(one, {"pmid": one}, 7) for one in ids])
        sender.wait()
    finally:
        sender.close()


def test_what_is_refused_for_now_is_sent_again_and_only_that(cluster: FakeCluster, taking: Taking) -> None:
    taking.refuse = {"2": [(429, {"type": "rejected_execution_exception"}), (503, {"type": "unavailable_shards_exception"})]}
    send(cluster, "1", "2", "3")
    assert taking.taken == ["1", "3", "2"]
    assert len(cluster.asked) == 3


def test_every_write_carries_its_place_in_the_order(cluster: FakeCluster) -> None:
    send(cluster, "1")
    action = json.loads(cluster.asked[0][2].splitlines()[0])["index"]
    assert action == {"_id": "1", "version": 7, "version_type": "external"}
    assert delete_action("1", 8)[0]["delete"]["version"] == 8
    orders = [make_order(1, 0, 5), make_order(1, 0, 6), make_order(1, 1, 1), make_order(2, 0, 1)]
    assert orders == sorted(set(orders)) and make_order(2**18 - 1, 8191, 2**32 - 1) < 2**63
    with pytest.raises(BadInput, match="at most 8,192 files"):
        make_order(1, 8192, 1)


def test_a_write_that_is_in_already_counts_as_done(cluster: FakeCluster, taking: Taking) -> None:
    taking.refuse = {"1": [(409, {"type": "version_conflict_engine_exception"})], "2": [(404, {"type": "not_found"})]}
    send(cluster, "1", "2", "3")
    assert len(cluster.asked) == 1


@pytest.mark.parametrize(
    ("status", "error", "kind", "says"),
    [
        (429, FLOOD, OutOfSpace, "flood-stage watermark"),
        (403, FLOOD, OutOfSpace, "run the same command again"),
        (400, {"type": "mapper_parsing_exception", "reason": "failed to parse"}, IndexUnusable, "refused document 1"),
    ],
)
def test_what_can_never_be_taken_stops_with_one_sentence(
    cluster: FakeCluster, taking: Taking, status: int, error: dict[str, Any], kind: type[CounterpointError], says: str
) -> None:
    taking.refuse = {"1": [(status, error)] * 50}
    with pytest.raises(kind, match=says):
        send(cluster, "1", "2")
    assert len(cluster.asked) == 1


def test_a_cluster_that_takes_nothing_for_long_is_an_error(cluster: FakeCluster, taking: Taking) -> None:
    taking.refuse = {"1": [(503, {"type": "unavailable_shards_exception"})] * 1000}
    with pytest.raises(ClusterBusy, match="did not take 1 document;"):
        send(cluster, "1")


def test_a_full_heap_refuses_progress_for_a_while_and_the_build_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    full = {"error": {"type": "circuit_breaking_exception", "reason": "[parent] Data too large"}, "status": 429}
    answers: list[Answer] = [(429, full), (429, full), (201, {"result": "created"})]
    client.use_access(Access(seconds=2.0))
    monkeypatch.setattr(writer, "PATIENCE", 30.0)
    try:
        with serve_cluster(lambda method, path, body: answers.pop(0)) as fake:
            Progress("print", 1).write(read_address(fake.place()), "pubmed-v0001")
        assert answers == []
        monkeypatch.setattr(writer, "PATIENCE", 0.0)
        with serve_cluster(lambda method, path, body: (429, full)) as fake, pytest.raises(ClusterBusy, match="Data too large"):
            Progress("print", 1).write(read_address(fake.place()), "pubmed-v0001")
    finally:
        client.use_access(Access())
