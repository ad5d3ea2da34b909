"""Claims and questions over HTTP: bodies, batches, streams, formats; every fault as problem details with the request's id."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from counterpoint.retrieval.cluster.client import ClusterBusy
from counterpoint.retrieval.core.errors import BadConfig, IndexUnusable
from counterpoint.retrieval.index import Index
from counterpoint.retrieval.runtime.chat import ChatUnanswered
from counterpoint.service.grounding.ground import Grounder
from counterpoint.service.http import app as module
from counterpoint.service.http.app import create_app
from counterpoint.service.operating.libraries import Libraries
from counterpoint.service.operating.settings import Settings
from tests.helpers.answer_fakes import ScriptedGenerator
from tests.helpers.fakes import make_grounder, make_index
from tests.helpers.ready import wait_until, wait_until_ready
from tests.helpers.served import opened, over_fakes, over_reader, read_events, serving

CLAIM = {"claim": "zeta changes pressure"}
QUESTION = {"question": "Does omega lower blood sugar?", "id": "7"}
OMEGA = "Omega lowers blood sugar in most adults with diabetes."
ROUTES = ["/v1/ground", "/v1/ground/batch", "/v1/ground/stream", "/v1/answer", "/v1/answer/stream", "/v1/evidence"]
JSON = {"content-type": "application/json"}
LIBRARY = re.compile("Input should|Field required|JSON decode|Extra inputs|valid (string|integer)|after validation|GroundRequest")
"""Words of pydantic's, none of which a client should ever read."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    documents: list[dict[str, Any]] = [
        {"pmid": "1", "title": "One", "abstract": "Zeta is not against pressure.", "year": 1999, "types": ["Review"]},
        {"pmid": "2", "title": "Two", "abstract": "Zeta is for pressure.", "retracted": True},
        {"pmid": "101", "title": "Best", "abstract": OMEGA},
        *({"pmid": f"x{i}", "title": "", "abstract": f"Filler number {i}."} for i in range(20)),
    ]
    return make_index(tmp_path_factory.mktemp("api"), documents).folder


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[TestClient]:
    with opened(over_fakes(folder, Settings(body_bytes=200_000)), errors=False) as client:
        yield client


def problem(response: Any, status: int) -> dict[str, Any]:
    """The problem that a response holds, whole and with the request's id."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    body: dict[str, Any] = response.json()
    assert set(body) == {"type", "title", "status", "detail", "request_id", "error"}
    assert body["status"] == status and body["detail"] == body["error"] and "\n" not in body["detail"]
    assert body["request_id"] == response.headers["x-request-id"]
    assert not LIBRARY.search(body["detail"]), body["detail"]
    return body


def events(client: TestClient, path: str, body: object) -> list[tuple[str, dict[str, Any]]]:
    return read_events(client.post(path, json=body).text)


def test_ground_answers_with_both_sides_by_its_old_name_too(client: TestClient) -> None:
    body = client.post("/v1/ground", json=CLAIM).json()
    [against], [support] = body["contradicting"], body["supporting"]
    assert (against["pmid"], support["pmid"], support["retracted"]) == ("1", "2", True)
    assert against["sentence"] == {"index": 0, "start": 0, "end": 29, "text": "Zeta is not against pressure."}
    assert (against["negations"][0]["cue"], against["year"], against["types"]) == ("not", 1999, ["Review"])
    assert against["verdict"]["of"] == "sentence"
    models = {"relevance": "word-reranker@1", "sentences": "word-judge@1", "stance": "word-judge@1"}
    assert (body["provenance"]["models"], body["provenance"]["config"]) == (models, "v5")
    assert client.post("/ground", json=CLAIM).json() == body


def test_where_papers_are_read_whole_the_verdict_says_so_and_the_stream_tells_each(folder: Path) -> None:
    with opened(over_reader(folder)) as reading:
        body = reading.post("/v1/ground", json={**CLAIM, "read": 2}).json()
        told = events(reading, "/v1/ground/stream", {**CLAIM, "read": 2})
        few = problem(reading.post("/v1/ground", json={**CLAIM, "read": 0}), 422)
        for wrong in ({"read": True}, {"read": "2"}, {"known_pmids": [True]}):
            problem(reading.post("/v1/ground", json={**CLAIM, **wrong}), 422)
    assert few["detail"] == "read should be at least 1, not 0; correct it."
    [against], [retracted] = body["contradicting"], body["uncertain"]
    assert (against["verdict"]["of"], against["verdict"]["label"]) == ("document", "contradict")
    assert against["score"] == against["verdict"]["contradict"] and retracted["score"] == retracted["verdict"]["support"]
    assert (retracted["standing"], body["supporting"]) == ("retracted", []), "it takes no side"
    assert against["sentence"]["text"] == "Zeta is not against pressure.", "the quotation stays"
    stages = [data for name, data in told if name == "stage"]
    assert [one["name"] for one in stages] == [
        "find", "gate", *["read"] * 3, "weigh",
    ]  # fmt: skip
    choosing = "Choosing the papers to read among 2."
    assert [one["detail"] for one in stages[1:5]] == [choosing, *(f"Read {done} of 2 papers." for done in range(3))]
    assert told[-1] == ("grounding", body)


def test_an_answer_has_its_citations_and_where_all_comes_from_and_its_stream_ends_with_it(client: TestClient) -> None:
    body = client.post("/v1/answer", json=QUESTION).json()
    assert (body["outcome"], body["text"]) == ("answered", f"{OMEGA[:-1]} [1].")
    (citation,) = body["sentences"][0]["citations"]
    assert (citation["number"], citation["pmid"], citation["verbatim"]) == (1, "101", True)
    assert citation["sentence"] == {"index": 0, "start": 0, "end": len(OMEGA), "text": OMEGA}
    assert body["documents"][0]["cited"] is True
    assert (body["topic"]["id"], body["words"], body["extractive"]) == ("7", 9, True)
    assert (body["provenance"]["config"], body["provenance"]["models"]["writer"]) == ("counterpoint", "extractive")
    assert body["usage"] == {"requests": 0, "prompt_tokens": 0, "completion_tokens": 0, "cost": None}
    assert client.post("/answer", json=QUESTION).json() == body
    for path in ("/v1/answer/stream", "/answer/stream"):
        told = events(client, path, QUESTION)
        assert [name for name, _ in told] == ["stage", "stage", "stage", "stage", "sentence", "answer"]
        assert told[4][1]["pmids"] == ["101"] and told[-1][1] == body


def test_a_generator_that_fails_is_502_and_the_streams_last_event(folder: Path) -> None:
    said = "The model m answered with HTTP status 500."
    with opened(over_fakes(folder, generator=ScriptedGenerator(error=ChatUnanswered(said)))) as failing:
        assert problem(failing.post("/v1/answer", json=QUESTION), 502)["detail"] == said
        name, last = events(failing, "/v1/answer/stream", QUESTION)[-1]
        assert (name, last["status"], last["detail"]) == ("error", 502, said)
        assert failing.post("/v1/ground", json=CLAIM).status_code == 200


@pytest.mark.parametrize(
    ("answering", "told"),
    [(None, "started without an answer variant"), (BadConfig("The profile mine has no generator."), "has no generator")],
)
def test_without_answers_the_rest_is_served(folder: Path, answering: BadConfig | None, told: str) -> None:
    def broken(_grounder: object) -> Any:
        assert answering
        raise answering

    with opened(create_app(Libraries(folder, None, lambda one: make_grounder(one)[0], broken if answering else None))) as client:
        for path in ("/v1/answer", "/v1/answer/stream"):
            assert told in problem(client.post(path, json=QUESTION), 503)["detail"]
        assert client.post("/v1/ground", json=CLAIM).status_code == 200


def test_a_batch_keeps_its_order_and_one_bad_claim_loses_no_other(client: TestClient) -> None:
    claims = [CLAIM, {"claim": ""}, {"claim": 3}, "x", {"clam": "y"}, None, {"claim": "filler has number 3"}]
    results = client.post("/v1/ground/batch", json={"claims": claims}).json()["results"]
    assert [one["index"] for one in results] == list(range(7))
    assert [one["status"] for one in results] == [200, 422, 422, 422, 422, 422, 200]
    assert results[0]["response"] == client.post("/v1/ground", json=CLAIM).json()
    assert "claim is empty" in results[1]["problem"]["detail"]
    assert [one["problem"]["detail"].split(";")[0] for one in results[2:6]] == [
        "claim should be a text, not the number 3", "A claim should be an object, not the text “x”",
        "clam is an unknown field", "A claim should be an object, not null",
    ]  # fmt: skip
    assert results[4]["response"] is None


@pytest.mark.parametrize("claims", [[], [CLAIM] * 101, "x", None])
def test_a_batch_has_1_to_100_claims(client: TestClient, claims: object) -> None:
    assert problem(client.post("/v1/ground/batch", json={"claims": claims}), 422)["detail"].startswith("claims ")


def test_keywords_get_no_verdict(client: TestClient) -> None:
    for body in ({"claim": "blood pressure"}, {"claim": "Finally, blood pressure."}):
        assert "no claim but keywords" in problem(client.post("/v1/ground", json=body), 422)["detail"]
        (many,) = client.post("/v1/ground/batch", json={"claims": [body]}).json()["results"]
        assert many["status"] == 422 and "no claim but keywords" in many["problem"]["detail"]
    typed = client.post("/v1/classify", json={"text": "blood pressure"}).json()
    assert typed["kind"] == "keywords" and typed["offers"] == ["search"]


@pytest.mark.parametrize(
    ("format", "media", "begins"),
    [("markdown", "text/markdown", "# "), ("ris", "application/x-research-info-systems", "TY  - GEN"),
     ("bibtex", "application/x-bibtex", "@misc{")],
)  # fmt: skip
@pytest.mark.parametrize(("path", "body"), [("/v1/ground", CLAIM), ("/v1/answer", QUESTION)])
def test_other_formats(client: TestClient, path: str, body: object, format: str, media: str, begins: str) -> None:
    response = client.post(f"{path}?format={format}", json=body)
    assert response.headers["content-type"].startswith(media) and response.text.lstrip().startswith(begins)
    assert "attachment" in response.headers["content-disposition"]


KNOWN = "(known fields: claim, question, known_pmids, read, full_text)."


@pytest.mark.parametrize(
    ("path", "body", "told"),
    [
        ("ground", {"claim": ""}, "claim is empty"),
        ("ground", {"claim": "a " * 50_000}, "99,999 characters"),
        ("ground", {}, f"claim is missing; give it {KNOWN}"),
        ("ground", {"claim": 3}, "claim should be a text, not the number 3; put it in quotation marks."),
        ("ground", {"claim": "x", "clam": "x"}, f"clam is an unknown field; correct it or leave it out {KNOWN}"),
        ("ground", {"claim": "x", "known\npmids": "1"}, "known pmids is an unknown field"),
        ("ground", {"claim": "x", "known_pmids": ["1", {}]}, "known_pmids[1] should be a text or a whole number, not an object"),
        ("ground", {"claim": "x", "known_pmids": list(range(1001))}, "known_pmids has 1001 entries"),
        (
            "ground?format=pdf",
            CLAIM,
            "format should be json, html, markdown, csv, xlsx, ris or bibtex, not the text “pdf”",
        ),
        ("ground/batch", CLAIM, "known fields: claims)"),
        ("answer", {"question": "  "}, "The question is empty"),
        ("answer/stream", {"question": "x", "claim": "y"}, "known fields: question, narrative, topic, id"),
    ],
)
def test_a_wrong_body_is_told_in_one_sentence(client: TestClient, path: str, body: object, told: str) -> None:
    assert told in problem(client.post(f"/v1/{path}", json=body), 422)["detail"]


@pytest.mark.parametrize(
    ("content", "status", "told"),
    [
        (b"{", 422, "The body is not valid JSON after 1 character;"),
        (b'{"claim": "a", }', 422, "The body is not valid JSON after 15 characters;"),
        (b"claim=x", 422, "The body is not JSON;"),
        (b"", 422, "The body is empty;"),
        (b"[]", 422, "The body should be an object, not a list;"),
        (b"\xff{", 400, ""),
    ],
)
def test_what_is_no_whole_json_is_told_in_words_of_ours(client: TestClient, content: bytes, status: int, told: str) -> None:
    detail = problem(client.post("/ground", content=content, headers=JSON), status)["detail"]
    example = 'send one JSON object, {"claim": …}.' if told else "send one JSON object in UTF-8."
    assert detail.startswith(told) and detail.endswith(example)
    other = client.post("/ground", content=b'{"claim": "x"}', headers={"content-type": "text/plain"}).json()["detail"]
    assert other.startswith("The body was not sent as JSON;") and other.endswith("the header Content-Type: application/json.")


HOSTILE = {
    "not UTF-8 inside": b'{"claim": "\xff"}', "open brackets": b"[" * 90_000,
    "deep": b'{"claim":' * 10_000 + b"1" + b"}" * 10_000, "long number": b'{"claim": 1' + b"0" * 10_000 + b"}",
    "NaN": b'{"claim": NaN, "question": Infinity}', "null": b"null", "none": b"", "text": b'"x"', "large": b" " * 200_001,
}  # fmt: skip


@pytest.mark.parametrize("path", ROUTES)
def test_a_hostile_body_is_a_problem(client: TestClient, path: str) -> None:
    for name, content in HOSTILE.items():
        response = client.post(path, content=content, headers=JSON)
        assert response.status_code in ({413} if name == "large" else {400, 422}), name
        problem(response, response.status_code)


def test_a_body_without_a_length_is_limited_too(client: TestClient) -> None:
    problem(client.post("/v1/ground", content=(b" " * 10_000 for _ in range(30)), headers=JSON), 413)


def test_what_is_not_there(client: TestClient) -> None:
    assert problem(client.get("/v2/ground"), 404)["detail"] == "There is nothing at this address."
    assert problem(client.get("/v1/ground"), 405)["type"] == "urn:counterpoint:problem:method-not-allowed"
    assert client.get("/v1/ground").headers["allow"] == "POST"


def test_head_is_answered_as_get_is_without_a_body(folder: Path) -> None:
    with serving(over_fakes(folder)) as (url, _server):
        paths = ["/", "/health", "/docs", "/favicon.ico", "/page/style.css", "/openapi.json", "/metrics"]
        paths += ["/v1/search?q=zeta", "/v1/documents/1", "/v1/documents/nobody", "/v1/search", "/nothing", "/v1/history"]
        for path in paths:
            got, head = httpx.get(f"{url}{path}"), httpx.head(f"{url}{path}")
            assert (head.status_code, head.content) == (got.status_code, b""), path
            assert head.headers["content-type"] == got.headers["content-type"]
            if path != "/metrics" and got.status_code < 400:  # the others hold counts and request ids
                assert head.headers["content-length"] == got.headers["content-length"]
        assert httpx.head(f"{url}/v1/ground").status_code == 405


# Loading


@contextmanager
def loading(*faults: Exception, folder: Path, gate: threading.Event | None = None) -> Iterator[TestClient]:
    """A service that meets these faults one after the other, and then loads once the gate is open."""
    left = list(faults)

    def load(index: Index) -> Grounder:
        if gate:
            gate.wait(20)
        if left:
            raise left.pop(0)
        return make_grounder(index)[0]

    with TestClient(create_app(Libraries(folder, None, load))) as client:
        yield client


AWAY = "The cluster at host:9200 accepts no connection; start it, or check the address."


def test_a_service_whose_cluster_is_away_says_so_and_answers_when_it_is_back(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "RETRY_SECONDS", 0.5)
    with loading(*[ClusterBusy(AWAY)] * 3, folder=folder) as client:
        wait_until(lambda: client.get("/health").json()["status"] == "waiting for the index")
        health, refused = client.get("/health"), client.post("/v1/ground", json=CLAIM)
        assert (health.status_code, health.json()["engine"], refused.status_code) == (503, AWAY, 503)
        assert int(health.headers["Retry-After"]) > 0 and int(refused.headers["Retry-After"]) > 0
        wait_until_ready(client)
        assert client.post("/v1/ground", json=CLAIM).status_code == 200


def test_what_stays_wrong_ends_the_waiting_and_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RETRY_SECONDS", 0.01)
    with loading(ClusterBusy(AWAY), IndexUnusable("There is no index at nowhere."), folder=folder) as client:
        wait_until(lambda: "nowhere" in client.get("/health").json()["status"])
        assert problem(client.post("/ground", json=CLAIM), 503)["detail"] == "There is no index at nowhere."


# Generated requests

_TEXT = st.text(st.characters(exclude_categories=()), max_size=40)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=6,
)
_FIELDS = "claim claims question known_pmids narrative topic id hypothesis sentences text jats k".split()
_BODY = st.fixed_dictionaries({}, optional=dict.fromkeys(_FIELDS, _TEXT | _JSON))


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(path=st.sampled_from(ROUTES), body=_BODY | _JSON | st.fixed_dictionaries({"claims": st.lists(_BODY, max_size=3)}))
def test_no_generated_body_is_answered_with_5xx(client: TestClient, path: str, body: object) -> None:
    response = client.post(path, content=json.dumps(body), headers=JSON)
    assert response.status_code < 500 and '"status":5' not in response.text, response.text
    if response.status_code != 200:
        problem(response, response.status_code)
