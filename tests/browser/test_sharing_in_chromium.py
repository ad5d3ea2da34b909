"""Sharing on the page: an answer is kept under a link, opens there as it was, and is taken along as a file that runs nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from fastapi import FastAPI
from playwright.sync_api import Browser, Page, expect

from counterpoint.service.http.app import create_app
from counterpoint.service.operating.libraries import Libraries
from counterpoint.service.operating.settings import Settings
from tests.browser.chromium import HOSTILE, IN_CHROMIUM, Open, link
from tests.helpers.answer_fakes import make_answerer
from tests.helpers.fakes import make_index, make_reading_grounder

pytestmark = IN_CHROMIUM

TOKEN = "the-token-of-this-start"
PHONE = {"width": 390, "height": 844}
DOCUMENTS: list[dict[str, Any]] = [
    {"pmid": "1", "title": f"One {HOSTILE}", "abstract": "Zeta is for pressure.", "year": 2001, "journal": "J. Test"},
    {"pmid": "2", "title": "Two", "abstract": "Zeta is against pressure.", "year": 2003},
]


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> FastAPI:
    folder = tmp_path_factory.mktemp("libraries")
    index = make_index(tmp_path_factory.mktemp("made"), DOCUMENTS)
    index.close()
    index.folder.rename(folder / "Heart")
    libraries = Libraries(None, folder, make_reading_grounder, lambda one: make_answerer(one.index))
    return create_app(libraries, Settings.model_validate({"token": TOKEN, "state": str(tmp_path_factory.mktemp("state"))}))


def find_all_faults(page: Page) -> list[str]:
    """Everything that axe finds, however slight."""
    return [f"{one['id']}: {one['nodes'][0]['html']}" for one in Axe().run(page).response["violations"]]


def share(page: Page) -> str:
    """Share the answer on the page, and return what stands behind the page's address in the link."""
    page.get_by_role("button", name="Share").click()
    opens = page.get_by_role("link", name="Open the shared result")
    expect(opens).to_be_focused()
    return str(opens.get_attribute("href"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_claim_is_shared_opened_by_whoever_has_the_link_and_withdrawn(
    open_page: Open, browser: Browser, tmp_path: Path, scheme: str
) -> None:
    page = open_page(f"?token={TOKEN}{link(claim='Zeta is for pressure.')}", color_scheme=scheme)
    expect(page.locator("#answer .card").first).to_be_visible()
    shared = share(page)
    assert page.evaluate("navigator.clipboard.readText()").endswith(shared)
    assert find_all_faults(page) == []
    # Somebody who may only read.
    reader = open_page(shared, color_scheme=scheme, viewport=PHONE)
    expect(reader.locator("#answer .notice")).to_contain_text("kept as it was. Library: Heart.")
    expect(reader.locator(".asked")).to_have_text("Zeta is for pressure.")
    expect(reader.locator("#answer .card")).to_have_count(2)
    assert find_all_faults(reader) == []
    assert reader.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for name in ("Share", "Save and watch", "Read more papers"):
        expect(reader.get_by_role("button", name=name)).to_have_count(0)
    expect(reader.locator(".wrong")).to_have_count(0)
    reader.get_by_text("Download").click()
    with reader.expect_download() as download:
        reader.get_by_role("button", name="HTML").click()
    assert download.value.suggested_filename == "counterpoint-zeta-is-for-pressure.html"
    file = tmp_path / "shared.html"
    download.value.save_as(file)
    for size in ({"width": 1100, "height": 900}, PHONE):
        offline = browser.new_page(color_scheme=scheme, viewport=size)  # type: ignore[arg-type]
        offline.goto(file.as_uri())
        expect(offline.locator("h1")).to_have_text("Zeta is for pressure.")
        expect(offline.locator("main")).to_contain_text(f"One {HOSTILE}")
        assert offline.evaluate("window.hacked") is None
        assert offline.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert find_all_faults(offline) == []
        offline.close()
    reader.get_by_role("link", name="Ask again now").click()
    expect(reader.locator("#answer .notice")).to_have_count(0)
    page.get_by_role("button", name="History").click()
    page.get_by_role("button", name="Withdraw the shared result").click()
    expect(page.locator("#memory")).not_to_contain_text("Shared")
    gone = open_page(shared)
    expect(gone.locator("#problem")).to_contain_text("it may have been withdrawn")


@pytest.mark.parametrize(("mode", "asked"), [("question", "Is zeta for pressure?"), ("text", "Zeta is for pressure. Why?")])
def test_answers_and_texts_are_shared_too(open_page: Open, mode: str, asked: str) -> None:
    page = open_page(f"?token={TOKEN}")
    page.locator(f"label[for=mode-{mode}]").click()
    page.locator("#text").fill(asked)
    page.locator("#go").click()
    shared = share(page)
    reader = open_page(shared, viewport=PHONE)
    expect(reader.locator("#answer .notice")).to_contain_text("kept as it was")
    expect(reader.locator(".asked")).to_have_text(asked if mode == "question" else "Checked text")
    assert find_all_faults(reader) == []
    reader.locator("label[for=mode-claim]").click()
    reader.locator("#text").fill("Zeta is against pressure.")
    reader.keyboard.press("Enter")
    expect(reader.locator(".asked")).to_have_text("Zeta is against pressure.")


def test_who_may_only_read_is_offered_no_share(open_page: Open) -> None:
    page = open_page(link(claim="Zeta is for pressure."))
    expect(page.get_by_role("button", name="Save and watch")).to_be_visible()
    expect(page.get_by_role("button", name="Share")).to_have_count(0)
