"""The choice of a library on the page: offered where there are several, kept, and named by links."""

from __future__ import annotations

import pytest
from fastapi import FastAPI
from playwright.sync_api import expect

from counterpoint.service.http.app import create_app
from counterpoint.service.operating.libraries import Libraries
from counterpoint.service.operating.settings import Settings
from tests.browser.chromium import IN_CHROMIUM, Open, find_faults, link
from tests.helpers.answer_fakes import make_answerer
from tests.helpers.fakes import make_index, make_reading_grounder

pytestmark = IN_CHROMIUM


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> FastAPI:
    folder = tmp_path_factory.mktemp("libraries")
    for name, side in (("alpha", "for"), ("beta", "against")):
        document = {"pmid": name, "title": f"Paper of {name}", "abstract": f"Zeta is {side} pressure."}
        index = make_index(tmp_path_factory.mktemp(name), [document])
        index.close()
        index.folder.rename(folder / name)
    (folder / "broken").mkdir()
    (folder / "broken" / "manifest.json").write_text("{")
    libraries = Libraries(None, folder, make_reading_grounder, lambda one: make_answerer(one.index))
    return create_app(libraries, Settings(state=str(tmp_path_factory.mktemp("state"))))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_library_is_chosen_and_asked_and_the_choice_is_kept(open_page: Open, scheme: str) -> None:
    page = open_page(color_scheme=scheme)
    page.wait_for_selector("#libraries:not([hidden])")
    assert page.get_by_label("Library").locator("option").all_inner_texts() == [
        "alpha (1 paper)", "beta (1 paper)", "broken (damaged)",
    ]  # fmt: skip
    expect(page.locator("#health")).to_contain_text("Searches alpha: 1 ")
    assert find_faults(page) == []
    page.get_by_label("Library").select_option("beta (1 paper)")
    expect(page.locator("#health")).to_contain_text("Searches beta: 1 ")
    page.fill("#text", "zeta changes pressure")
    page.click("#go")
    page.wait_for_selector("#answer .card h3")
    assert page.locator("#answer .card h3").all_inner_texts() == ["Paper of beta"]
    assert "&library=" in page.url
    page.get_by_label("Library").select_option("alpha (1 paper)")
    expect(page.locator("#answer .card h3")).to_have_text("Paper of alpha")
    page.goto("about:blank")
    page.go_back()
    expect(page.locator("#health")).to_contain_text("Searches alpha: 1 ")


def test_a_link_opens_its_library_and_one_that_is_gone_leads_to_the_first(open_page: Open) -> None:
    page = open_page(link(claim="zeta changes pressure", library="beta"))
    page.wait_for_selector("#answer .card h3")
    assert page.locator("#answer .card h3").all_inner_texts() == ["Paper of beta"]
    assert page.get_by_label("Library").locator("option:checked").inner_text() == "beta (1 paper)"
    page = open_page(link(claim="zeta changes pressure", library="0123456789ab"))
    page.wait_for_selector(".problem")
    assert "There is no library “0123456789ab”" in page.inner_text(".problem")
    assert page.get_by_label("Library").locator("option:checked").inner_text() == "alpha (1 paper)"
