"""/docs and /favicon.ico: the whole API in words, from this machine alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape
from html.parser import HTMLParser

import pytest
from fastapi.testclient import TestClient

from counterpoint.service.http.app import create_app
from counterpoint.service.http.reference.docs import calls
from counterpoint.service.operating.libraries import Libraries
from counterpoint.service.serve.examples import CALLS


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    yield TestClient(create_app(Libraries()))


@pytest.fixture(scope="module")
def page(client: TestClient) -> str:
    return client.get("/docs").text


class _Addresses(HTMLParser):
    """Every id, and every address that is loaded or led to."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.addresses: list[str] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            elif name in ("href", "src"):
                self.addresses.append(value or "")


def test_it_is_served_without_an_index_and_asks_no_other_machine(client: TestClient, page: str) -> None:
    response = client.get("/docs")
    assert (response.status_code, response.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "default-src 'none'" in response.headers["content-security-policy"]
    assert page.startswith("<!doctype html>")
    parsed = _Addresses()
    parsed.feed(page)
    assert not {"script", "iframe", "img", "style"} & parsed.tags
    assert not [one for one in parsed.addresses if ":" in one or one.startswith("/")], "relative: it may be served below a path"
    local = {one for one in parsed.addresses if not one.startswith("#")}
    assert {client.get(f"/{one.removeprefix('./')}").status_code for one in local} == {200}
    assert {one[1:] for one in parsed.addresses if one.startswith("#")} <= set(parsed.ids)
    assert len(parsed.ids) == len(set(parsed.ids))


def test_every_call_is_there_with_its_parameters_fields_answers_and_an_example(client: TestClient, page: str) -> None:
    document = client.get("/openapi.json").json()
    for path, item in document["paths"].items():
        assert path in page
        for found in item.values():
            assert {f"<code>{one['name']}</code>" in page for one in found.get("parameters", ())} <= {True}
    for name, schema in document["components"]["schemas"].items():
        if schema.get("properties"):
            assert f'id="{name}"' in page
            assert all(f"<code>{field}</code>" in page for field in schema["properties"])
    found = {one.name: one for one in calls(document)}
    assert found["ground"].others == ("/ground",)
    assert [one.name for one in found["ground"].body] == ["claim", "question", "known_pmids", "read", "full_text"]
    assert [one.note for one in found["search"].parameters] == ["required", "default 20, at least 1, at most 100",
                                                                "at most 200 characters", "at most 200 characters"]  # fmt: skip
    assert found["search"].example.endswith("/v1/search --data-urlencode 'q=beta-carotene lung cancer'")
    assert found["document"].example.endswith("/v1/documents/demo-glucose-leuven-2001")
    assert found["ground_stream"].answers[0].kind[-1][0].endswith("with the events stage, grounding, error")
    assert (found["ground"].key, found["health"].key) == (True, False)


def test_examples_of_responses_are_shown_and_fit_their_descriptions(client: TestClient, page: str) -> None:
    document = client.get("/openapi.json").json()
    found = {one.name: one for one in calls(document) if one.response}
    assert set(found) == set(CALLS) and {"ground", "search", "health", "list_history"} < set(found)
    for name, call in found.items():
        assert escape(call.response, quote=False) in page.replace("&#34;", '"').replace("&#39;", "'"), name
        shape = document["components"]["schemas"][call.answers[0].kind[0][1]]
        shown, every = set(json.loads(call.response)), set(shape["properties"])
        assert set(shape.get("required", every)) <= shown <= every, f"`make examples` after a change of {name}"
