"""The page is served as it is, asks nobody else for anything, and never makes markup out of text."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from importlib.resources import files

import pytest
from fastapi.testclient import TestClient

from service.app import create_app
from service.ground import Grounder

PAGE = files("service").joinpath("page.html").read_text("utf-8")


class _Parsed(HTMLParser):
    """Every tag with its attributes, and the text of the inline blocks."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.blocks: dict[str, list[str]] = {"script": [], "style": []}
        self._inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        self._inside = tag
        if tag in self.blocks:
            self.blocks[tag].append("")

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside in self.blocks:
            self.blocks[self._inside][-1] += data

    def attributes(self, name: str) -> list[str]:
        """The values of an attribute, wherever it stands."""
        return [attributes[name] for _tag, attributes in self.tags if name in attributes]


@pytest.fixture(scope="module")
def page() -> _Parsed:
    """The parsed page."""
    parsed = _Parsed()
    parsed.feed(PAGE)
    return parsed


@pytest.fixture(scope="module")
def policy(page: _Parsed) -> dict[str, list[str]]:
    """The page's Content-Security-Policy: the sources of each directive."""
    (content,) = [attributes["content"] for _tag, attributes in page.tags if "http-equiv" in attributes]
    directives = [directive.split() for directive in content.split(";")]
    return {directive[0]: directive[1:] for directive in directives}


def _never_loaded() -> Grounder:
    raise AssertionError("the page needs no index")


def test_the_app_serves_the_page_at_its_root_whether_or_not_an_index_is_loaded() -> None:
    response = TestClient(create_app(_never_loaded)).get("/")
    assert response.status_code == 200
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert response.text == PAGE


def test_every_address_in_the_page_is_relative(page: _Parsed) -> None:
    absolute = re.findall(r"(?:https?|wss?|ftp):/*[^\s'\"<>)]*|(?<=[\"'(])//[^\s'\"<>)]+", PAGE)
    assert set(absolute) <= {"http://www.w3.org/2000/svg"}
    addresses = [value for name in ("href", "src", "action", "formaction") for value in page.attributes(name)]
    assert all(address.startswith("data:") for address in addresses), "the page is one file"
    assert "@import" not in PAGE and "url(" not in PAGE
    called = re.findall(r"fetch\(([^,)]*)", PAGE)
    assert sorted(called) == ['"ground"', '"health"'], "no leading slash: it may be served below a path"


@pytest.mark.parametrize("block", ["script", "style"])
def test_the_policy_allows_exactly_the_blocks_of_the_page(page: _Parsed, policy: dict[str, list[str]], block: str) -> None:
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in page.blocks[block]]
    assert policy[f"{block}-src"] == [f"'sha256-{digest}'" for digest in digests]


def test_the_policy_lets_the_page_talk_to_its_own_service_only(policy: dict[str, list[str]]) -> None:
    assert policy["default-src"] == ["'none'"]
    assert policy["connect-src"] == ["'self'"]
    assert policy["base-uri"] == policy["form-action"] == ["'none'"]
    assert policy["require-trusted-types-for"] == ["'script'"]
    assert "unsafe" not in str(policy)


def test_no_inline_handler_or_style_that_the_policy_would_drop(page: _Parsed) -> None:
    names = {name for _tag, attributes in page.tags for name in attributes}
    assert not [name for name in names if name.startswith("on") or name == "style"]


@pytest.mark.parametrize(
    "way",
    ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "setHTML", "srcdoc",
     "createContextualFragment", "DOMParser", "javascript:"],
)  # fmt: skip
def test_text_never_becomes_markup_or_code(way: str) -> None:
    assert way.lower() not in PAGE.lower()


def test_every_field_has_a_label_and_every_id_is_there_once(page: _Parsed) -> None:
    ids = page.attributes("id")
    assert len(ids) == len(set(ids))
    named = {attributes["id"] for tag, attributes in page.tags if tag in ("input", "textarea", "select")}
    assert named == set(page.attributes("for"))
    references = [*page.attributes("aria-labelledby"), *page.attributes("aria-describedby")]
    assert {one for value in references for one in value.split()} <= set(ids)
    used_by_the_script = set(re.findall(r'(?:byId|copyOf)\("([^"]+)"\)', PAGE))
    assert used_by_the_script and used_by_the_script <= set(ids)


def test_problems_and_results_are_announced(page: _Parsed) -> None:
    roles = {attributes["id"]: attributes["role"] for _tag, attributes in page.tags if {"id", "role"} <= attributes.keys()}
    assert roles == {"problem": "alert", "status": "status"}
