"""The HTTP service: ready only when it is, the same JSON as the command line, one sentence for every fault."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from fastapi.testclient import TestClient

from retrieval.core.errors import IndexUnusable
from retrieval.index import Index
from service.grounding.ground import Grounder
from service.http.app import create_app
from tests.helpers.fakes import make_grounder, make_index, make_reading_grounder
from tests.helpers.ready import wait_until, wait_until_ready
from tests.helpers.served import over_fakes, serving


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return make_index(
        tmp_path_factory.mktemp("api"),
        [
            {"pmid": "1", "title": "One", "abstract": "Zeta is not against pressure.", "year": 1999, "types": ["Review"]},
            {"pmid": "2", "title": "Two", "abstract": "Zeta is for pressure.", "retracted": True},
            *({"pmid": f"x{i}", "title": "", "abstract": f"Filler number {i}."} for i in range(20)),
        ],
    )


@pytest.fixture
def client(index: Index) -> Iterator[TestClient]:
    folder = index.folder
    with TestClient(create_app(lambda: make_grounder(Index(folder))[0])) as opened:
        wait_until_ready(opened)
        yield opened


def test_ground_answers_with_both_sides(client: TestClient) -> None:
    body = client.post("/ground", json={"claim": "zeta changes pressure"}).json()
    assert [one["pmid"] for one in body["contradicting"]] == ["1"]
    assert [one["pmid"] for one in body["supporting"]] == ["2"]
    against = body["contradicting"][0]
    assert against["sentence"] == {"index": 0, "start": 0, "end": 29, "text": "Zeta is not against pressure."}
    assert against["negations"][0]["cue"] == "not"
    assert (against["year"], against["types"]) == (1999, ["Review"])
    assert body["supporting"][0]["retracted"] is True
    assert body["provenance"]["models"] == {
        "relevance": "word-reranker@1",
        "sentences": "word-judge@1",
        "stance": "word-judge@1",
    }
    assert body["provenance"]["config"] == "v5"


def test_a_verdict_on_the_whole_paper_says_so_and_its_probability_is_the_score(index: Index, client: TestClient) -> None:
    folder = index.folder
    with TestClient(create_app(lambda: make_reading_grounder(Index(folder)))) as reading:
        wait_until_ready(reading)
        body = reading.post("/ground", json={"claim": "zeta changes pressure"}).json()
    (against,), (retracted,) = body["contradicting"], body["uncertain"]
    assert (against["verdict"]["of"], against["verdict"]["label"]) == ("document", "contradict")
    assert against["score"] == against["verdict"]["contradict"]
    assert retracted["score"] == retracted["verdict"]["support"]
    assert (retracted["standing"], body["supporting"]) == ("retracted", []), "it takes no side"
    assert against["sentence"]["text"] == "Zeta is not against pressure.", "the quotation stays"
    judged_alone = client.post("/ground", json={"claim": "zeta changes pressure"}).json()
    assert {one["verdict"]["of"] for one in judged_alone["contradicting"]} == {"sentence"}
    described = client.get("/openapi.json").json()["components"]["schemas"]["VerdictOut"]["properties"]["of"]
    assert described["enum"] == ["sentence", "document"]
    assert "the whole paper" in described["description"]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"claim": ""}, "claim is empty"),
        ({"claim": " \u0000\n "}, "claim is empty"),
        ({"claim": "a " * 50_000}, "99,999 characters"),
        ({"claim": "x", "question": "q" * 3000}, "question has 3,000"),
        ({}, "claim is missing; give it (known fields: claim, question, known_pmids, read)."),
        ({"claim": 3}, "claim should be a text, not the number 3; put it in quotation marks."),
        ({"claim": None}, "claim should be a text, not null; correct it."),
        (
            {"clam": "x"},
            "clam is an unknown field; correct it or leave it out (known fields: claim, question, known_pmids, read).",
        ),
        ({"claim": "x", "clam": "y"}, "known fields: claim, question, known_pmids, read"),
        ({"claim": "x", "known\npmids": "1"}, "known pmids is an unknown field"),
        ({"claim": "x", "known_pmids": "1"}, "known_pmids should be a list, not the text “1”; put it in square brackets."),
        ({"claim": "x", "known_pmids": ["1", {}]}, "known_pmids[1] should be a text or a whole number, not an object"),
        ({"claim": "x", "known_pmids": list(range(1001))}, "known_pmids has 1001 entries"),
    ],
)
def test_a_wrong_body_is_told_in_one_sentence(client: TestClient, body: object, told: str) -> None:
    response = client.post("/ground", json=body)
    assert response.status_code == 422
    assert told in response.json()["error"]
    assert "\n" not in response.json()["error"]


@pytest.mark.parametrize("claim", ["‮ zeta", "zeta \u0000 pressure", "ζητα", "AND OR NOT ( * ?", "\ud800", "🙂" * 500])
def test_odd_text_gets_a_good_answer(client: TestClient, claim: str) -> None:
    import json

    response = client.post("/ground", content=json.dumps({"claim": claim}), headers={"content-type": "application/json"})
    assert response.status_code in (200, 422)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"{", 'The body is not valid JSON after 1 character; send one JSON object, {"claim": …}.'),
        (b'{"claim": "a", }', 'The body is not valid JSON after 15 characters; send one JSON object, {"claim": …}.'),
        (b"claim=x", 'The body is not JSON; send one JSON object, {"claim": …}.'),
        (b"", 'The body is empty; send one JSON object, {"claim": …}.'),
        (b"[]", 'The body should be an object, not a list; send one JSON object, {"claim": …}.'),
    ],
)
def test_what_is_no_whole_json_is_told_in_words_of_ours(client: TestClient, content: bytes, told: str) -> None:
    response = client.post("/ground", content=content, headers={"content-type": "application/json"})
    assert (response.status_code, response.json()["detail"]) == (422, told)
    other = client.post("/ground", content=b'{"claim": "x"}', headers={"content-type": "text/plain"})
    assert other.json()["detail"].startswith("The body was not sent as JSON; send one JSON object")
    assert other.json()["detail"].endswith("with the header Content-Type: application/json.")


def test_a_body_that_is_not_json_is_told(client: TestClient) -> None:
    response = client.post("/ground", content=b"\xff{", headers={"content-type": "application/json"})
    assert response.status_code == 400
    assert response.json()["error"].endswith("send one JSON object in UTF-8.")


def test_requests_at_once_get_their_own_answers(client: TestClient) -> None:
    claims = ["zeta changes pressure", "filler has number 3", "filler has number 11"] * 10
    alone = [client.post("/ground", json={"claim": claim}).json() for claim in claims[:3]]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda claim: client.post("/ground", json={"claim": claim}).json(), claims))
    assert together == alone * 10


def test_openapi_has_an_example(client: TestClient) -> None:
    document = client.get("/openapi.json").json()
    assert document["components"]["schemas"]["GroundRequest"]["examples"][0]["claim"]
    assert "/ground" in document["paths"]


def test_health_is_not_ready_while_loading_and_ready_after(index: Index) -> None:
    gate = threading.Event()
    folder = index.folder

    def slow() -> Grounder:
        gate.wait(20)
        return make_grounder(Index(folder))[0]

    with TestClient(create_app(slow)) as client:
        health = client.get("/health")
        assert (health.status_code, health.json()["status"]) == (503, "loading")
        answer = client.post("/ground", json={"claim": "zeta works"})
        assert answer.status_code == 503
        assert "still loading" in answer.json()["error"]
        gate.set()
        wait_until_ready(client)
        assert client.get("/health").json()["documents"] == 22


def test_a_service_that_cannot_load_says_why() -> None:
    def broken() -> Grounder:
        raise IndexUnusable("There is no index at nowhere.")

    with TestClient(create_app(broken)) as client:
        wait_until(lambda: "nowhere" in client.get("/health").json()["status"])
        response = client.post("/ground", json={"claim": "zeta works"})
        assert (response.status_code, response.json()["error"]) == (503, "There is no index at nowhere.")


def test_head_is_answered_as_get_is_without_a_body(index: Index) -> None:
    with serving(over_fakes(index.folder)) as (url, _server):
        paths = ["/", "/health", "/docs", "/docs/docs.css", "/favicon.ico", "/page/style.css", "/openapi.json", "/metrics"]
        paths += ["/v1/search?q=zeta", "/v1/documents/1", "/v1/documents/nobody", "/v1/search", "/nothing", "/v1/history"]
        for path in paths:
            got, head = httpx.get(f"{url}{path}"), httpx.head(f"{url}{path}")
            assert (head.status_code, head.content) == (got.status_code, b""), path
            assert head.headers["content-type"] == got.headers["content-type"]
            if path != "/metrics" and got.status_code < 400:  # the others hold counts and request ids
                assert head.headers["content-length"] == got.headers["content-length"]
        assert httpx.head(f"{url}/v1/ground").status_code == 405
