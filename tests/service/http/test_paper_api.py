"""Documents, searches, and the evidence inside a paper over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient

from counterpoint.retrieval.core.errors import BadConfig
from counterpoint.retrieval.index import Index
from counterpoint.service.evidence import finder
from tests.helpers.fake_encoder import WordEncoder
from tests.helpers.fakes import make_index
from tests.helpers.served import opened, over_fakes

PAPER = {"hypothesis": "Zeta raises pressure.",
         "sentences": ["Abstract", "We gave zeta.", "It is best for pressure.", "It is not against it."]}  # fmt: skip
JATS = """<?xml version="1.0"?><article><front><article-meta><abstract><p>Zeta is for pressure. It is old.</p></abstract>
</article-meta></front><body><p>More.</p></body></article>"""


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    documents: list[dict[str, Any]] = [
        {"pmid": "1", "title": "One", "abstract": "Zeta is not against it. It is old.", "year": 1999, "types": ["Review"]},
        {"pmid": "2", "title": "Two", "abstract": "Zeta is for pressure.", "retracted": True},
        *({"pmid": f"x{i}", "title": "", "abstract": f"Filler number {i}."} for i in range(20)),
    ]
    return make_index(tmp_path_factory.mktemp("papers"), documents)


@pytest.fixture(scope="module")
def client(index: Index) -> Iterator[TestClient]:
    with opened(over_fakes(index.folder)) as client:
        yield client


def test_a_document_with_its_sentences(client: TestClient) -> None:
    body = client.get("/v1/documents/1").json()
    assert (body["title"], body["year"], body["types"], body["retracted"]) == ("One", 1999, ["Review"], False)
    sentences = [body["abstract"][one["start"] : one["end"]] for one in body["sentences"]]
    assert sentences == ["Zeta is not against it.", "It is old."]
    assert client.get("/v1/documents/2").json()["retracted"] is True
    for pmid in ("nobody", "1%00", "..%2f..%2fetc%2fpasswd", "%ff", "1'%20OR%20'1'='1", "%F0%9F%99%82"):
        assert client.get(f"/v1/documents/{pmid}").status_code == 404


def test_a_search_is_paged_without_gap_or_repeat(client: TestClient) -> None:
    seen, cursor = [], ""
    while cursor is not None:
        body = client.get("/v1/search", params={"q": "filler number", "limit": 6, "cursor": cursor}).json()
        seen += body["hits"]
        cursor = body["next_cursor"]
    assert [one["rank"] for one in seen] == list(range(1, 21))
    assert len({one["pmid"] for one in seen}) == 20
    assert seen == client.get("/v1/search", params={"q": "filler number", "limit": 100}).json()["hits"]
    cursor = client.get("/v1/search", params={"q": "filler number", "limit": 6}).json()["next_cursor"]
    other = client.get("/v1/search", params={"q": "number", "limit": 6, "cursor": cursor})
    assert other.status_code == 422 and other.json()["detail"].startswith("The cursor was made for another query;")


@pytest.mark.parametrize(
    ("params", "told"),
    [
        ({"q": " "}, "query is empty"), ({}, "q is missing; give it."), ({"q": "a" * 2001}, "2,001 characters"),
        ({"q": "x", "limit": 0}, "limit should be at least 1, not 0;"),
        ({"q": "x", "limit": 101}, "limit should be at most 100, not 101;"),
        ({"q": "x", "limit": "many"}, "limit should be a whole number, not the text “many”;"),
        ({"q": "x", "cursor": "!!"}, "cursor"), ({"q": "x", "cursor": "OTk5OTk5IHggeQ"}, "cursor cannot be read"),
        ({"q": "x", "cursor": "MSB4IHk"}, "index has changed"),
    ],
)  # fmt: skip
def test_a_search_at_fault(client: TestClient, params: dict[str, str], told: str) -> None:
    answer = client.get("/v1/search", params=params)
    assert answer.status_code == 422 and told in answer.json()["detail"]


def test_the_evidence_in_a_paper_is_chosen_and_stands_in_it_word_for_word(client: TestClient) -> None:
    body = client.post("/v1/evidence", json={**PAPER, "k": 3}).json()
    labels = {one["quotation"]: one["stance"]["label"] for one in body["evidence"]}
    assert labels == {"It is best for pressure.": "support", "It is not against it.": "contradict", "We gave zeta.": "neutral"}
    assert [one["rank"] for one in body["evidence"]] == [1, 2, 3]
    assert {one["location"]["text"] for one in body["evidence"]} == {"Abstract"} and body["read"] == 3
    assert all(one["block"][one["start"] : one["end"]] == one["quotation"] for one in body["evidence"])
    for k, paper in ((2, {"text": "Zeta is for pressure. It is old."}), (3, {"jats": JATS})):
        found = client.post("/v1/evidence", json={"hypothesis": "Zeta raises pressure.", "k": k, **paper}).json()["evidence"]
        assert {one["quotation"] for one in found} == {"Zeta is for pressure.", "It is old.", *(["More."] if k == 3 else [])}
    stored = client.post("/v1/evidence", json={"hypothesis": "Zeta raises pressure.", "k": 2, "pmid": "1"}).json()
    assert stored["source"] == {"pmid": "1", "title": "One", "file": "", "retracted": False}
    gone = client.post("/v1/evidence", json={"hypothesis": "Zeta raises pressure.", "k": 1, "pmid": "2"}).json()
    assert gone["source"]["retracted"] is True
    assert {one["quotation"] for one in stored["evidence"]} == {"Zeta is not against it.", "It is old."}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"hypothesis": " "}, "The hypothesis is empty"), ({"hypothesis": "a" * 2001}, "The hypothesis has 2,001 characters"),
        ({"k": 4}, "k is 4 and the paper has 3 sentences"), ({"k": 0}, "k is 0"), ({"sentences": []}, "sentence"),
        ({"sentences": None, "jats": JATS[:-20]}, "XML"), ({"text": "Zeta."}, "give the paper once"),
        ({"results": True}, "known fields: hypothesis, pmid, sentences"),
        ({"sentences": None, "pmid": "777"}, "is not a PMID"),
    ],
)  # fmt: skip
def test_a_paper_or_a_hypothesis_at_fault(client: TestClient, given: dict[str, Any], told: str) -> None:
    answer = client.post("/v1/evidence", json={"k": 1, **PAPER, **given})
    assert answer.status_code == 422 and told in answer.json()["detail"]


def test_a_service_without_the_models_for_papers_serves_the_rest_and_says_why(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(_name: str, _profile: object) -> WordEncoder:
        raise BadConfig("The profile has no encoder.")

    monkeypatch.setattr(finder, "load_encoder", missing)
    with opened(over_fakes(index.folder)) as client:
        assert client.post("/v1/ground", json={"claim": "zeta changes pressure"}).status_code == 200
        refused = client.post("/v1/evidence", json={**PAPER, "k": 1})
        assert (refused.status_code, refused.json()["detail"]) == (503, "The profile has no encoder.")
