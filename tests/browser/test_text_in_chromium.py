"""Check a text, in a real browser: what a reader sees, reaches by keyboard and takes along."""

from __future__ import annotations

import pytest
from fastapi import FastAPI
from playwright.sync_api import Page, expect

from counterpoint.service.http.app import create_app
from counterpoint.service.operating.libraries import Libraries
from tests.browser.chromium import IN_CHROMIUM, Open, find_faults
from tests.helpers.fakes import make_index, make_reading_grounder
from tests.helpers.texts import DOCUMENTS, HOSTILE, docx, pdf

pytestmark = IN_CHROMIUM

TEXT = f"# A title\n\nDoes 😀 zeta help? Zeta lowers pressure (PMID 1, PMID 77).\n\n- Omega lowers sugar.\n- {HOSTILE} is here"


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> FastAPI:
    folder = make_index(tmp_path_factory.mktemp("browser"), DOCUMENTS).folder
    return create_app(Libraries(folder, None, make_reading_grounder))


@pytest.fixture
def page(open_page: Open, request: pytest.FixtureRequest) -> Page:
    """The page with the text checked."""
    opened = open_page(**getattr(request, "param", {}))
    opened.get_by_text("Check a text").click()
    opened.get_by_role("textbox", name="Text").fill(TEXT)
    opened.get_by_role("button", name="Check text").click()
    expect(opened.locator(".checked")).to_be_visible()
    return opened


def test_the_text_is_shown_whole_with_its_claims_marked(page: Page) -> None:
    shown = page.locator(".checked")
    expect(shown.locator("h3")).to_have_text("A title")
    expect(shown.locator(".said.contradicted")).to_have_text("Zeta lowers pressure (PMID 1, PMID 77).")
    expect(shown.locator(".said.supported")).to_have_text("Omega lowers sugar.")
    expect(shown).to_contain_text("Does 😀 zeta help?")
    expect(page.locator(".verdicts li")).to_have_text(
        ["✗ contradicted 1", "✓ supported 1", "Citations: ✗ says the opposite", "not in the index"]
    )


def test_a_citation_has_a_badge_of_its_own_beside_the_verdict(page: Page) -> None:
    """A supported claim with a wrong citation must not look as if all were well."""
    page.locator("#text").fill("Omega lowers sugar (PMID 3; PMID x1). Omega lowers sugar (PMID 2).")
    page.get_by_role("button", name="Check text").click()
    expect(page.locator(".checked .cite")).to_have_text(["1\u00a0✓", "2\u00a0✓"])
    badges = page.locator(".checked .cited")
    expect(badges).to_have_text(["Its citation ? 2 do not say it", "Its citation ✓ says so"])
    colours = [badge.evaluate("one => getComputedStyle(one).color") for badge in badges.all()]
    mark = page.locator(".checked .cite").first.evaluate("one => getComputedStyle(one).color")
    assert colours[0] != mark and colours[1] == mark
    page.get_by_role("button", name="Copy text").click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert "✓ supported; citation: ? 2 do not say it: Omega lowers sugar (PMID 3; PMID x1)." in copied


def test_the_table_has_the_best_papers_and_the_citations(page: Page) -> None:
    row = page.locator(".claims tbody tr").first
    expect(row.locator(".best.contradict blockquote")).to_have_text("“Zeta is against pressure.”")
    against, unknown = row.locator(".headline .citation").all()
    expect(against).to_contain_text("✗ says the opposite Cites PMID 1")
    expect(against.locator("q")).to_have_text("Zeta is against pressure.")
    expect(unknown).to_have_text("not in the index Cites PMID 77")
    expect(row.locator(".best a")).to_have_attribute("href", "https://pubmed.ncbi.nlm.nih.gov/1/")
    page.get_by_text("All that was found for claim 1: 1 paper").click()
    expect(page.locator(".claims .card h3")).to_contain_text("<script>")


@pytest.mark.parametrize("button", ["JSON", "Markdown", "HTML", "CSV", "XLSX"])
def test_it_can_be_taken_along(page: Page, button: str) -> None:
    page.get_by_text("Download").click()
    with page.expect_download() as download:
        page.get_by_role("button", name=button, exact=True).click()
    ending = "md" if button == "Markdown" else button.lower()
    assert download.value.suggested_filename.endswith(f".{ending}")
    assert download.value.path().stat().st_size > 300


@pytest.mark.parametrize(
    "page",
    [{"color_scheme": "light"}, {"color_scheme": "dark"}, {"viewport": {"width": 390, "height": 800}}],
    indirect=True,
    ids=["light", "dark", "narrow"],
)
def test_readers_of_every_kind_get_it(page: Page) -> None:
    page.get_by_text("All that was found for claim 1").click()
    assert find_faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


FILES = {
    "text.docx": docx(("Heading 1", "A title"), ("Normal", "Zeta lowers pressure."), ("List Bullet", "Omega lowers sugar.")),
    "text.pdf": pdf([["A title", "Zeta lowers pressure.", "Omega lowers sugar."]]),
    "claims.csv": b"id,claim\n1,Zeta lowers pressure.\n2,Omega lowers sugar.\n",
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_held_until_it_is_checked(page: Page, name: str) -> None:
    page.get_by_label("Choose a file").and_(page.locator("#manuscript")).set_input_files(
        {"name": name, "mimeType": "", "buffer": FILES[name]}
    )
    expect(page.locator("#manuscript-note")).to_have_text(f"“{name}” will be read when you check it.")
    expect(page.locator("#text")).to_have_value("")
    page.get_by_role("button", name="Check text").click()
    # The answer before this one has the same claims.
    expect(page.locator(".checked")).not_to_contain_text("😀")
    expect(page.locator(".claims tbody .number")).to_have_text(["1", "2"])
    expect(page.locator(".verdicts li")).to_have_text(["✗ contradicted 1", "✓ supported 1"])
    page.get_by_text("Download").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="HTML", exact=True).click()
    assert name in download.value.path().read_text("utf-8")
    page.get_by_role("button", name="Remove the file").click()
    expect(page.locator("#manuscript-note")).to_have_text("")
    page.get_by_role("button", name="Check text").click()
    expect(page.locator("#problem")).to_contain_text("The text is empty; give a text or a file.")


def test_a_pasted_abstract_goes_to_its_mode_and_a_claim_stays_in_its_own(page: Page, address: str) -> None:
    page.goto(f"{address}#")
    page.reload()
    field = page.locator("#text")
    field.fill("Zeta lowers pressure.")
    expect(page.locator("#mode-claim")).to_be_checked()
    field.fill("Zeta lowers pressure in adults. " * 12)
    expect(page.locator("#mode-text")).to_be_checked()
