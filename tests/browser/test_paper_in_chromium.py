"""Read a paper, in a real browser: what a reader sees, reaches by keyboard and takes along."""

from __future__ import annotations

import json
import re
from html import escape
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from playwright.sync_api import Page, Request, expect

from tests.browser.chromium import HOSTILE, IN_CHROMIUM, Open, find_faults, link
from tests.helpers.fakes import make_index
from tests.helpers.served import over_fakes

pytestmark = IN_CHROMIUM

HYPOTHESIS = "Zeta lowers pressure."
# Characters beyond the first 65,536 stand before every sentence: offsets in UTF-16 units would miss them.
PAPER = f"""Abstract
𝛼-Blockers 😀 came first. Zeta is for pressure in adults.

Results
{HOSTILE} Zeta was best against pressure in 12 adults. Nothing else was seen in any of them."""
EXAMPLES: dict[str, Any] = {
    "claims": [], "questions": [], "text": "", "grounding": None,
    "paper": {
        "hypothesis": HYPOTHESIS,
        "text": "# A tiny trial\n\n## Abstract\n" + " ".join(f"Zeta was best for pressure in group {one}." for one in range(7)),
    },
}  # fmt: skip
JATS = """<?xml version="1.0"?>
<article><front><article-meta><title-group><article-title>A tiny trial</article-title></title-group>
<abstract><p>Zeta was given to rats. It is for pressure.</p></abstract></article-meta></front>
<body><sec><title>Results</title><p>Pressure fell by 3 mmHg.</p></sec></body></article>"""


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> FastAPI:
    documents = [{"pmid": str(place), "title": "", "abstract": f"Filler number {place}."} for place in range(3)]
    return over_fakes(make_index(tmp_path_factory.mktemp("paper"), documents).folder)


def paper_given(page: Page, paper: str = PAPER, hypothesis: str = HYPOTHESIS, k: int = 3) -> None:
    """Turn to the mode for papers and fill its fields."""
    page.get_by_text("Read a paper").click()
    page.get_by_role("textbox", name="Hypothesis").fill(hypothesis)
    page.get_by_label("Paper pasted").fill(paper)
    page.get_by_label("Number of sentences").fill(str(k))


def found_in(page: Page) -> list[str]:
    """The sentences that are shown, after waiting for them."""
    expect(page.locator(".chosen .card").first).to_be_visible()
    return [text.removeprefix("“").removesuffix("”") for text in page.locator("blockquote").all_text_contents()]


def asked_of_evidence(page: Page) -> list[Any]:
    """A list that each request about a paper is added to."""
    bodies: list[Any] = []

    def keep(request: Request) -> None:
        if request.url.endswith("/v1/evidence"):
            bodies.append(request.post_data_json)

    page.on("request", keep)
    return bodies


def test_the_example_paper_is_read_and_every_sentence_shown_stands_in_it(open_page: Open) -> None:
    page = open_page(before=lambda page: page.route("**/v1/examples", lambda route: route.fulfill(json=EXAMPLES)))
    page.get_by_text("Read a paper").click()
    page.get_by_role("button", name=HYPOTHESIS).click()
    shown = found_in(page)
    paper = page.locator("#paper").input_value()
    assert len(shown) == 5 and all(sentence in paper for sentence in shown)
    expect(page.locator(".asked")).to_have_text(HYPOTHESIS)
    expect(page.locator("#answer .headline").first).to_have_text(re.compile("the hypothesis|both ways"))
    expect(page.locator(".sum")).to_have_text("5 of 7 sentences chosen.")
    example = page.locator("#examples button")
    expect(example).to_have_attribute("aria-pressed", "true")
    for card, sentence in zip(page.locator(".chosen .card").all(), shown, strict=True):
        card.get_by_text("In context").click()
        expect(card.locator(".here")).to_have_text(f"Here: {sentence}")
        card.get_by_text("Parts of the score").click()
        parts = [float(text.replace("−", "-")) for text in card.locator(".parts dd").all_text_contents()]
        assert sum(parts[:-1]) == pytest.approx(parts[-1], abs=0.05)
    expect(page.get_by_role("button", name=re.compile("RIS|BibTeX|Markdown"))).to_have_count(0)
    page.get_by_role("button", name="Copy text").click()
    expect(page.locator("[data-do=text]")).to_have_text("Copied")
    assert shown[0] in page.evaluate("navigator.clipboard.readText()")
    page.get_by_text("Download").click()
    with page.expect_download() as coming:
        page.get_by_role("button", name="JSON").click()
    saved = json.loads(coming.value.path().read_text("utf-8"))
    assert [one["quotation"] for one in saved["evidence"]] == shown
    page.get_by_label("Paper pasted").fill(PAPER)
    page.get_by_role("button", name="Find evidence").click()
    expect(example).to_have_attribute("aria-pressed", "false")


def test_a_file_is_read_and_sent_as_what_it_is(open_page: Open, tmp_path: Path) -> None:
    page = open_page()
    bodies = asked_of_evidence(page)
    paper_given(page, "", k=1)
    listed = ["Zeta is for\npressure 😀.", "Results", "It  fell."]
    files: list[tuple[str, str, dict[str, Any], str]] = [
        ("trial.xml", JATS, {"jats": JATS}, "JATS XML"),
        ("list.json", json.dumps(listed), {"sentences": listed}, "a list of sentences"),
        ("paper.txt", PAPER, {"text": PAPER}, "plain text"),
    ]
    for name, text, sent, read in files:
        (tmp_path / name).write_text(text, "utf-8")
        page.get_by_label("Choose a file").and_(page.locator("#file")).set_input_files(tmp_path / name)
        expect(page.locator("#paper-note")).to_contain_text(f"“{name}” is in the field")
        page.get_by_role("button", name="Find evidence").click()
        expect(page.locator(".origin")).to_contain_text(f"read as {read}:")
        assert bodies[-1] == {"hypothesis": HYPOTHESIS, "k": 1, "results_only": False, **sent}
        # A listed sentence is a paragraph by itself.
        expect(page.get_by_text("In context")).to_have_count(0 if "sentences" in sent else 1)
        expect(page.locator(".entitled:visible")).to_have_count(1 if "jats" in sent else 0)


def test_a_paper_of_the_index_is_read_by_its_id(open_page: Open) -> None:
    page = open_page()
    bodies = asked_of_evidence(page)
    paper_given(page, "1", k=1)
    page.get_by_role("button", name="Find evidence").click()
    assert found_in(page) == ["Filler number 1."]
    expect(page.locator(".chosen h3")).to_have_text("Abstract")
    expect(page.locator(".origin")).to_contain_text("read as a paper of the index:")
    assert bodies[-1]["pmid"] == "1"


def test_a_hostile_paper_is_shown_as_text(open_page: Open) -> None:
    page = open_page()
    paper_given(page, f"Results {HOSTILE}\n\nZeta {HOSTILE} is for pressure. It was so.\n\n{HOSTILE}", k=3)
    page.get_by_role("button", name="Find evidence").click()
    assert any("<img src=x onerror" in sentence for sentence in found_in(page))
    for summary in page.locator(".chosen").get_by_text("In context").all():
        summary.click()
    expect(page.locator(".chosen .context").first).to_contain_text(f"Zeta {HOSTILE} is for pressure.")
    written = escape(HOSTILE)
    paper_given(page, JATS.replace("A tiny trial", written).replace("Results", written).replace("Pressure fell", written), k=3)
    page.get_by_role("button", name="Find evidence").click()
    expect(page.locator("#answer .entitled")).to_have_text(HOSTILE)
    assert any(sentence.startswith("<script>") for sentence in found_in(page))
    expect(page.locator(".chosen h3").filter(has_text=HOSTILE)).to_have_count(1)
    assert page.locator("#answer").locator("script, img, a").count() == 0
    assert page.evaluate("window.hacked") is None


def test_a_link_holds_no_text_of_the_paper_and_waits_for_it(open_page: Open, address: str) -> None:
    page = open_page()
    paper_given(page, k=2)
    page.get_by_label("Results only").check()
    page.get_by_role("button", name="Find evidence").click()
    assert len(found_in(page)) == 2
    assert page.url == address + link(hypothesis=HYPOTHESIS, k="2", results_only="true")
    assert page.title() == f"{HYPOTHESIS} · Counterpoint"
    page.get_by_role("button", name="Copy link").click()
    assert page.evaluate("navigator.clipboard.readText()") == page.url
    bodies: list[list[Any]] = []
    again = open_page(
        link(hypothesis=HYPOTHESIS, k="2", results_only="true"), lambda page: bodies.append(asked_of_evidence(page))
    )
    expect(again.locator("#paper")).to_be_focused()
    expect(again.locator("#paper")).to_have_value("")
    expect(again.locator("#text")).to_have_value(HYPOTHESIS)
    expect(again.locator("#count")).to_have_value("2")
    expect(again.get_by_label("Results only")).to_be_checked()
    expect(again.locator("#problem")).to_be_empty()
    expect(again.locator("#paper-note")).to_contain_text("Links do not include the paper")
    again.wait_for_timeout(300)
    assert bodies == [[]]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1200])
def test_axe_finds_nothing_serious_with_a_paper_and_nothing_sticks_out(open_page: Open, scheme: str, width: int) -> None:
    page = open_page(color_scheme=scheme, reduced_motion="reduce", viewport={"width": width, "height": 900})
    page.get_by_text("Read a paper").click()
    assert find_faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    paper_given(page, f"Results\n\nZeta{'a' * 200} is against pressure.\n\n{PAPER}", k=4)
    page.get_by_role("button", name="Find evidence").click()
    assert len(found_in(page)) == 4
    expect(page.locator(".asked")).to_be_in_viewport()
    for summary in page.locator(".chosen summary").all():
        summary.click()
    page.wait_for_timeout(200)
    assert find_faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
