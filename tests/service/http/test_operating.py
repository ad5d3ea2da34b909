"""Leaving it running: settings, keys, limits, a bounded queue, clients that leave, an index swapped under load, logs, metrics."""

from __future__ import annotations

import hashlib
import io
import json
import logging
import os
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.testclient import TestClient
from prometheus_client import REGISTRY
from typer.testing import CliRunner

from counterpoint.indexes.update import update
from counterpoint.retrieval.bm25 import lucene
from counterpoint.retrieval.core import result_cache as kept
from counterpoint.retrieval.core.errors import BadConfig
from counterpoint.retrieval.core.values import Claim
from counterpoint.retrieval.index import Index
from counterpoint.service.baseline.grounder import BaselineGrounder
from counterpoint.service.cli.commands import app as command_line
from counterpoint.service.grounding.ground import Grounder
from counterpoint.service.operating.live_index import LiveIndex, Maker
from counterpoint.service.operating.settings import Settings, find_origins, hand_down, load_settings, show_settings
from counterpoint.service.serve import logs
from tests.helpers.fakes import make_grounder, make_index
from tests.helpers.ready import wait_until
from tests.helpers.served import opened, over_fakes, serving

CLAIM = {"claim": "zeta changes pressure"}
KEY = "a-key-that-is-long-enough"
DOCUMENTS = [
    {"pmid": "1", "title": "One", "abstract": "Zeta is not against pressure."},
    {"pmid": "2", "title": "Two", "abstract": "Zeta is for pressure."},
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_index(tmp_path_factory.mktemp("operating"), DOCUMENTS).folder


def opened_with(folder: Path, settings: Settings) -> AbstractContextManager[TestClient]:
    return opened(over_fakes(folder, settings))


class Gate:
    """Holds every grounding until it is opened, and counts what began and what was told after its first stage."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.open, self.begun, self.done = threading.Event(), threading.Semaphore(0), 0
        whole = Grounder.ground

        def held(grounder: Grounder, claim: Claim, on_stage: Any = None, **more: Any) -> Any:
            self.begun.release()
            assert self.open.wait(20)
            found = whole(grounder, claim, on_stage, **more)
            self.done += 1
            return found

        monkeypatch.setattr(Grounder, "ground", held)


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    made = Gate(monkeypatch)
    yield made
    made.open.set()


def ended(path: str) -> float:
    """The requests to a path that ended, however they did."""
    labels = [{"method": "POST", "route": path, "status": status} for status in ("200", "499")]
    return sum(REGISTRY.get_sample_value("counterpoint_request_seconds_count", one) or 0 for one in labels)


# Settings


def test_the_command_line_comes_before_the_environment_before_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text("port: 1\nhost: file\nthreads: 7\n")
    monkeypatch.setenv("COUNTERPOINT_SETTINGS", str(file))
    monkeypatch.setenv("COUNTERPOINT_PORT", "2")
    monkeypatch.setenv("COUNTERPOINT_HOST", "environment")
    settings = load_settings(host="line", port=None)
    assert (settings.host, settings.port, settings.threads, settings.waiting) == ("line", 2, 7, 32)
    named = find_origins({"host": "line", "port": None})
    assert [named[name] for name in ("host", "port", "threads", "waiting")] == [
        "command line", "environment", "file", "default",
    ]  # fmt: skip


def test_the_layers_below_are_told_what_the_file_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text(f"cache: {tmp_path / 'kept'}\ncache_mb: 64\njvm_heap: 256m\n")
    for name in ("CACHE", "CACHE_MB", "JVM_HEAP"):
        monkeypatch.setenv(f"COUNTERPOINT_{name}", "")  # the file's comes before none
    # So that what is told goes when the test is over.
    monkeypatch.setattr(kept, "_chosen", None)
    monkeypatch.setattr(lucene, "_heap", None)
    before = dict(os.environ)
    monkeypatch.setenv("COUNTERPOINT_SETTINGS", str(file))
    hand_down(load_settings())
    assert (kept.get_cache_folder(), kept.get_cache_megabytes(), lucene.get_heap_size()) == (tmp_path / "kept", 64, "256m")
    assert dict(os.environ) == {**before, "COUNTERPOINT_SETTINGS": str(file)}
    file.write_text("jvm_heap: plenty\n")
    with pytest.raises(BadConfig, match="512m or 4g, not 'plenty'"):
        hand_down(load_settings())


def test_no_key_is_ever_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COUNTERPOINT_KEYS", json.dumps({"alice": KEY}))
    settings = load_settings()
    assert KEY not in repr(settings) + str(show_settings(settings)) + CliRunner().invoke(command_line, ["config"]).output
    assert show_settings(settings)["keys"] == "alice: hidden"
    monkeypatch.setenv("COUNTERPOINT_KEYS", json.dumps({"alice": "sha256:secret-and-wrong"}))
    with pytest.raises(BadConfig) as fault:
        load_settings()
    assert "secret-and-wrong" not in str(fault.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("prot: 1", "The setting prot, from the file, is unknown; the known setting nearest to it is port."),
        ("port: x", "The setting port, from the file, should be a whole number, not the text 'x'."),
        ("port: 0", "The setting port, from the file, should be at least 1, not 0."),
        ("- 1", "should be a YAML mapping"),
        ("log_format: xml", "should be text or json, not the text 'xml'."),
        ("keys: secret", "The setting keys, from the file, should be an object."),
        ("rate: often", "60/minute"),
        ("keys: {a: short}", "shorter than 16"),
        ("keys: {a: key with blanks inside}", "the key of 'a' has a space"),
    ],
)
def test_a_wrong_settings_file_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, told: str) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text(text)
    monkeypatch.setenv("COUNTERPOINT_SETTINGS", str(file))
    result = CliRunner().invoke(command_line, ["config"])
    assert result.exit_code == 2 and told in result.stderr and len(result.stderr.splitlines()) == 1


# Keys and rates


@pytest.mark.parametrize("kept", [KEY, "sha256:" + hashlib.sha256(KEY.encode()).hexdigest()])
def test_only_a_known_key_is_let_in(folder: Path, kept: str) -> None:
    with opened_with(folder, Settings.model_validate({"keys": {"bob": "another-key-of-bob", "alice": kept}})) as client:
        assert client.post("/v1/ground", json=CLAIM, headers={"Authorization": f"Bearer {KEY}"}).status_code == 200
        assert client.post("/ground", json=CLAIM, headers={"X-API-Key": KEY}).status_code == 200
        assert client.get("/metrics", headers={"X-API-Key": KEY}).status_code == 200
        for headers in ({}, {"X-API-Key": KEY + "x"}, {"X-API-Key": kept.replace(KEY, "")}, {"Authorization": f"Basic {KEY}"}):
            response = client.post("/v1/ground", json=CLAIM, headers=headers)
            assert (response.status_code, response.headers["www-authenticate"]) == (401, "Bearer")
            assert "API key" in response.json()["detail"]
        assert [client.get(path).status_code for path in ("/metrics", "/v1/search?q=x", "/v1/documents/1")] == [401] * 3
        assert [client.get(path).status_code for path in ("/health", "/openapi.json")] == [200] * 2


def test_each_key_has_its_own_rate_and_a_batch_counts_every_claim(folder: Path) -> None:
    settings = Settings.model_validate({"keys": {"a": KEY, "b": KEY + "b"}, "rate": "3/minute"})
    with opened_with(folder, settings) as client:
        a, b = {"X-API-Key": KEY}, {"X-API-Key": KEY + "b"}
        assert [client.post("/ground", json=CLAIM, headers=a).status_code for _ in range(4)] == [200, 200, 200, 429]
        refused = client.post("/ground", json=CLAIM, headers=a)
        assert 1 <= int(refused.headers["retry-after"]) <= 60
        assert "3 per 1 minute" in refused.json()["detail"]
        assert client.post("/v1/ground/batch", json={"claims": [CLAIM] * 4}, headers=b).status_code == 429
        assert client.post("/v1/ground/batch", json={"claims": [CLAIM] * 2}, headers=b).status_code == 200


# The queue


def test_a_full_queue_is_503_with_a_time_to_try_again_and_what_was_accepted_is_answered(folder: Path, gate: Gate) -> None:
    with opened_with(folder, Settings(threads=1, waiting=1)) as client, ThreadPoolExecutor(2) as pool:
        accepted = [pool.submit(client.post, "/ground", json=CLAIM)]
        assert gate.begun.acquire(timeout=10)
        accepted.append(pool.submit(client.post, "/ground", json=CLAIM))
        wait_until(lambda: REGISTRY.get_sample_value("counterpoint_queue_waiting") == 1)
        for path in ("/v1/ground", "/v1/ground/stream", "/v1/search?q=x"):
            refused = client.get(path) if "search" in path else client.post(path, json=CLAIM)
            assert (refused.status_code, refused.headers["retry-after"]) == (503, "10")
            assert "already waiting" in refused.json()["detail"]
        assert client.get("/health").status_code == 200
        gate.open.set()
        assert [one.result().status_code for one in accepted] == [200, 200]


def test_work_that_takes_too_long_is_stopped_and_its_thread_freed(folder: Path, gate: Gate) -> None:
    with opened_with(folder, Settings(threads=1, work_seconds=0.1)) as client:
        refused = client.post("/ground", json=CLAIM)
        assert (refused.status_code, "was stopped" in refused.json()["detail"]) == (503, True)
        gate.open.set()
        assert client.get("/v1/documents/1").status_code == 200
        assert gate.done == 0


@pytest.mark.parametrize("path", ["/v1/ground", "/v1/ground/stream", "/v1/ground/batch"])
def test_a_client_that_leaves_frees_its_work(folder: Path, gate: Gate, path: str) -> None:
    body = {"claims": [CLAIM] * 50} if "batch" in path else CLAIM
    before = ended(path)
    with serving(over_fakes(folder, Settings(threads=1))) as (url, _server):
        with httpx.Client(base_url=url) as client, pytest.raises(httpx.ReadTimeout):
            client.post(path, json=body, timeout=0.3)
        assert gate.begun.acquire(timeout=10)
        wait_until(lambda: ended(path) > before)
        gate.open.set()
        assert httpx.get(f"{url}/v1/documents/1").status_code == 200
        assert gate.done == 0


def test_a_server_that_is_stopped_answers_what_it_accepted(folder: Path, gate: Gate) -> None:
    with serving(over_fakes(folder)) as (url, server), ThreadPoolExecutor(2) as pool:
        accepted = [pool.submit(httpx.post, f"{url}{path}", json=CLAIM) for path in ("/v1/ground", "/v1/ground/stream")]
        assert gate.begun.acquire(timeout=10) and gate.begun.acquire(timeout=10)
        server.should_exit = True
        time.sleep(0.3)
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"{url}/health")
        gate.open.set()
        plain, stream = (one.result() for one in accepted)
        assert plain.status_code == 200
        assert "event: grounding" in stream.text


@pytest.mark.parametrize("path", ["/v1/ground", "/v1/answer/stream"])
@pytest.mark.parametrize("length", ["content-length: 500", "transfer-encoding: chunked"])
def test_a_body_that_trickles_in_is_cut_off_and_takes_no_thread(folder: Path, path: str, length: str) -> None:
    piece = b" " if "length" in length else b"1\r\n \r\n"
    with serving(over_fakes(folder, Settings(threads=1, waiting=0, body_seconds=0.4))) as (url, _server):
        address = httpx.URL(url)
        with socket.create_connection((address.host, address.port or 80), timeout=10) as slow:
            slow.sendall(f"POST {path} HTTP/1.1\r\nhost: [::1]\r\ncontent-type: application/json\r\n{length}\r\n\r\n".encode())
            began, told = time.monotonic(), b""
            assert httpx.post(f"{url}/v1/ground", json=CLAIM).status_code == 200
            slow.settimeout(0.05)
            while not told and time.monotonic() - began < 10:
                slow.sendall(piece)
                with suppress(TimeoutError):
                    told = slow.recv(65536)
            took = time.monotonic() - began
            slow.settimeout(5)
            with suppress(ConnectionResetError):
                while more := slow.recv(65536):
                    told += more
    head, _, body = told.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 408 ") and b"\r\nconnection: close" in head.lower()
    assert json.loads(body)["type"] == "urn:counterpoint:problem:too-slow" and "0.4 seconds" in json.loads(body)["detail"]
    assert 0.3 < took < 5


# A changed index


def test_an_index_updated_under_load_is_taken_without_a_failed_request(tmp_path: Path) -> None:
    folder = make_index(tmp_path, DOCUMENTS).folder
    stop, statuses = threading.Event(), list[int]()
    with opened_with(folder, Settings(reload_seconds=0.05)) as client:

        def ask() -> None:
            while not stop.is_set():
                statuses.append(client.post("/ground", json=CLAIM).status_code)
                statuses.append(client.post("/answer", json={"question": "Is zeta for pressure?"}).status_code)

        threads = [threading.Thread(target=ask) for _ in range(3)]
        for thread in threads:
            thread.start()
        for version in (3, 4):
            source = tmp_path / f"more{version}.jsonl"
            source.write_text(json.dumps({"pmid": str(version), "title": "", "abstract": "Zeta is for pressure."}))
            update(folder, [source])
            wait_until(lambda version=version: client.get("/health").json()["documents"] == version)  # type: ignore[misc]
        stop.set()
        for thread in threads:
            thread.join()
        assert client.get("/v1/documents/4").status_code == 200
    assert len(statuses) > 10 and set(statuses) == {200}


def test_an_index_that_was_damaged_is_not_taken(tmp_path: Path) -> None:
    folder = make_index(tmp_path, DOCUMENTS).folder
    with opened_with(folder, Settings(reload_seconds=0.05)) as client:
        (folder / "manifest.json").write_text("{")
        time.sleep(0.3)
        assert client.post("/ground", json=CLAIM).status_code == 200
        assert client.get("/health").status_code == 200


def test_an_index_that_fails_as_nobody_foresaw_is_closed_again_and_taken_once_it_can_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_index(tmp_path, DOCUMENTS).folder
    live = LiveIndex("own", folder, Maker(lambda one: make_grounder(one)[0], None))
    live.ready()
    source = tmp_path / "more.jsonl"
    source.write_text(json.dumps({"pmid": "3", "title": "", "abstract": "Zeta is for pressure."}))
    update(folder, [source])
    closed: list[int] = []
    close = Index.close

    def closing(self: Index) -> None:
        closed.append(self.manifest.version)
        close(self)

    def broken(self: Grounder, index: Index) -> Grounder:
        raise RuntimeError("nobody foresaw this")

    monkeypatch.setattr(Index, "close", closing)
    with monkeypatch.context() as patch:
        patch.setattr(BaselineGrounder, "over", broken)
        for _ in range(3):
            with pytest.raises(RuntimeError):
                live.refresh()
    assert closed == [2, 2, 2]
    assert live.ready().index.manifest.version == 1
    assert live.refresh()
    assert live.ready().index.manifest.version == 2
    live.close()


# Logs and metrics


@pytest.mark.parametrize("format", ["json", "text"])
@pytest.mark.parametrize("claims", [False, True])
def test_the_log_has_a_line_a_request_and_claims_only_where_asked(
    folder: Path, monkeypatch: pytest.MonkeyPatch, format: str, claims: bool
) -> None:
    written = io.StringIO()
    monkeypatch.setattr("sys.stderr", written)
    root, before = logging.getLogger(), logging.getLogger().handlers[:]
    settings = Settings.model_validate({"log_format": format, "log_claims": claims})
    logs.configure(settings)
    try:
        with opened_with(folder, settings) as client:
            forged = {"claim": 'Zeta lowers pressure.\n{"level": "forged"}'}
            client.post("/v1/ground", json=forged, headers={"X-Request-ID": "mine-1"})
            client.get("/v1/documents/x%0Aforged%0d", headers={"X-Request-ID": "a\tb"})
            client.get("/%0Aforged")
    finally:
        root.handlers[:] = before
        logging.raiseExceptions = True
    lines = written.getvalue().splitlines()
    (line,) = [one for one in lines if "mine-1" in one]
    assert ("Zeta" in line) is claims
    assert not [one for one in lines if one.startswith(("forged", '{"level": "forged'))]
    if format == "json":
        read = [json.loads(one) for one in lines]
        assert {"method": "POST", "route": "/v1/ground", "status": 200}.items() <= json.loads(line).items()
        assert read[-1]["route"] == "unknown"


def test_metrics_by_route_and_stage(folder: Path) -> None:
    with opened_with(folder, Settings()) as client:
        client.post("/v1/ground", json=CLAIM)
        client.post("/v1/answer", json={"question": "Is zeta for pressure?"})
        client.get("/v1/documents/1")
        client.get("/nothing/here")
        text = client.get("/metrics").text
    assert 'counterpoint_request_seconds_count{method="GET",route="/v1/documents/{pmid}",status="200"}' in text
    assert 'route="unknown",status="404"' in text and "nothing/here" not in text
    assert 'counterpoint_stage_seconds_count{stage="read",work="ground"}' in text
    assert 'counterpoint_stage_seconds_count{stage="find",work="answer"}' in text
    assert "\ncounterpoint_read_sentences_total " in text
    assert "counterpoint_llm_tokens_total" in text or "counterpoint_llm_requests_total" in text
    assert "counterpoint_queue_working 0.0" in text


def test_who_waits_too_long_is_told(folder: Path, gate: Gate) -> None:
    with opened_with(folder, Settings(threads=1, wait_seconds=0.1)) as client, ThreadPoolExecutor(1) as pool:
        accepted = pool.submit(client.post, "/ground", json=CLAIM)
        assert gate.begun.acquire(timeout=10)
        refused = client.post("/ground", json=CLAIM)
        assert (refused.status_code, "retry-after" in refused.headers) == (503, True)
        gate.open.set()
        assert accepted.result().status_code == 200


@pytest.mark.parametrize(
    ("variable", "value", "told"),
    [
        ("WORKERS", "two", "The setting workers, from the environment, should be a whole number, not the text 'two'."),
        ("PROT", "1", "PROT, from the environment, is unknown; the known setting nearest to it is COUNTERPOINT_PORT."),
        ("KEYS", "secret", 'keys, from the environment, should be a JSON object, as in COUNTERPOINT_KEYS={"clinic": "KEY"}.'),
    ],
)
def test_a_wrong_variable_is_one_sentence(monkeypatch: pytest.MonkeyPatch, variable: str, value: str, told: str) -> None:
    monkeypatch.setenv(f"COUNTERPOINT_{variable}", value)
    result = CliRunner().invoke(command_line, ["config"])
    assert result.exit_code == 2 and told in result.stderr and len(result.stderr.splitlines()) == 1
    assert "secret" not in result.stderr


def test_variables_that_are_empty_or_no_settings_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COUNTERPOINT_DATA", "somewhere")
    monkeypatch.setenv("COUNTERPOINT_PROGRESS", "1")
    monkeypatch.setenv("COUNTERPOINT_PROT", "")
    assert load_settings().port == 8000


def test_a_bare_off_in_a_settings_file_is_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "settings.yaml").write_text("cache: off\nstate: off\n", "utf-8")
    monkeypatch.setenv("COUNTERPOINT_SETTINGS", str(tmp_path / "settings.yaml"))
    assert (load_settings().cache, load_settings().state) == ("off", "off")


def test_a_settings_file_and_a_folder_of_libraries_that_are_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "no folder /nowhere; give --libraries" in CliRunner().invoke(command_line, ["serve", "--libraries", "/nowhere"]).stderr
    monkeypatch.setenv("COUNTERPOINT_SETTINGS", "/nowhere.yaml")
    assert "no settings file at /nowhere.yaml" in CliRunner().invoke(command_line, ["config"]).stderr
