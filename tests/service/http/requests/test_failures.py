"""Errors that nobody foresaw, wherever they are raised: one sentence as problem details, logged with the id of the request."""

from __future__ import annotations

import errno
import json
import logging
from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from retrieval.index import Index
from service.grounding.ground import Grounder
from service.http.app import create_app
from service.memory.memory import Memory
from service.operating.settings import Settings
from service.serve.logs import JsonLines
from tests.helpers.fakes import make_grounder, make_index
from tests.helpers.ready import wait_until_ready

FAULTS: list[tuple[Exception, int, str]] = [
    (OSError(errno.EIO, "Input/output error", "/secret/file"), 500, "(Input/output error)"),
    (OSError(errno.ENOSPC, "No space left on device", "/secret/file"), 507, "(No space left on device)"),
    (OSError("secret"), 500, "could not be answered"),
    (UnicodeEncodeError("utf-8", "secret \ud800", 7, 8, "surrogates not allowed"), 500, "could not be answered"),
    (MemoryError("secret"), 503, "too little memory"),
    (RecursionError("secret"), 422, "nested too deeply"),
    (KeyError("secret"), 500, "could not be answered"),
]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    document = {"pmid": "1", "title": "One", "abstract": "Zeta is not against pressure."}
    folder = make_index(tmp_path_factory.mktemp("failures"), [document]).folder
    settings = Settings(state=str(tmp_path_factory.mktemp("memory")))
    with TestClient(create_app(lambda: make_grounder(Index(folder))[0], settings=settings)) as opened:
        wait_until_ready(opened)
        yield opened


@pytest.mark.parametrize(("fault", "status", "told"), FAULTS)
@pytest.mark.parametrize("call", ["POST /v1/ground", "POST /v1/ground/stream", "GET /v1/history", "GET /openapi.json"])
def test_a_failure_is_one_sentence_and_is_logged_with_its_id(
    client: TestClient, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch,
    call: str, fault: Exception, status: int, told: str,
) -> None:  # fmt: skip
    def fail(*_: object, **__: object) -> None:
        raise fault

    # In a thread of work, in a stream, in a thread of the framework, and on the event loop.
    monkeypatch.setattr(Grounder, "ground", fail)
    monkeypatch.setattr(Memory, "history", property(fail))
    monkeypatch.setattr(client.app, "openapi", fail)
    method, path = call.split()
    with caplog.at_level(logging.ERROR):
        body = {"claim": "Zeta lowers pressure."} if method == "POST" else None
        response = client.request(method, path, json=body, headers={"X-Request-ID": "seen-in-the-log"})
    if "stream" in path:
        problem = json.loads(response.text.rpartition("data: ")[2])
    else:
        assert (response.status_code, response.headers["content-type"]) == (status, "application/problem+json")
        problem = response.json()
    assert (problem["status"], problem["request_id"]) == (status, "seen-in-the-log")
    assert told in problem["detail"] and "secret" not in problem["detail"]
    assert problem["detail"].endswith(".") and "\n" not in problem["detail"]
    [record] = [one for one in caplog.records if one.levelno >= logging.ERROR]
    line = json.loads(JsonLines(False).format(record))
    assert line["exception"] == type(fault).__name__ and line["frames"] and "secret" not in json.dumps(line)
