"""Which requests are taken at all, those of pages of other sites not among them; and errors that nobody foresaw."""

from __future__ import annotations

import errno
import http.client
import json
import logging
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from fastapi.testclient import TestClient

from counterpoint.retrieval.core.errors import BadConfig
from counterpoint.service.grounding.ground import Grounder
from counterpoint.service.http.app import create_app
from counterpoint.service.memory.history import History
from counterpoint.service.operating.libraries import Libraries
from counterpoint.service.operating.settings import Settings, load_settings, show_settings
from counterpoint.service.schemas import Sent
from counterpoint.service.serve.logs import JsonLines
from tests.helpers.fakes import make_grounder, make_index
from tests.helpers.ready import wait_until_ready
from tests.helpers.served import over_fakes, serving

CLAIM = {"claim": "zeta changes pressure"}
EVIL = "http://evil.example"


def list_bodies(url: str) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    """Every call of the API that takes JSON: its method, its path, and the name and schema of its body."""
    description = httpx.get(f"{url}/openapi.json").json()
    for path, operations in description["paths"].items():
        for method, operation in operations.items():
            content = operation.get("requestBody", {}).get("content", {})
            if reference := content.get("application/json", {}).get("schema", {}).get("$ref"):
                yield method, path, reference, description["components"]["schemas"][reference.rpartition("/")[2]]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A service with a memory, on loopback, over real connections."""
    document = {"pmid": "1", "title": "", "abstract": "Zeta is for pressure."}
    folder = make_index(tmp_path_factory.mktemp("senders"), [document]).folder
    settings = Settings(state=str(tmp_path_factory.mktemp("memory")), hosts=("papers.example", "[2001:db8::1]"))
    with serving(over_fakes(folder, settings)) as (url, _server):
        yield url


def asked(url: str, host: str | None, method: str = "GET", path: str = "/v1/history") -> int:
    """The status that a request with this Host header gets."""
    place = urlsplit(url)
    connection = http.client.HTTPConnection(place.hostname or "", place.port)
    connection.putrequest(method, path, skip_host=True)
    if host is not None:
        connection.putheader("Host", host)
    connection.endheaders()
    status = connection.getresponse().status
    connection.close()
    return status


def list_models(model: type[Sent]) -> Iterator[type[Sent]]:
    for one in model.__subclasses__():
        yield one
        yield from list_models(one)


def test_an_optional_field_that_is_null_is_one_left_out_on_every_route(url: str) -> None:
    answered = 0
    for method, path, name, schema in list_bodies(url):
        example, required = schema.get("examples", [{"query": "zinc"}])[0], schema.get("required", [])
        plain = {field: example[field] for field in example if field in (required or example) or field in ("sentences", "k")}
        if "pmid" in plain:
            plain["pmid"] = "1"
        if "claims" in plain:
            plain["claims"] = [plain["claims"][0] | {"question": None, "known_pmids": None, "read": None, "full_text": None}]
        nulls = {field: None for field in schema["properties"] if field not in plain}
        model = next(one for one in list_models(Sent) if one.__name__ == name.rpartition("/")[2])
        assert model.model_validate(plain | nulls) == model.model_validate(plain)
        answers = [httpx.request(method, f"{url}{path}", json=body, timeout=60) for body in (plain, plain | nulls)]
        if answers[0].status_code == 403:
            continue  # of those who may change libraries
        assert [answer.status_code for answer in answers] == [200, 200], (path, name, answers[1].text)
        assert '"status":422' not in answers[1].text, (path, name, answers[1].text)
        answered += 1
        for field in required:
            without = httpx.request(method, f"{url}{path}", json=plain | {field: None}, timeout=60)
            assert without.status_code == 422, (path, name, field)
    assert answered >= 14


@pytest.mark.parametrize(
    "host",
    [
        "localhost", "localhost:8000", "LocalHost:1", "localhost.", "127.0.0.1", "127.0.0.1:9", "127.1.2.3", "[::1]:8000",
        "[::1]", "[0:0:0:0:0:0:0:1]:80", "papers.example", "PAPERS.example:443", "papers.example.", "[2001:db8::1]:8000",
    ],
)  # fmt: skip
def test_a_service_on_loopback_answers_to_its_own_hosts_on_every_port(url: str, host: str) -> None:
    assert asked(url, host) == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example", "evil.example:8000", "EVIL.example.", "127.0.0.1.evil.example", "localhost.evil.example",
        "evil.localhost.example", "notlocalhost", "papers.example.evil.example", "10.0.0.1", "0.0.0.0", "[2001:db8::2]", "",
        "localhost@evil.example", "evil.example@localhost", "localhost/evil.example", "localhost:x", "[::1", "::1]", "*",
    ],
)  # fmt: skip
def test_a_service_on_loopback_answers_to_no_other(url: str, host: str) -> None:
    for call in ("GET /v1/history", "HEAD /health", "GET /", "DELETE /v1/memory", "GET /nothing"):
        method, path = call.split()
        # The HTTP library itself refuses some of them as no host at all.
        assert asked(url, host, method, path) in (403, 400), call


def test_the_refusal_says_what_to_set(url: str) -> None:
    refused = httpx.get(f"{url}/v1/history", headers={"Host": "evil.example:80"})
    problem = refused.json()
    assert (refused.status_code, refused.headers["content-type"]) == (403, "application/problem+json")
    assert "“evil.example:80”" in problem["detail"] and "COUNTERPOINT_HOSTS" in problem["detail"]
    assert problem["request_id"] == refused.headers["x-request-id"] and refused.headers["connection"] == "close"
    assert len(httpx.get(url, headers={"Host": "e" * 5000}).json()["detail"]) < 300


def test_a_page_of_another_site_can_neither_post_nor_delete(url: str) -> None:
    assert httpx.post(f"{url}/v1/ground", json=CLAIM).status_code == 200, "a program sends no Origin"
    kept = httpx.get(f"{url}/v1/history").json()["entries"]
    assert kept
    for headers in (
        *({"Origin": one} for one in (EVIL, "http://localhost:3000", "null", "", f"{EVIL}@{urlsplit(url).netloc}")),
        *({"Sec-Fetch-Site": one} for one in ("cross-site", "same-site")),
        *({"Origin": EVIL, "Content-Type": one} for one in ("text/plain", "application/x-www-form-urlencoded")),
    ):
        for method, path in (("POST", "/v1/ground"), ("DELETE", "/v1/memory"), ("DELETE", "/v1/history"), ("POST", "/ground")):
            refused = httpx.request(method, f"{url}{path}", headers=headers, content=b'{"claim": "zeta works"}')
            assert refused.status_code == 403 and "another site" in refused.json()["detail"], (method, headers)
    assert httpx.get(f"{url}/v1/history").json()["entries"] == kept
    # Reading needs no protection here: the browser gives the response to no other site's page.
    assert httpx.get(f"{url}/health", headers={"Origin": EVIL}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "SAME"},
        {"Origin": "SAME", "Sec-Fetch-Site": "same-origin"},
        {"Sec-Fetch-Site": "none"},
        {"Origin": "https://papers.example"},
        {"Origin": "null", "Sec-Fetch-Site": "same-origin"},
    ],
)
def test_the_services_own_page_may_post(url: str, headers: dict[str, str]) -> None:
    sent = {name: value.replace("SAME", url) for name, value in headers.items()}
    assert httpx.post(f"{url}/v1/ground", json=CLAIM, headers=sent).status_code == 200


def statuses(settings: Settings, *hosts: str) -> list[int]:
    client = TestClient(create_app(Libraries(), settings))
    return [client.get("/docs", headers={"Host": host}).status_code for host in hosts]


def test_a_service_that_others_reach_answers_to_addresses_and_its_own_name() -> None:
    hosts = ("10.0.0.1:8000", "[2001:db8::2]", "localhost:9000", socket.gethostname(), "evil.example", "papers.example")
    assert statuses(Settings(host="0.0.0.0", hosts=()), *hosts) == [200, 200, 200, 200, 403, 403]
    assert statuses(Settings(host="papers.example", hosts=()), *hosts) == [200, 200, 200, 200, 403, 200]
    assert statuses(Settings(host="::", hosts=("*",)), *hosts) == [200] * 6
    for host in ("::1", "localhost", "127.0.0.2"):
        assert statuses(Settings(host=host, hosts=()), *hosts[:3], "127.0.0.1") == [403, 403, 200, 200]


def test_the_names_are_settings_and_a_wrong_one_is_one_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COUNTERPOINT_HOSTS", "Papers.Example, [::1],  2001:DB8::1 ,")
    settings = load_settings()
    assert settings.hosts == ("papers.example", "::1", "2001:db8::1")
    assert show_settings(settings)["hosts"] == "papers.example, ::1, 2001:db8::1"
    monkeypatch.delenv("COUNTERPOINT_HOSTS")
    file = tmp_path / "settings.yaml"
    file.write_text("hosts: [a.example, b.example]")
    monkeypatch.setenv("COUNTERPOINT_SETTINGS", str(file))
    assert load_settings().hosts == ("a.example", "b.example")
    for wrong in ("https://papers.example", "papers.example:443", "papers example", "a/b", "*.example", "ü.example"):
        monkeypatch.setenv("COUNTERPOINT_HOSTS", wrong)
        with pytest.raises(BadConfig, match="names of hosts without http:// and port"):
            load_settings()


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
    with TestClient(create_app(Libraries(folder, None, lambda one: make_grounder(one)[0]), settings)) as opened:
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
    monkeypatch.setattr(History, "find", fail)
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
