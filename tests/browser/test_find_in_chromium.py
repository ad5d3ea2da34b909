"""Find a paper, in a real browser: named as people do, with what named it, in light and in dark and on a phone."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi import FastAPI
from playwright.sync_api import expect

from tests.browser.chromium import HOSTILE, IN_CHROMIUM, Open, find_faults, link
from tests.helpers.fakes import make_index
from tests.helpers.served import over_fakes

pytestmark = IN_CHROMIUM

DOCUMENTS: list[dict[str, Any]] = [
    {"pmid": "1111", "title": "Zeta for high pressure", "abstract": "Zeta is for pressure.", "year": 2009, "journal": "BMJ",
     "authors": ["Smith, Jane", "O’Rourke, Tom", "Ito, Ken", "Berg, Ida"]},
    {"pmid": "1112", "title": HOSTILE, "abstract": "Zeta is against pressure.", "year": 2011, "journal": HOSTILE,
     "authors": [HOSTILE]},
    *({"pmid": f"x{i}", "title": "", "abstract": f"Filler number {i}."} for i in range(9)),
]  # fmt: skip


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> FastAPI:
    return over_fakes(make_index(tmp_path_factory.mktemp("find"), DOCUMENTS).folder)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 390])
def test_a_paper_is_found_by_what_names_it(open_page: Open, scheme: str, width: int) -> None:
    page = open_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page.locator("label[for=mode-find]").click()
    page.get_by_role("textbox", name="Paper").fill("Smith BMJ 2009 pressure")
    page.keyboard.press("Enter")
    first = page.locator(".hits li").first
    expect(first).to_contain_text(
        "Smith, O’Rourke, Ito, et al. · BMJ · 2009 · PMID 1111 · found by author, year, journal and title"
    )
    expect(page.get_by_role("heading", name="The paper that you may mean")).to_be_visible()
    expect(page.get_by_role("heading", name="Papers with these words")).to_be_visible()
    assert page.url.endswith(link(find="Smith BMJ 2009 pressure")) and not find_faults(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    first.get_by_role("button", name="Zeta for high pressure").click()
    expect(page.locator(".told")).to_contain_text("This is the paper 1111")
    assert not page.evaluate("window.hacked")


def test_an_id_that_the_index_lacks_and_words_of_none(open_page: Open) -> None:
    page = open_page(link(find="PMID 999999"))
    expect(page.locator(".sum")).to_have_text("PMID 999999 is not among the 11 documents of this index.")
    page.get_by_role("textbox", name="Paper").fill("Quux 1999")
    page.get_by_role("button", name="Find", exact=True).click()
    expect(page.locator(".none")).to_have_text("No paper in this index has these words.")
