"""What a reader has in view without scrolling, and what stays true of the page while it is open, in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from fastapi import FastAPI
from playwright.sync_api import Page, expect

from counterpoint.nli.text import designs
from counterpoint.service.grounding.schemas import DesignOut
from counterpoint.service.operating.settings import Settings
from tests.browser.chromium import IN_CHROMIUM, Open, example, find_faults, link, stream
from tests.helpers.fakes import make_index
from tests.helpers.pages import make_grounding, make_paper
from tests.helpers.served import over_reader

pytestmark = IN_CHROMIUM

DOCUMENTS: list[dict[str, Any]] = [
    {"pmid": "1", "title": "Zeta for pressure", "abstract": "Adults took zeta. Zeta was for blood pressure.", "year": 1999},
    {
        "pmid": "2",
        "title": "Zeta for pressure again",
        "abstract": "Zeta was for blood pressure.",
        "year": 2001,
        "retracted": True,
    },
]
CLAIM, QUESTION = "Zeta lowers blood pressure.", "Does zeta lower blood pressure?"
SIZES = [(1440, 900), (1366, 768), (1280, 720), (820, 1180), (390, 844)]
# An answer that takes its time: the page shows that it waits, with what it draws while it does.
SLOWLY = """const real = fetch;
  window.fetch = async (address, options) => {
    if (String(address).endsWith("stream")) await new Promise((done) => setTimeout(done, 500));
    return real(address, options);
  };"""
IN_VIEW = """(selector) => {
  const shown = [...document.querySelectorAll(selector)].find((one) => one.checkVisibility())?.getBoundingClientRect();
  return shown ? [shown.top, Math.min(shown.bottom, innerHeight) - Math.max(shown.top, 0)] : null;
}"""


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> FastAPI:
    folder = make_index(tmp_path_factory.mktemp("view"), DOCUMENTS).folder
    return over_reader(folder, Settings(state=str(tmp_path_factory.mktemp("state"))))


def both_sides() -> dict[str, Any]:
    places = ("contradict", "support", "uncertain", "silent")
    return make_grounding([make_paper(f"{place}{at}", place, 1990 + at, "trial") for place in places for at in range(5)])


ASKED = {
    "claim": (CLAIM, "Check a claim", "#answer .headline", "#answer blockquote"),
    "question": (QUESTION, "Answer a question", "#answer .headline", "#answer .prose .said"),
    "text": (f"{CLAIM} " * 20, "Check a text", "#answer .sum", "#answer .claims tbody tr"),
}


@pytest.mark.parametrize("mode", ASKED)
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_the_verdict_and_the_first_paper_are_in_view_when_an_answer_comes(
    open_page: Open, mode: str, size: tuple[int, int]
) -> None:
    typed, name, verdict, first = ASKED[mode]
    width, height = size

    def before(page: Page) -> None:
        page.add_init_script(SLOWLY)
        page.route("**/v1/ground/stream", stream(("grounding", both_sides())))
        page.route("**/v1/answer/stream", stream(("answer", example("answer"))))
        page.route("**/v1/text/stream", stream(("text", example("text"))))

    page = open_page("", before, viewport={"width": width, "height": height})
    page.get_by_text(name).click()
    page.locator("#text").fill(typed)
    page.locator("#go").click()
    expect(page.locator("#busy")).to_be_visible()
    expect(page.locator(verdict).first).to_be_visible()
    # What comes a little later, such as the button that saves, moves nothing.
    page.wait_for_timeout(500)
    for selector in (verdict, first):
        top, seen = page.evaluate(IN_VIEW, selector)
        assert top >= 0, selector
        assert seen >= (100 if mode == "text" and selector == first else 20), f"{selector}: {seen} pixels of it"


def test_the_first_quotation_is_in_view_whole(open_page: Open) -> None:
    answer = stream(("grounding", both_sides()))
    page = open_page(
        link(claim=CLAIM), lambda page: page.route("**/v1/ground/stream", answer), viewport={"width": 1440, "height": 900}
    )
    quote = page.locator("#answer blockquote").first
    expect(quote).to_be_visible()
    box = quote.bounding_box()
    assert box and box["y"] + box["height"] <= 900 and page.evaluate("scrollY") == 0


def test_an_answer_has_what_a_claim_has(open_page: Open) -> None:
    answer = example("answer")
    page = open_page(link(question=QUESTION), lambda page: page.route("**/v1/answer/stream", stream(("answer", answer))))
    verdicts = {"yes": "Yes", "no": "No", "mixed": "Mixed", "unclear": "Unclear"}
    expect(page.locator("#answer .headline")).to_have_text(verdicts[answer["verdict"]["outcome"]])
    expect(page.locator("#answer .weighed svg.scale").first).to_be_visible()
    expect(page.locator("#answer .sources .badges").first).to_contain_text("trial")
    claim = answer["verdict"]["claim"]
    expect(page.locator("#answer .asks a")).to_have_text(f"{claim[:1].upper()}{claim[1:]}".rstrip("."))
    with page.expect_request(lambda asked: asked.method == "POST" and asked.url.endswith("/v1/saved")) as saved:
        page.get_by_role("button", name="Save and watch").click()
    assert saved.value.post_data_json == {"claim": f"{claim[:1].upper()}{claim[1:].rstrip('.')}."}
    assert find_faults(page) == []


def test_papers_are_chosen_by_every_design_that_there_is(open_page: Open) -> None:
    names = list(yaml.safe_load(Path(designs.__file__).with_name("designs.yaml").read_text("utf-8")))
    kinds = {kind.design.name: DesignOut.model_validate(kind.design).model_dump() for kind in designs._load_kinds().values()}
    papers = [{**make_paper(name, "support", 2000, "cohort"), "design": kinds[name]} for name in names]
    answer = stream(("grounding", make_grounding(papers)))
    page = open_page(link(claim=CLAIM), lambda page: page.route("**/v1/ground/stream", answer))
    page.get_by_text("Filter and sort").click()
    for name in names:
        page.get_by_label("Design").select_option(name)
        assert page.locator(".side.support .card h3").all_text_contents() == [f"Paper {name}"]
    labels = page.locator("#design option").all_text_contents()
    assert labels[:3] == ["Any", "Systematic review", "Randomised trial"]
    assert {"Cohort study", "Non-randomised study", "Cross-sectional study", "Other study"} <= set(labels)


def test_a_retracted_paper_stands_on_no_side(open_page: Open) -> None:
    gone = {**make_paper("s1", "support", 2001, "cohort"), "retracted": True}
    says = "One paper contradicts this claim; none supports it."
    answer = stream(("grounding", make_grounding([make_paper("c1", "contradict", 2000, "trial"), gone], says)))
    page = open_page(link(claim=CLAIM), lambda page: page.route("**/v1/ground/stream", answer))
    expect(page.locator(".side.contradict .card h3")).to_have_text("Paper c1")
    expect(page.locator(".side.support")).to_contain_text("none found")
    expect(page.locator(".side.support .card")).to_have_count(0)
    expect(page.locator(".taken-back h2")).to_have_text("Retracted, not counted 1 paper")
    expect(page.locator(".taken-back .card .retracted")).to_have_text("Retracted")
    expect(page.locator(".dot.retracted")).to_have_attribute("aria-label", "2001, retracted, a cohort study, Paper s1")
    page.get_by_role("button", name="Copy text").click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert "Supports: none found" in copied and "Retracted, not counted: 1" in copied


def test_an_empty_result_is_one_sentence_with_the_word_that_no_paper_has(open_page: Open) -> None:
    page = open_page(link(claim="Omegazumab lowers baldness."))
    expect(page.locator("#answer .headline")).to_have_text("Nothing in this index mentions “Omegazumab” or “baldness”.")
    expect(page.locator("#answer .card:visible, #answer .side:visible, #answer svg")).to_have_count(0)
    assert find_faults(page) == []
    page.locator("#text").fill("omegazumab baldness")
    page.locator("#go").click()
    expect(page.locator("#answer .none")).to_have_text("Nothing in this index mentions “omegazumab” or “baldness”.")


def test_what_was_asked_is_in_a_menu(open_page: Open) -> None:
    page = open_page(link(claim=CLAIM))
    expect(page.locator("#answer .card").first).to_be_visible()
    page.get_by_role("button", name="Save and watch").click()
    menu = page.locator("#memory")
    expect(menu).to_be_hidden()
    page.get_by_role("button", name="History").click()
    expect(menu.get_by_role("heading")).to_have_text(["Saved and watched ", "Asked before "])
    assert find_faults(page) == []
    page.keyboard.press("Escape")
    expect(menu).to_be_hidden()
    page.goto(page.url.split("#")[0])
    page.reload()
    page.get_by_role("button", name="History").click()
    menu.get_by_role("link", name=CLAIM).last.click()
    expect(menu).to_be_hidden()
    expect(page.locator("#answered")).to_have_text(CLAIM)
    page.get_by_role("button", name="History").click()
    menu.get_by_role("button", name="Clear history").click()
    expect(menu.get_by_role("heading")).to_have_text(["Saved and watched "])
    menu.get_by_role("button", name="Delete everything").click()
    menu.get_by_role("button", name="Delete history, saved").click()
    expect(menu).to_contain_text("Nothing was asked yet.")
