"""/docs and /favicon.ico: the whole API in words, from this machine alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import pytest
from fastapi.testclient import TestClient
from lxml import html

from counterpoint.service.http.app import create_app
from counterpoint.service.http.reference.docs import example
from counterpoint.service.operating.libraries import Libraries
from tests.helpers.api_examples import CALLS


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
    found = _read_calls(page)
    assert "Older address of the same call, deprecated: /ground." in found["ground"].text_content()
    assert _read_column(found["ground"], "In the body, as JSON", "th") == "claim question known_pmids read full_text".split()
    notes = _read_column(found["search"], "In the address", "td[1]")
    assert notes == ["required", "default 20, at least 1, at most 100", "at most 200 characters", "at most 200 characters"]
    assert _read_example(found["search"]).endswith("/v1/search --data-urlencode 'q=beta-carotene lung cancer'")
    assert _read_example(found["document"]).endswith("/v1/documents/demo-glucose-leuven-2001")
    assert _read_column(found["ground_stream"], "Answers", "td[1]")[0].endswith("with the events stage, grounding, error")
    assert ["key" in found[name].find("h2").text_content() for name in ("ground", "health")] == [True, False]


def _read_calls(page: str) -> dict[str, Any]:
    """The section of each call, by its name."""
    return {str(one.get("aria-labelledby")): one for one in html.fromstring(page).iter("section") if one.find("h2") is not None}


def _read_column(section: Any, caption: str, cell: str) -> list[str]:
    """A column of the table with this caption; of a cell with a note the note."""
    cells = section.xpath(f"table[caption='{caption}']/tbody/tr/{cell}")
    return [str((one.find("small") if one.find("small") is not None else one).text_content()) for one in cells]


def _read_example(section: Any) -> str:
    return str(section.find("pre").text_content())


def test_examples_of_responses_are_shown_and_fit_their_descriptions(client: TestClient, page: str) -> None:
    document = client.get("/openapi.json").json()
    shown = {name: one.find("details/pre") for name, one in _read_calls(page).items() if one.find("details") is not None}
    assert set(shown) == set(CALLS) and {"ground", "search", "health", "list_history"} < set(shown)
    operations = {one["operationId"]: one for item in document["paths"].values() for one in item.values()}
    for name, response in shown.items():
        given = json.loads(response.text_content())
        assert given == example(name)
        content = operations[name]["responses"]["200"]["content"]["application/json"]
        shape = document["components"]["schemas"][content["schema"]["$ref"].rpartition("/")[2]]
        every = set(shape["properties"])
        assert set(shape.get("required", every)) <= set(given) <= every, f"`make examples` after a change of {name}"
