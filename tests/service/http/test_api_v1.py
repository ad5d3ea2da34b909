"""/v1: batches, streams, documents, search, formats; every fault as problem details with the request's id."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from indexes.readers.paper import make_paper
from retrieval.core.errors import BadConfig, IndexUnusable
from retrieval.index import Index
from service.answering.schemas import AnswerRequest, AnswerResponse
from service.checking.schemas import TextRequest
from service.configuration.models import Models
from service.grounding.ground import Grounder
from service.grounding.schemas import GroundRequest
from service.http.app import create_app
from service.http.reference.docs import example
from service.operating.settings import Settings
from service.operating.work import Gone
from service.queries.schemas import TypedGroundResponse
from service.reading import evidence
from service.reading.schemas import EvidenceRequest, EvidenceResponse
from service.serve.examples import CALLS, EXAMPLES
from tests.helpers.answer_fakes import make_answerer
from tests.helpers.fake_encoder import WordEncoder
from tests.helpers.fakes import make_grounder, make_index, make_reading_grounder
from tests.helpers.ready import wait_until, wait_until_ready

CLAIM = {"claim": "zeta changes pressure"}
ROUTES = ["/v1/ground", "/v1/ground/batch", "/v1/ground/stream", "/v1/answer", "/v1/answer/stream", "/v1/evidence"]
LIBRARY = re.compile("Input should|Field required|JSON decode|Extra inputs|valid (string|integer)|after validation|GroundRequest")
"""Words of pydantic's, none of which a client should ever read."""
PAPER = {
    "hypothesis": "Zeta raises pressure.",
    "sentences": ["Abstract", "We gave zeta.", "It is best for pressure.", "It is not against it."],
}
JATS = """<?xml version="1.0"?><article><front><article-meta><abstract><p>Zeta is for pressure. It is old.</p></abstract>
</article-meta></front><body><p>More.</p></body></article>"""


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return make_index(
        tmp_path_factory.mktemp("v1"),
        [
            {
                "pmid": "1",
                "title": "One",
                "abstract": "Zeta is not against pressure. It is old.",
                "year": 1999,
                "types": ["Review"],
            },
            {"pmid": "2", "title": "Two", "abstract": "Zeta is for pressure.", "retracted": True},
            {"pmid": "101", "title": "Best", "abstract": "Omega lowers blood sugar in most adults with diabetes."},
            *({"pmid": f"x{i}", "title": "", "abstract": f"Filler number {i}."} for i in range(20)),
        ],
    )


@pytest.fixture(scope="module")
def client(index: Index) -> Iterator[TestClient]:
    folder = index.folder
    served = create_app(
        lambda: make_grounder(Index(folder))[0],
        lambda grounder: make_answerer(grounder.index),
        Settings(body_bytes=200_000),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evidence, "load_encoder", lambda name, profile: WordEncoder())
        with TestClient(served, raise_server_exceptions=False) as opened:
            wait_until_ready(opened)
            yield opened


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
    """The events of a stream."""
    read = []
    for block in client.post(path, json=body).text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if fields:
            read.append((fields["event"], json.loads(fields["data"])))
    return read


@pytest.mark.parametrize("path", ["ground", "answer"])
def test_the_old_names_answer_as_v1_does(client: TestClient, path: str) -> None:
    body = CLAIM if path == "ground" else {"question": "Is zeta for pressure?"}
    assert client.post(f"/{path}", json=body).json() == client.post(f"/v1/{path}", json=body).json()


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
    assert "known fields: claims)" in problem(client.post("/v1/ground/batch", json={"claim": "x"}), 422)["detail"]


def test_keywords_get_no_verdict(client: TestClient) -> None:
    for body in ({"claim": "zeta pressure"}, {"claim": "Zeta pressure."}, {"claim": "Finally, zeta pressure."}):
        one = client.post("/v1/ground", json=body)
        (many,) = client.post("/v1/ground/batch", json={"claims": [body]}).json()["results"]
        assert one.status_code == many["status"] == 422
        assert "no claim but keywords" in one.json()["detail"] and "no claim but keywords" in many["problem"]["detail"]
    typed = client.post("/v1/typed", json={"text": "zeta pressure"}).json()
    assert typed["kind"] == "keywords" and typed["offers"] == ["search"]


def test_a_fault_of_the_index_in_a_batch_is_told_for_its_claim(
    client: TestClient, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Grounder.ground

    def broken(self: Grounder, claim: Any, on_stage: Any = None, **more: Any) -> Any:
        if "filler" in claim.text:
            raise IndexUnusable("The store is damaged.")
        return whole(self, claim, on_stage)

    monkeypatch.setattr(Grounder, "ground", broken)
    results = client.post("/v1/ground/batch", json={"claims": [{"claim": "filler works"}, CLAIM]}).json()["results"]
    assert [one["status"] for one in results] == [503, 200]
    assert problem(client.post("/v1/ground", json={"claim": "filler works"}), 503)["detail"] == "The store is damaged."
    assert events(client, "/v1/ground/stream", {"claim": "filler works"})[-1][1]["detail"] == "The store is damaged."


def test_what_nobody_foresaw_is_a_problem_that_tells_nothing_of_the_inside(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("secret")

    monkeypatch.setattr(Grounder, "ground", broken)
    for path in ("/v1/ground", "/ground"):
        response = client.post(path, json=CLAIM)
        problem(response, 500)
        assert "secret" not in response.text
    name, last = events(client, "/v1/ground/stream", CLAIM)[-1]
    assert (name, last["status"]) == ("error", 500)
    assert "secret" not in str(last)


def test_the_stream_of_a_grounding_tells_its_stages_with_counts_and_ends_with_the_response(client: TestClient) -> None:
    told = events(client, "/v1/ground/stream", CLAIM)
    stages = [data for name, data in told if name == "stage"]
    assert [(one["side"], one["name"]) for one in stages] == [
        ("contradict", "retrieve"), ("contradict", "judge"), ("contradict", "decided"),
        ("support", "retrieve"), ("support", "rerank"), ("support", "decided"),
    ]  # fmt: skip
    assert stages[0]["detail"] == "Searching 23 documents for evidence that may contradict the claim."
    assert (stages[2]["documents"], stages[2]["found"]) == (2, 1)
    assert told[-1] == ("grounding", client.post("/v1/ground", json=CLAIM).json())
    problem(client.post("/v1/ground/stream", json={"claim": ""}), 422)


def test_where_papers_are_read_whole_the_stream_tells_each(index: Index) -> None:
    with TestClient(create_app(lambda: make_reading_grounder(Index(index.folder)))) as reading:
        wait_until_ready(reading)
        told = events(reading, "/v1/ground/stream", {**CLAIM, "read": 2})
        stages = [data for name, data in told if name == "stage"]
        assert [(one["side"], one["name"]) for one in stages] == [
            (None, "retrieve"), (None, "rerank"), *[(None, "judge")] * 3, ("contradict", "decided"), ("support", "decided"),
        ]  # fmt: skip
        assert [one["detail"] for one in stages[1:5]] == [
            "Choosing the papers to read among 2.", "Read 0 of 2 papers.", "Read 1 of 2 papers.", "Read 2 of 2 papers.",
        ]  # fmt: skip
        assert told[-1] == ("grounding", reading.post("/v1/ground", json={**CLAIM, "read": 2}).json())
        assert (
            problem(reading.post("/v1/ground", json={**CLAIM, "read": 0}), 422)["detail"]
            == "read should be at least 1, not 0; correct it."
        )


@pytest.mark.parametrize(
    ("format", "media", "begins"),
    [
        ("markdown", "text/markdown", "# "),
        ("ris", "application/x-research-info-systems", "TY  - GEN"),
        ("bibtex", "application/x-bibtex", "@misc{"),
    ],
)
@pytest.mark.parametrize(("path", "body"), [("/v1/ground", CLAIM), ("/v1/answer", {"question": "Does omega lower blood sugar?"})])
def test_other_formats(client: TestClient, path: str, body: object, format: str, media: str, begins: str) -> None:
    response = client.post(f"{path}?format={format}", json=body)
    assert response.headers["content-type"].startswith(media)
    assert response.text.lstrip().startswith(begins)
    assert "attachment" in response.headers["content-disposition"]


def test_an_unknown_format_is_told(client: TestClient) -> None:
    told = problem(client.post("/v1/ground?format=pdf", json=CLAIM), 422)["detail"]
    assert told == "format should be json, markdown, ris or bibtex, not the text “pdf”; use one of these."


def test_a_document_with_its_sentences(client: TestClient) -> None:
    body = client.get("/v1/documents/1").json()
    assert (body["title"], body["year"], body["types"], body["retracted"]) == ("One", 1999, ["Review"], False)
    assert [body["abstract"][one["start"] : one["end"]] for one in body["sentences"]] == [
        "Zeta is not against pressure.", "It is old.",
    ]  # fmt: skip
    assert client.get("/v1/documents/2").json()["retracted"] is True


@pytest.mark.parametrize("pmid", ["nobody", "1%00", "..%2f..%2fetc%2fpasswd", "%ff", "1'%20OR%20'1'='1", "%F0%9F%99%82"])
def test_a_document_that_is_not_there(client: TestClient, pmid: str) -> None:
    problem(client.get(f"/v1/documents/{pmid}"), 404)


def test_a_search_is_paged_without_gap_or_repeat(client: TestClient) -> None:
    seen, cursor = [], ""
    while True:
        body = client.get("/v1/search", params={"q": "filler number", "limit": 6, "cursor": cursor}).json()
        seen += body["hits"]
        cursor = body["next_cursor"]
        if cursor is None:
            break
    assert [one["rank"] for one in seen] == list(range(1, 21))
    assert len({one["pmid"] for one in seen}) == 20
    assert seen == client.get("/v1/search", params={"q": "filler number", "limit": 100}).json()["hits"]


def test_a_cursor_is_for_its_query_alone(client: TestClient) -> None:
    cursor = client.get("/v1/search", params={"q": "filler number", "limit": 6}).json()["next_cursor"]
    told = problem(client.get("/v1/search", params={"q": "number", "limit": 6, "cursor": cursor}), 422)["detail"]
    assert told.startswith("The cursor was made for another query;")


@pytest.mark.parametrize(
    ("params", "told"),
    [
        ({"q": " "}, "query is empty"),
        ({}, "q is missing; give it."),
        ({"q": "a" * 2001}, "2,001 characters"),
        ({"q": "x", "limit": 0}, "limit should be at least 1, not 0;"),
        ({"q": "x", "limit": 101}, "limit should be at most 100, not 101;"),
        ({"q": "x", "limit": "many"}, "limit should be a whole number, not the text “many”;"),
        ({"q": "x", "cursor": "!!"}, "cursor"),
        ({"q": "x", "cursor": "OTk5OTk5IHggeQ"}, "cursor cannot be read"),
        ({"q": "x", "cursor": "MSB4IHk"}, "index has changed"),
    ],
)
def test_a_search_at_fault(client: TestClient, params: dict[str, str], told: str) -> None:
    assert told in problem(client.get("/v1/search", params=params), 422)["detail"]


@pytest.mark.parametrize("given", ["abc-123", "a" * 128])
def test_a_sane_request_id_comes_back(client: TestClient, given: str) -> None:
    assert client.get("/health", headers={"x-request-id": given}).headers["x-request-id"] == given


@pytest.mark.parametrize("given", ["", "a b", "a" * 129, "x\ty", "<script>", "é"])
def test_another_request_id_is_replaced(client: TestClient, given: str) -> None:
    got = client.get("/health", headers={b"x-request-id": given.encode("latin-1")}).headers["x-request-id"]
    assert got != given and len(got) == 32


@pytest.mark.parametrize("path", ROUTES)
@pytest.mark.parametrize(
    ("content", "statuses"),
    [
        (b"\xff{", {400, 422}),
        (b'{"claim": "\xff"}', {400, 422}),
        (b"[" * 90_000, {400, 422}),
        (b'{"claim":' * 10_000 + b"1" + b"}" * 10_000, {400, 422}),
        (b'{"claim": 1' + b"0" * 10_000 + b"}", {400, 422}),
        (b'{"claim": NaN, "question": Infinity}', {400, 422}),
        (b"null", {422}),
        (b"", {422}),
        (b"[]", {422}),
        (b'"x"', {422}),
        (b" " * 200_001, {413}),
    ],
    ids=["not-utf8", "not-utf8-inside", "open-brackets", "deep", "long-number", "nan", "null", "none", "list", "text", "large"],
)  # fmt: skip
def test_a_hostile_body_is_a_problem(client: TestClient, path: str, content: bytes, statuses: set[int]) -> None:
    response = client.post(path, content=content, headers={"content-type": "application/json"})
    assert response.status_code in statuses
    problem(response, response.status_code)


def test_a_body_without_a_length_is_limited_too(client: TestClient) -> None:
    def chunks() -> Iterator[bytes]:
        for _ in range(30):
            yield b" " * 10_000

    problem(client.post("/v1/ground", content=chunks(), headers={"content-type": "application/json"}), 413)


def test_what_is_not_there(client: TestClient) -> None:
    assert problem(client.get("/v2/ground"), 404)["detail"] == "There is nothing at this address."
    assert problem(client.get("/v1/ground"), 405)["type"] == "urn:counterpoint:problem:method-not-allowed"
    assert client.get("/v1/ground").headers["allow"] == "POST"


def test_the_examples_of_the_description_are_answers_of_this_version() -> None:
    for name, model in (("ground", TypedGroundResponse), ("answer", AnswerResponse), ("evidence", EvidenceResponse)):
        assert model.model_validate(example(name)).model_dump(mode="json") == example(name)


def test_the_examples_answer_what_the_requests_show() -> None:
    requests: dict[str, type[BaseModel]] = {
        "ground": GroundRequest,
        "answer": AnswerRequest,
        "evidence": EvidenceRequest,
        "text": TextRequest,
    }
    asked = {name: request.model_json_schema()["examples"][0] for name, request in requests.items()}
    assert example("ground")["claim"]["text"] == asked["ground"]["claim"]
    assert example("answer")["topic"]["question"] == asked["answer"]["question"]
    assert example("evidence")["hypothesis"] == asked["evidence"]["hypothesis"]
    assert example("text")["text"] == asked["text"]["text"]
    assert {f"{name}.json" for name in CALLS} == {one.name for one in EXAMPLES.iterdir()}


def test_the_description_names_every_call_with_its_problems(client: TestClient) -> None:
    described = client.get("/openapi.json").json()
    assert {*ROUTES, "/v1/documents/{pmid}", "/v1/search", "/ground", "/answer", "/answer/stream"} <= described["paths"].keys()
    posted = described["paths"]["/v1/ground"]["post"]["responses"]
    assert set(posted["200"]["content"]) >= {"application/json", "text/markdown", "application/x-bibtex"}
    assert posted["200"]["content"]["application/json"]["example"]["contradicting"]
    assert "application/problem+json" in posted["422"]["content"]
    # Every reference within the description leads somewhere.
    for reference in set(json.dumps(described).split('"$ref": "#/components/schemas/')[1:]):
        assert reference.partition('"')[0] in described["components"]["schemas"]


def test_the_evidence_in_a_paper_is_chosen_and_stands_in_it_word_for_word(client: TestClient) -> None:
    body = client.post("/v1/evidence", json={**PAPER, "k": 3}).json()
    labels = {one["text"]: one["stance"]["label"] for one in body["evidence"]}
    assert labels == {"It is best for pressure.": "support", "It is not against it.": "contradict", "We gave zeta.": "neutral"}
    assert [one["rank"] for one in body["evidence"]] == [1, 2, 3]
    assert {one["kind"] for one in body["evidence"]} == {"abstract"} and (body["read"], body["judged"]) == (3, 3)
    joined = "\n".join(PAPER["sentences"])
    assert all(joined[one["start"] : one["end"]] == one["text"] for one in body["evidence"])
    for k, paper in ((2, {"text": "Zeta is for pressure. It is old."}), (3, {"jats": JATS})):
        found = client.post("/v1/evidence", json={"hypothesis": "Zeta raises pressure.", "k": k, **paper}).json()["evidence"]
        assert {one["text"] for one in found} == {"Zeta is for pressure.", "It is old.", *(["More."] if k == 3 else [])}


@pytest.mark.parametrize(
    "paper",
    [
        r'"text": "Half \ud800 a pair."',
        r'"sentences": ["Half \ud800 a pair."]',
        r'"jats": "<article><body><p>Half \ud800 a pair.</p></body></article>"',
    ],
)
def test_half_a_surrogate_pair_breaks_no_paper(client: TestClient, paper: str) -> None:
    raw = f'{{"hypothesis": "Zeta raises pressure.", "k": 1, {paper}}}'
    answered = client.post("/v1/evidence", content=raw, headers={"content-type": "application/json"})
    assert [one["text"] for one in answered.json()["evidence"]] == ["Half \ufffd a pair."]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"hypothesis": " "}, "The hypothesis is empty"),
        ({"hypothesis": "a" * 2001}, "The hypothesis has 2,001 characters"),
        ({"k": 4}, "k is 4 and the paper has 3 sentences"),
        ({"k": 0}, "k is 0"),
        ({"sentences": []}, "sentence"),
        ({"sentences": None, "jats": JATS[:-20]}, "XML"),
        ({"text": "Zeta."}, "give the paper once"),
        ({"how": "plain"}, "no language model"),
        ({"results": True}, "known fields: hypothesis, sentences"),
    ],
    ids=["empty", "long", "k-large", "k-zero", "no-sentence", "cut-off", "twice", "no-llm", "unknown-field"],
)
def test_a_paper_or_a_hypothesis_at_fault(client: TestClient, given: dict[str, Any], told: str) -> None:
    assert told in problem(client.post("/v1/evidence", json={"k": 1, **PAPER, **given}), 422)["detail"]


def test_nobody_reads_a_long_paper_for_a_client_that_has_left(index: Index) -> None:
    usual = make_grounder(index)[0].models
    models = Models(usual.profile, usual.rerankers, usual.judges, {"dense": WordEncoder()})
    finder, asked = evidence.EvidenceFinder(models), 0

    def left() -> None:
        nonlocal asked
        asked += 1
        if asked == 2:
            raise Gone

    with pytest.raises(Gone):
        finder.find("Zeta.", make_paper(["Zeta is for pressure."] * 2000), 1, check=left)
    assert asked == 2


def test_a_variant_without_a_reranker_has_its_profile_s_for_papers(
    client: TestClient, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = make_grounder(index)[0].models
    lacking = Models(whole.profile, {}, whole.judges)
    monkeypatch.setattr(evidence, "load_reranker", lambda name, profile: whole.rerankers[name])
    finder = evidence.load_finder(whole.profile, lacking)
    assert finder.find("Zeta.", make_paper(PAPER["sentences"]), 1).evidence[0].sentence.index == 2


def test_the_models_for_papers_are_loaded_before_the_service_is_ready(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, gate, loads = index.folder, threading.Event(), list[str]()

    def slow(name: str, _profile: object) -> WordEncoder:
        loads.append(name)
        gate.wait(20)
        return WordEncoder()

    monkeypatch.setattr(evidence, "load_encoder", slow)
    with TestClient(create_app(lambda: make_grounder(Index(folder))[0])) as client:
        wait_until(lambda: loads)
        assert client.get("/health").status_code == 503
        gate.set()
        wait_until_ready(client)
        assert {client.post("/v1/evidence", json={**PAPER, "k": 1}).status_code for _ in range(3)} == {200}
    assert loads == ["dense"]


def test_a_service_without_the_models_for_papers_serves_the_rest_and_says_why(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(_name: str, _profile: object) -> WordEncoder:
        raise BadConfig("The profile has no encoder.")

    monkeypatch.setattr(evidence, "load_encoder", missing)
    with TestClient(create_app(lambda: make_grounder(Index(index.folder))[0])) as client:
        wait_until_ready(client)
        assert client.post("/v1/ground", json=CLAIM).status_code == 200
        assert problem(client.post("/v1/evidence", json={**PAPER, "k": 1}), 503)["detail"] == "The profile has no encoder."


def test_the_models_for_papers_are_those_that_are_loaded_already(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    grounder, answerer = make_grounder(index)[0], make_answerer(index)
    grounding = Models(grounder.models.profile, grounder.models.rerankers, {}, {"dense": WordEncoder()})
    finder = evidence.make_finder_beside(grounding, answerer.models)
    assert answerer.models.judges["sentences"].name in finder.reader.name


_TEXT = st.text(st.characters(exclude_categories=()), max_size=40)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=6,
)
_BODY = st.fixed_dictionaries(
    {},
    optional=dict.fromkeys(
        (
            "claim",
            "claims",
            "question",
            "known_pmids",
            "narrative",
            "topic",
            "id",
            "hypothesis",
            "sentences",
            "text",
            "jats",
            "k",
        ),
        _TEXT | _JSON,
    ),
)


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(path=st.sampled_from(ROUTES), body=_BODY | _JSON | st.fixed_dictionaries({"claims": st.lists(_BODY, max_size=3)}))
def test_no_generated_body_is_answered_with_5xx(client: TestClient, path: str, body: object) -> None:
    response = client.post(path, content=json.dumps(body), headers={"content-type": "application/json"})
    assert response.status_code < 500, response.text
    assert '"status":5' not in response.text
    if response.status_code != 200:
        problem(response, response.status_code)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(q=_TEXT, limit=st.integers(-1, 120) | _TEXT, cursor=_TEXT, pmid=_TEXT)
def test_no_generated_query_is_answered_with_5xx(client: TestClient, q: str, limit: object, cursor: str, pmid: str) -> None:
    from urllib.parse import quote, urlencode

    query = urlencode({"q": q, "limit": limit, "cursor": cursor}, errors="replace")
    assert client.get(f"/v1/search?{query}").status_code < 500
    assert client.get(f"/v1/documents/{quote(pmid, safe='', errors='replace')}").status_code < 500
