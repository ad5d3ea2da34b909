"""The page is served as it is, asks nobody else for anything, and never makes markup out of text."""

from __future__ import annotations

import functools
import re
from html.parser import HTMLParser

import pytest
from fastapi.testclient import TestClient

from counterpoint.service.checking.export import CITED_SIGNS, REASONS, SIGNS
from counterpoint.service.checking.schemas import CITED
from counterpoint.service.http.app import create_app
from counterpoint.service.http.page.files import page_files
from counterpoint.service.operating.libraries import Libraries

FILES = {name: file.content.decode() for name, file in page_files().items() if not name.endswith(".ico")}
PAGE = FILES["index.html"]
SCRIPTS = {name: text for name, text in FILES.items() if name.endswith(".js")}


class _Parsed(HTMLParser):
    """Every tag with its attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))

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
def client() -> TestClient:
    """A service whose index was never loaded."""
    return TestClient(create_app(Libraries()))


@pytest.fixture(scope="module")
def policy(client: TestClient) -> dict[str, list[str]]:
    """The page's Content-Security-Policy: the sources of each directive."""
    directives = [directive.split() for directive in client.get("/").headers["content-security-policy"].split(";")]
    return {directive[0]: directive[1:] for directive in directives}


@pytest.mark.parametrize("name", sorted(FILES))
def test_every_file_of_the_page_is_served_with_its_type_and_the_policy(client: TestClient, name: str) -> None:
    response = client.get(f"/page/{name}")
    types = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
    assert response.headers["content-type"] == f"{types[name.rpartition('.')[2]]}; charset=utf-8"
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["content-security-policy"] == client.get("/").headers["content-security-policy"]
    assert response.text == FILES[name]
    tag = response.headers["etag"]
    for known in (tag, f"W/{tag}", f'"0123456789abcdef", {tag}'):
        unchanged = client.get(f"/page/{name}", headers={"if-none-match": known})
        assert (unchanged.status_code, unchanged.content) == (304, b"")
    assert client.get(f"/page/{name}", headers={"if-none-match": '"0123456789abcdef"'}).status_code == 200


@pytest.mark.parametrize(
    "path",
    ["page/", "page/page.html", "page/../app.py", "page/..%2fapp.py", "page/%2e%2e/app.py", "page/..%5capp.py",
     "page//etc/passwd", "page/%2fetc%2fpasswd", "page/index.html%00.js", "page/INDEX.HTML"],
)  # fmt: skip
def test_nothing_but_these_files_is_served(client: TestClient, path: str) -> None:
    assert client.get(f"/{path}").status_code == 404


def test_every_file_is_asked_for_and_none_that_is_not_there(page: _Parsed) -> None:
    named = {*page.attributes("src"), *(value for value in page.attributes("href") if not value.startswith(("data:", "#")))}
    assert named == {"page/style.css", "page/memory.css", "page/libraries.css", "page/theme.js", "page/page.js"}, (
        "no leading slash: the page may be served below a path"
    )
    imported = {name for text in SCRIPTS.values() for name in re.findall(r'^import .* from "([^"]+)";$', text, re.M)}
    assert {f"./{name}" for name in SCRIPTS} == {*imported, "./page.js", "./theme.js"}
    # Nothing else is: an import in the middle of a script would not be seen here.
    assert not re.search(r"\bimport\(", "".join(SCRIPTS.values()))


def test_every_address_in_the_page_is_relative() -> None:
    absolute = [
        found
        for text in FILES.values()
        for found in re.findall(r"(?:https?|wss?|ftp):/*[^\s'\"<>)`]*|(?<=[\"'(`])//[^\s'\"<>)]+", text)
    ]
    # The icon's name space, and the links to a paper that a reader may follow; none is loaded.
    links = {"https://pubmed.ncbi.nlm.nih.gov/${pmid}/", "https://doi.org/${encodeURIComponent(doi"}
    assert set(absolute) == {"http://www.w3.org/2000/svg", *links}
    assert "@import" not in FILES["style.css"] and "url(" not in FILES["style.css"]
    called = [one for text in SCRIPTS.values() for one in re.findall(r"(?:fetch|post|asked|streamed)\(([\"'`][^,)]*)", text)]
    assert called and all(re.match(r"[\"'`](v1/|health)", one) for one in called), called
    assert not re.search(r"XMLHttpRequest|WebSocket|sendBeacon|EventSource\(|Worker\(", "".join(SCRIPTS.values()))


def test_the_policy_lets_the_page_talk_to_its_own_service_only(policy: dict[str, list[str]]) -> None:
    assert policy["default-src"] == ["'none'"]
    assert policy["connect-src"] == policy["script-src"] == policy["style-src"] == ["'self'"]
    assert policy["img-src"] == ["'self'", "data:"]
    assert policy["base-uri"] == policy["form-action"] == policy["frame-ancestors"] == ["'none'"]
    assert policy["require-trusted-types-for"] == ["'script'"]
    assert policy["trusted-types"] == ["'none'"]
    assert "unsafe" not in str(policy)


def test_nothing_inline_that_the_policy_would_drop(page: _Parsed) -> None:
    names = {name for _tag, attributes in page.tags for name in attributes}
    assert not [name for name in names if name.startswith("on") or name == "style"]
    assert all(attributes.get("src") for tag, attributes in page.tags if tag == "script")
    assert "style" not in {tag for tag, _attributes in page.tags}


@pytest.mark.parametrize(
    "way",
    ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "setHTML", "srcdoc",
     "createContextualFragment", "DOMParser", "javascript:"],
)  # fmt: skip
def test_text_never_becomes_markup_or_code(way: str) -> None:
    assert not [name for name, text in FILES.items() if way.lower() in text.lower()]


def test_every_field_has_a_label_and_every_id_is_there_once(page: _Parsed) -> None:
    # Of the templates with the parts of an answer only one is on the page at a time.
    templates = re.findall(r'<template id="(?:grounding|answer|chosen|text)-template">.*?</template>', PAGE, re.S)
    assert len(templates) == 4
    for template in templates:
        others = [one for one in templates if one != template]
        shown = re.findall(r'\bid="([^"]+)"', functools.reduce(lambda page, other: page.replace(other, ""), others, PAGE))
        assert len(shown) == len(set(shown))
    ids = page.attributes("id")
    named = {attributes["id"] for tag, attributes in page.tags if tag in ("input", "textarea", "select")}
    assert named == set(page.attributes("for"))
    references = [*page.attributes("aria-labelledby"), *page.attributes("aria-describedby")]
    assert {one for value in references for one in value.split()} <= set(ids)
    used = {one for text in SCRIPTS.values() for one in re.findall(r'(?:byId|copyOf)\("([^"]+)"\)', text)}
    assert used and used - {"memory"} <= set(ids)  # which memory.js itself makes


def test_every_part_that_the_scripts_fill_is_in_the_page(page: _Parsed) -> None:
    there = {f".{name}" for value in page.attributes("class") for name in value.split()}
    filled = {one for text in SCRIPTS.values() for one in re.findall(r'\bat\("(\.[\w-]+)', text)}
    assert filled and filled <= there


def test_a_checked_text_has_the_same_words_on_the_page_as_elsewhere() -> None:
    for reason, words in REASONS.items():
        assert f'{reason}: "{words}",' in SCRIPTS["text.js"]
    for status, one_and_many in CITED.items():
        told = ", ".join(f'"{word}"' for word in (CITED_SIGNS.get(status, ""), *one_and_many))
        assert f'"{status}": [{told}],' in SCRIPTS["text.js"]
    for verdict, sign in SIGNS.items():
        assert not sign or re.search(rf'\b"?{verdict}"?: "{re.escape(sign)}"', SCRIPTS["text.js"])
