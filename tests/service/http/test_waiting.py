"""A service that is started while its cluster is away says so, refuses with Retry-After, and answers once the cluster is back."""

from __future__ import annotations

import socket
import threading
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from retrieval.cluster import client as connection
from retrieval.cluster.client import Access, ClusterBusy
from retrieval.core.errors import IndexUnusable
from retrieval.index import Index
from service.grounding.ground import Grounder
from service.http import app as module
from service.http.app import create_app
from service.operating.settings import Settings
from service.serve.server import check_index
from tests.helpers.fakes import make_grounder
from tests.helpers.ready import wait_until, wait_until_ready

AWAY = "The cluster at host:9200 accepts no connection; start it, or check the address."


def test_it_starts_refuses_and_answers_when_the_cluster_is_back(demo_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RETRY_SECONDS", 0.05)
    back, tries = threading.Event(), list[bool]()

    def load() -> Grounder:
        tries.append(back.is_set())
        if not back.is_set():
            raise ClusterBusy(AWAY)
        return make_grounder(Index(demo_folder))[0]

    with TestClient(create_app(load, None, Settings())) as client:
        wait_until(lambda: len(tries) >= 3)
        health = client.get("/health")
        assert health.status_code == 503 and int(health.headers["Retry-After"]) > 0
        assert (health.json()["status"], health.json()["engine"]) == ("waiting for the index", AWAY)
        refused = client.post("/v1/ground", json={"claim": "Glucose lowers mortality."})
        assert refused.status_code == 503 and int(refused.headers["Retry-After"]) > 0
        back.set()
        wait_until_ready(client)
        assert client.post("/v1/ground", json={"claim": "Glucose lowers mortality."}).status_code == 200
    assert tries[-1] and tries.count(True) == 1


def test_what_stays_wrong_when_the_cluster_is_back_ends_the_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RETRY_SECONDS", 0.01)
    told = iter([ClusterBusy(AWAY), ClusterBusy(AWAY), IndexUnusable("There is no index.")])

    def load() -> Grounder:
        raise next(told)

    with TestClient(create_app(load, None, Settings())) as client:
        wait_until(lambda: client.get("/health").json()["status"] == "There is no index.")
        assert next(told, None) is None


def test_a_cluster_that_is_away_keeps_no_service_from_starting() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        place = Path(f"opensearch://127.0.0.1:{unused.getsockname()[1]}/pubmed")
    connection.use_access(Access(seconds=0.5))
    try:
        assert check_index(Settings(index=place)) == place
        with pytest.raises(IndexUnusable, match="no host has this name"):
            check_index(Settings(index=Path("opensearch://no-such-host.invalid:9200/pubmed")))
    finally:
        connection.use_access(Access())
