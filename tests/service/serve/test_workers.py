"""While no worker is loaded, this process answers 503 at once; as soon as one is, it takes no connection."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator

import httpx
import pytest

from service.http.schemas import Health
from service.schemas import Problem
from service.serve.workers import LoadingResponder


@pytest.fixture
def attended() -> threading.Event:
    return threading.Event()


@pytest.fixture
def listener(attended: threading.Event) -> Iterator[socket.socket]:
    listener = socket.create_server(("127.0.0.1", 0))
    shared = socket.socket(fileno=socket.dup(listener.fileno()))  # as a worker holds it
    responder = LoadingResponder(listener, attended.is_set)
    responder.open()
    yield shared
    responder.shut()
    shared.close()


@pytest.fixture
def url(listener: socket.socket) -> str:
    return f"http://127.0.0.1:{listener.getsockname()[1]}"


def test_health_says_starting_and_every_call_is_a_problem_with_a_time_to_try_again(url: str) -> None:
    health = httpx.get(f"{url}/health?x=1", timeout=5)
    assert health.status_code == 503 and Health.model_validate_json(health.content).status == "starting"
    asked = httpx.post(f"{url}/v1/ground", json={"claim": "zeta " * 50_000}, timeout=5)
    told = Problem.model_validate_json(asked.content)
    assert (asked.status_code, told.status, asked.headers["retry-after"]) == (503, 503, "3")
    assert asked.headers["content-type"] == "application/problem+json" and "starting" in told.detail
    assert httpx.head(f"{url}/health", timeout=5).content == b""


def test_clients_that_say_nothing_hold_up_no_other(listener: socket.socket, url: str) -> None:
    silent = [socket.create_connection(listener.getsockname()) for _ in range(5)]
    began = time.monotonic()
    assert httpx.get(f"{url}/health", timeout=5).status_code == 503
    assert time.monotonic() - began < 1.5
    for one in silent:
        one.close()


def test_what_a_loaded_worker_can_take_is_left_to_it(listener: socket.socket, url: str, attended: threading.Event) -> None:
    assert httpx.get(f"{url}/health", timeout=5).status_code == 503
    attended.set()
    time.sleep(0.3)  # it may be waiting for a connection already
    with socket.create_connection(listener.getsockname()) as client:
        client.sendall(b"GET /health HTTP/1.1\r\n\r\n")
        client.settimeout(0.4)
        with pytest.raises(TimeoutError):
            client.recv(1)
        listener.settimeout(5)
        taken, _ = listener.accept()
        assert taken.recv(100).startswith(b"GET /health")
        taken.close()


def test_a_stopped_responder_refuses() -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    address = listener.getsockname()
    responder = LoadingResponder(listener, lambda: False)
    responder.open()
    responder.shut()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address)
