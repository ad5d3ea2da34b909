"""What may be asked next is one click away; a language model is set up where the libraries are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from playwright.sync_api import expect

from counterpoint.service.configuration.language_model import CASES
from counterpoint.service.http.app import create_app
from counterpoint.service.operating.libraries import Libraries
from counterpoint.service.operating.settings import Settings
from tests.browser.chromium import IN_CHROMIUM, Open, find_faults, link
from tests.helpers.answer_fakes import make_answerer
from tests.helpers.chat_server import ChatServer, fault, message, serving
from tests.helpers.fakes import WordReader, make_index, make_reading_grounder

pytestmark = IN_CHROMIUM
TOKEN = "the-token-of-this-start"
PAPERS = [
    ("Zetapril for the prevention of migraine", "Zetapril is for migraine."),
    ("Zetapril for the prevention of stroke in migraine", "Zetapril is for stroke in migraine."),
    ("Stroke and migraine under zetapril", "Zetapril is for preventing stroke in migraine."),
]


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> FastAPI:
    documents: list[dict[str, Any]] = [
        {"pmid": str(number), "title": title, "abstract": abstract} for number, (title, abstract) in enumerate(PAPERS, 1)
    ]
    index = make_index(tmp_path_factory.mktemp("index"), documents)
    index.close()
    data: Path = tmp_path_factory.mktemp("data")
    libraries = Libraries(index.folder, data, make_reading_grounder, lambda one: make_answerer(one.index))
    return create_app(libraries, Settings.model_validate({"libraries": data, "token": TOKEN, "state": "off"}))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    monkeypatch.setattr("counterpoint.nli.reader.chat.DocumentReader", WordReader)
    parts = dict.fromkeys(("population", "intervention", "comparison", "outcome"), True)

    def read(body: dict[str, Any]) -> Any:
        case = next(case for case in CASES if f"{case.claim}\n" in body["messages"][-1]["content"])
        grade = {"support": 2, "neutral": 0, "contradict": -2}[case.label]
        said = {
            "sentence": len(case.paper.sentences),
            "quote": case.paper.sentences[-1],
            **parts,
            "reason": "So.",
            "grade": grade,
        }
        return message(json.dumps(said))

    for server in serving(fault(500)):
        server.script, server.models = read, ["big:8b", "small:1b"]
        yield server


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_a_follow_up_is_asked_by_one_click(open_page: Open, scheme: str, width: int) -> None:
    page = open_page(link(claim="Zetapril prevents migraine."), color_scheme=scheme, viewport={"width": width, "height": 800})
    offered = page.get_by_role("link", name="Does zetapril prevent stroke in migraine?")
    offered.wait_for()
    assert find_faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    offered.click()
    expect(page.locator("#answer .asked")).to_have_text("Does zetapril prevent stroke in migraine?")


@pytest.mark.parametrize(("scheme", "width"), [("dark", 1280), ("light", 390)])
def test_a_model_is_set_up_and_switched_off(open_page: Open, server: ChatServer, scheme: str, width: int) -> None:
    page = open_page(f"?token={TOKEN}", color_scheme=scheme, viewport={"width": width, "height": 800})
    page.get_by_role("link", name="Libraries").click()
    page.locator("#model-address").fill(server.url.removeprefix("http://").removesuffix("/v1"))
    page.get_by_role("button", name="List its models").click()
    page.get_by_label("Model", exact=True).select_option("small:1b")
    page.get_by_role("button", name="Try this model").click()
    expect(page.locator("#model-told")).to_contain_text("It read 8 of 8 right")
    assert find_faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("button", name="Use it").click()
    expect(page.locator("#model-state")).to_contain_text("In use: small:1b")
    page.get_by_role("button", name="Switch it off").click()
    expect(page.locator("#model-state")).to_contain_text("Tried and not in use: small:1b")
