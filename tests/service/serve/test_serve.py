"""`serve`: the socket is open before anything is loaded, and what answers while no worker is loaded."""

from __future__ import annotations

import errno
import os
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from counterpoint.retrieval.core.errors import BadConfig
from counterpoint.service.cli.commands import app as command_line
from counterpoint.service.http.schemas import Health
from counterpoint.service.schemas import Problem
from counterpoint.service.serve.server import listen, write_address
from counterpoint.service.serve.workers import LoadingResponder
from tests.helpers.missing import missing


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_used_port_is_told_before_anything_is_said_or_loaded(
    demo_folder: Path, monkeypatch: pytest.MonkeyPatch, workers: str
) -> None:
    monkeypatch.setattr("counterpoint.service.serve.server.run", lambda *_: pytest.fail("it went on"))
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        command = ["serve", "--index", str(demo_folder), "--port", port, "--workers", workers]
        told = CliRunner().invoke(command_line, command)
    assert (told.exit_code, told.stdout) == (2, "")
    assert told.stderr.startswith(f"Error: Port {port} of 127.0.0.1 is in use") and len(told.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("host", "said"),
    [
        ("no.such.host.invalid", "'no.such.host.invalid' is unknown"),
        ("256.1.1.1", "is unknown"),
        ("[::zz]", "is unknown"),
        ("x" * 70, "is unknown"),
        ("http://localhost", "is unknown"),
        ("192.0.2.1", "192.0.2.1 is not an address of this machine"),
    ],
)
def test_a_wrong_host_is_one_sentence(host: str, said: str) -> None:
    with pytest.raises(BadConfig, match=r"such as 127\.0\.0\.1") as told:
        listen(host, 0)
    assert said in str(told.value)


@pytest.mark.parametrize(
    ("code", "said"), [(errno.EACCES, "Port 80 is for administrators only"), (errno.EAFNOSUPPORT, "Address family not supported")]
)
def test_what_the_system_refuses_is_one_sentence(monkeypatch: pytest.MonkeyPatch, code: int, said: str) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(socket, "create_server", refuse)
    with pytest.raises(BadConfig, match=said):
        listen("::1", 80)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "0.0.0.0", "", "::1", "[::1]", "::"])
def test_an_address_of_this_machine_takes_connections(host: str) -> None:
    if ":" in host and not socket.has_ipv6:
        pytest.skip(missing("IPv6", "a machine need not have it"))
    with listen(host, 0) as listener:
        place = "::1" if ":" in host else "127.0.0.1"
        socket.create_connection((place, listener.getsockname()[1]), timeout=5).close()
    assert write_address("[::1]", 80) == write_address("::1", 80) == "http://[::1]:80"
    assert write_address("localhost", 1) == "http://localhost:1"


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
