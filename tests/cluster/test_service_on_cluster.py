"""The service over a real cluster, asked over HTTP: a node dies, and every answer is whole or a 503 with Retry-After."""

from __future__ import annotations

import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from bench.cluster import LocalCluster
from counterpoint.indexes.cluster.places import build_at, update_at
from counterpoint.retrieval.index import Index, read_index_manifest
from counterpoint.service.operating.settings import Settings
from tests.conftest import DEMO
from tests.helpers.pubmed_files import article, deletion, write_update
from tests.helpers.served import over_fakes, serving

pytestmark = pytest.mark.cluster
CLIENTS = 16
NEW = range(5_000_000, 5_000_200)
CLAIMS = ("Intensive glucose control raises mortality.", "Beta-carotene prevents lung cancer.")
QUERIES = ("no effect on survival", "trial of vitamin supplements", "the")
Call = Callable[[httpx.Client], httpx.Response]


def ground(claim: str) -> Call:
    return lambda client: client.post("/v1/ground", json={"claim": claim})


def search(query: str) -> Call:
    return lambda client: client.get("/v1/search", params={"q": query, "limit": 20})


SEARCHES = [*map(search, QUERIES)]
CALLS = [*map(ground, CLAIMS), *SEARCHES]


def read_answer(response: Any) -> list[Any]:
    """What an answer says of documents: those listed, in order, with their sentences."""
    body = response.json()
    if "hits" in body:
        return [hit["pmid"] for hit in body["hits"]]
    sides = ("contradicting", "supporting", "uncertain")
    return [(side, one["pmid"], one["sentence"]) for side in sides for one in body[side]]


def judge(response: httpx.Response, whole: list[Any], changing: bool) -> str:
    """An answer is the whole one, or a refusal that says when to try again; while texts change it is as long as it was."""
    if response.status_code == 503:
        return "503" if int(response.headers.get("Retry-After", 0)) > 0 else "503 without Retry-After"
    if response.status_code != 200:
        return f"{response.status_code}: {response.text[:200]}"
    found = read_answer(response)
    same = len(found) == len(whole) if changing else found == whole
    return "whole" if same else f"other: {found} instead of {whole}"


@contextmanager
def asking(url: str, calls: list[Call], whole: list[list[Any]], changing: bool = False) -> Iterator[Counter[str]]:
    """So many clients ask for as long as the block runs; how their answers were."""
    outcomes, stop = Counter[str](), threading.Event()

    def ask(first: int) -> None:
        with httpx.Client(base_url=url, timeout=180) as client:
            place = first
            while not stop.is_set():
                number = place % len(calls)
                outcomes[judge(calls[number](client), whole[number], changing)] += 1
                place += 1

    clients = [threading.Thread(target=ask, args=(number,)) for number in range(CLIENTS)]
    for one in clients:
        one.start()
    try:
        yield outcomes
    finally:
        stop.set()
        for one in clients:
            one.join()


def test_clients_get_whole_answers_or_503_while_a_node_dies_and_an_update_runs(
    place: Path, nodes: LocalCluster, tmp_path: Path
) -> None:
    build_at([DEMO], place)
    settings = Settings(threads=8, waiting=64, wait_seconds=120, reload_seconds=1, state="off")
    with serving(over_fakes(place, settings), seconds=300) as (url, _):
        with httpx.Client(base_url=url, timeout=180) as client:
            whole = [read_answer(call(client)) for call in CALLS]
        assert all(whole), "the demonstration corpus answers each of them"
        try:
            with asking(url, CALLS, whole) as outcomes:
                _wait_for(outcomes, 2 * CLIENTS)
                nodes.kill_node(2, signal.SIGKILL)
                _wait_for(outcomes, outcomes["whole"] + 4 * CLIENTS)
            assert set(outcomes) <= {"whole", "503"}, outcomes
            with asking(url, SEARCHES, whole[-len(SEARCHES) :], changing=True) as outcomes:
                update = write_update(
                    tmp_path, 1, *(article(str(pmid), f"Sailing boat number {pmid}.") for pmid in NEW), deletion("1")
                )
                assert update_at(place, [update]).read.changes.added == len(NEW)
                nodes.start_node(2)
                nodes.wait_until_joined(nodes.size, status="green")
                _wait_for(outcomes, outcomes["whole"] + CLIENTS)
            assert set(outcomes) <= {"whole", "503"}, outcomes
        finally:
            nodes.start_node(2)
        with httpx.Client(base_url=url, timeout=180) as client:
            until = time.monotonic() + 120
            while client.get("/health").json()["documents"] != read_index_manifest(place).counts.documents:
                assert time.monotonic() < until, "the service did not notice the update"
                time.sleep(0.5)
            assert {client.get(f"/v1/documents/{pmid}").status_code for pmid in list(NEW)[::20]} == {200}
            assert client.get("/health").json()["engine"] == "green"
    assert Index(place).store.holds([str(pmid) for pmid in NEW]) == {str(pmid) for pmid in NEW}


def _wait_for(outcomes: Counter[str], whole: int, seconds: float = 300) -> None:
    """Until so many answers were whole, or some was neither that nor a refusal."""
    until = time.monotonic() + seconds
    while outcomes["whole"] < whole and set(outcomes) <= {"whole", "503"}:
        assert time.monotonic() < until, outcomes
        time.sleep(0.1)
