"""The page in a real browser: what a reader sees, reaches by keyboard and takes along, and that nothing else is asked."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from fastapi import FastAPI
from playwright.sync_api import Browser, Page, Route, expect

from counterpoint.nli.reader.paper import AT_ODDS
from tests.browser.chromium import HOSTILE, IN_CHROMIUM, Open, example, find_faults, link, stream
from tests.helpers.answer_fakes import ScriptedGenerator
from tests.helpers.fakes import make_index
from tests.helpers.served import over_fakes

pytestmark = IN_CHROMIUM

SENTENCE = "Zeta is not against pressure in adults 𝛽."
ABSTRACT = f"𝛼-Blockers 😀 came first, and then for many years nothing. {SENTENCE} More was learned later."
DOCUMENTS: list[dict[str, Any]] = [
    {"pmid": "11", "title": "The first 𝛼 trial", "abstract": ABSTRACT, "year": 1999, "types": ["Randomized Controlled Trial"]},
    {"pmid": "demo/12", "title": "A paper taken back", "abstract": "Zeta is for pressure.", "retracted": True},
    {"pmid": "13", "title": HOSTILE, "abstract": f"{HOSTILE} zeta is not against pressure {HOSTILE}.", "journal": HOSTILE},
    {
        "pmid": "14",
        "title": "Best",
        "abstract": "Adults were asked. Zeta lowers blood pressure in most adults with hypertension.",
    },
    *({"pmid": f"x{i}", "title": "", "abstract": f"Filler number {i}."} for i in range(20)),
]
ANSWER = "Zeta lowers blood pressure in most adults with hypertension [1]. Rats sing loudly at night time [1]."
CLAIM, QUESTION = "Zeta alters the pressure.", "Does zeta lower blood pressure?"
PHONE = {"width": 390, "height": 800}


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> FastAPI:
    folder = make_index(tmp_path_factory.mktemp("browser"), DOCUMENTS).folder
    return over_fakes(folder, generator=ScriptedGenerator(ANSWER))


def checked(page: Page, claim: str = CLAIM) -> None:
    """Type a claim, send it, and wait for both columns."""
    page.get_by_role("textbox", name="Claim").fill(claim)
    page.get_by_role("button", name="Check claim").click()
    expect(page.locator(".side.contradict .card").first).to_be_visible()


def test_a_claim_is_typed_and_both_columns_come(open_page: Open) -> None:
    page = open_page()
    checked(page)
    against, gone = page.locator(".side.contradict .card"), page.locator(".side.taken-back .card")
    first = against.filter(has_text="The first 𝛼 trial")
    expect(first.locator("blockquote")).to_have_text(f"“{SENTENCE}”")
    expect(first.locator("blockquote mark")).to_have_text("not")
    expect(first.locator(".badges")).to_contain_text("Randomised trial")
    expect(gone.filter(has_text="A paper taken back").locator(".retracted")).to_have_text("Retracted")
    expect(page.locator("#answer .headline")).to_have_text("Both papers that take a side contradict this claim.")
    expect(page.locator("#answered")).to_be_focused()
    assert page.title() == f"{CLAIM} · Counterpoint"


def test_the_sentence_is_shown_where_it_stands(open_page: Open) -> None:
    page = open_page(link(claim=CLAIM))
    card = page.locator(".card").filter(has_text="The first 𝛼 trial")
    card.get_by_text("In context").click()
    box = card.locator(".context")
    # Characters beyond the first 65,536 stand before the sentence and in it: offsets in UTF-16 units would miss it.
    expect(box.locator(".here")).to_have_text(f"Here: {SENTENCE}")
    assert (box.locator("p").last.text_content() or "").replace("Here: ", "") == ABSTRACT


def test_a_question_is_answered_and_a_citation_leads_to_its_sentence(open_page: Open) -> None:
    page = open_page()
    page.get_by_role("textbox", name="Claim").fill(QUESTION)
    expect(page.get_by_role("radio", name="Answer a question")).to_be_checked()
    page.get_by_role("textbox", name="Question", exact=False).first.press("Enter")
    cite = page.locator(".prose .cite")
    expect(cite).to_have_count(1)
    cite.hover()
    note = page.locator(".note")
    expect(note).to_contain_text("Zeta lowers blood pressure in most adults with hypertension.")
    expect(note).to_contain_text("Quoted word for word from the abstract")
    page.get_by_role("button", name="Show in the abstract").click()
    expect(note).to_have_count(0)
    expect(page.locator(".sources .here")).to_have_text("Here: Zeta lowers blood pressure in most adults with hypertension.")
    page.get_by_text("1 sentence removed by the check").click()
    expect(page.locator(".removed")).to_contain_text("Rats sing loudly at night time")


def of_paper(evidence: Any, stance: str, label: str, shares: tuple[float, float, float], reason: str = "") -> Any:
    """The evidence with a verdict on its whole paper; `shares` are its probabilities of contradict, neutral and support."""
    verb = {"contradict": "contradicts", "support": "supports"}[stance]
    score = shares[0] if stance == "contradict" else shares[2]
    verdict = {"of": "document", "label": label, "contradict": shares[0], "neutral": shares[1], "support": shares[2],
               "quote": "", "reason": reason}  # fmt: skip
    why = f"{score:.0%} likely that the paper {verb} the claim; “not” negates “it”"
    side = stance if label == stance else "uncertain"
    judged = {"stance": stance, "side": side, "score": score, "scored_by": "reader@1", "verdict": verdict, "why": why}
    return {**evidence, "qualifiers": [], "standing": "plain", **judged}


def test_a_verdict_on_the_whole_paper_is_one_number(open_page: Open) -> None:
    grounding = example("ground")
    apart = grounding["supporting"][0]
    of_sentence = {**apart["verdict"], "of": "sentence", "support": 0.64, "neutral": 0.3, "contradict": 0.06}
    grounding["supporting"] = [{**apart, "verdict": of_sentence, "score": 0.39, "why": "", "qualifiers": []}]
    grounding["contradicting"] = [of_paper(apart, "contradict", "contradict", (0.8312, 0.12, 0.0488))]
    grounding["more"] = grounding["silent"] = []
    grounding["uncertain"] = [
        of_paper(apart, "contradict", "neutral", (0.6, 0.3, 0.1), AT_ODDS),
        of_paper(apart, "support", "neutral", (0.1, 0.62, 0.28)),
        of_paper(apart, "support", "neutral", (0.15, 0.45, 0.4)),
    ]
    events = stream(("grounding", grounding))
    page = open_page(link(claim=CLAIM), lambda page: page.route("**/v1/ground/stream", events))
    card = page.locator(".side.contradict .card")
    expect(card.locator(".likely")).to_have_text("83% likely that this paper contradicts the claim")
    expect(card.locator("blockquote")).to_contain_text(apart["sentence"]["text"])
    expect(card.locator(".badges .doubt")).to_have_count(0)
    assert re.findall(r"\d+%|\d\.\d+", card.inner_text()) == ["83%"]
    card.get_by_text("Why, and all figures").click()
    expect(card.locator(".split .c")).to_have_css("flex-grow", "0.8312")
    expect(card.locator(".key .n dd")).to_have_text("12%")
    expect(card.locator(".why")).to_have_text("“not” negates “it”")
    expect(card.locator(".score")).to_have_text("Judged by reader@1")
    doubts = page.locator(".side.uncertain .doubt")
    expect(doubts).to_have_text(
        [
            "May contradict",
            "Uncertain: the paper and its best sentence disagree",
            "May support",
            "Uncertain: it more likely says nothing",
            "May support",
            "Uncertain: too close to call",
        ]
    )
    other = page.locator(".side.support .card")
    expect(other.locator(".likely")).to_have_text("Score 0.390")
    other.get_by_text("Why, and all figures").click()
    expect(other.locator(".key .s dd")).to_have_text("64%")
    assert find_faults(page) == []


def test_a_claim_s_papers_are_a_list_or_a_table(open_page: Open) -> None:
    grounding = example("ground")
    first = grounding["contradicting"][0]
    first["verdict"]["details"] = {"people": "healthy women", "number": "16,608", "effect": ""}
    events = stream(("grounding", grounding))
    page = open_page(link(claim=CLAIM), lambda page: page.route("**/v1/ground/stream", events))
    table = page.get_by_role("table", name="Papers")
    expect(page.locator("#answer .sides")).to_be_visible()
    expect(table).to_be_hidden()
    page.get_by_role("radio", name="List").focus()
    page.keyboard.press("ArrowRight")
    expect(table).to_be_visible()
    expect(page.locator("#answer .sides")).to_be_hidden()
    papers = [one for name in ("contradicting", "supporting", "uncertain", "more") for one in grounding[name]]
    expect(table.locator("tbody tr")).to_have_count(sum(not one["retracted"] for one in papers))
    expect(table.locator("thead th")).to_have_text(
        ["Paper", "Direction", "Probability", "Design", "Year", "People", "Number", "Quotation"]
    )
    cells = table.locator("tbody tr").first.locator("th, td")
    expect(cells.nth(0)).to_have_text(first["title"])
    expect(cells.nth(6)).to_have_text("16,608")
    expect(cells.nth(7)).to_contain_text(f"“{first['sentence']['text']}”")
    assert find_faults(page) == []
    page.reload()
    expect(page.get_by_role("radio", name="Table")).to_be_checked()
    expect(table).to_be_visible()
    page.get_by_text("Filter and sort").click()
    page.get_by_label("Order").select_option("oldest")
    years = [int(cell) for cell in table.locator("td:nth-child(5)").all_inner_texts()]
    assert years == sorted(years)


def test_an_answer_streams_in_and_can_be_stopped(open_page: Open, browser: Browser) -> None:
    # A response that never ends cannot be made by a route; the page's own fetch is given one.
    never = """const sent = new TextEncoder().encode('event: stage\\r\\ndata: {"name": "write", "detail": "Writing."}\\r\\n\\r\\n'
      + ': ping\\n\\nevent: sentence\\ndata: {"place": 1, "text": "Second.", "pmids": []}\\n\\n'
      + 'event: sentence\\ndata: {"place": 0, "text": "First 😀.", "pmids": []}\\n\\n');
    const real = fetch;
    const slowly = (signal) => new ReadableStream({ start(control) {
      for (const byte of sent) control.enqueue(new Uint8Array([byte]));
      signal.addEventListener("abort", () => { window.left = true; control.error(signal.reason); });
    } });
    window.fetch = (address, options) =>
      String(address).endsWith("stream") ? Promise.resolve(new Response(slowly(options.signal))) : real(address, options);"""
    page = open_page(link(question=QUESTION), lambda page: page.add_init_script(never))
    expect(page.locator("#draft .stages")).to_have_text("Writing.")
    expect(page.locator("#draft .prose")).to_have_text("First 😀. Second. ")
    expect(page.locator("#status")).to_have_text("Writing.")
    page.get_by_role("button", name="Stop").click()
    expect(page.locator("#busy")).to_be_hidden()
    assert page.evaluate("window.left") is True
    expect(page.locator("#text")).to_be_focused()


@pytest.mark.parametrize(
    ("format", "ending", "holds"),
    [
        ("RIS", "ris", "TY  - "),
        ("BibTeX", "bib", "@"),
        ("Markdown", "md", "## Contradicting"),
        ("JSON", "json", '"contradicting"'),
    ],
)
def test_an_answer_is_downloaded(open_page: Open, format: str, ending: str, holds: str) -> None:
    page = open_page(link(claim=CLAIM))
    page.get_by_text("Download").click()
    with page.expect_download() as coming:
        page.get_by_role("button", name=format, exact=True).click()
    assert coming.value.suggested_filename == f"counterpoint-zeta-alters-the-pressure.{ending}"
    text = coming.value.path().read_text("utf-8")
    assert holds in text
    assert "The first 𝛼 trial" in text or ending == "bib"


def test_a_link_asks_again_and_back_goes_back(open_page: Open, address: str) -> None:
    page = open_page()
    checked(page)
    page.get_by_role("button", name="Copy link").click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert page.url == address + link(claim=CLAIM)
    # The link names what made the result, so that whoever opens it learns what has changed since.
    assert copied.startswith(f"{page.url}&config=v5&profile=embedded&index=")
    page.get_by_role("button", name="Copy text").click()
    expect(page.locator("[data-do=text]")).to_have_text("Copied")
    assert SENTENCE in page.evaluate("navigator.clipboard.readText()")
    page.go_back()
    expect(page.locator("#intro")).to_be_visible()
    again = open_page(link(question=QUESTION, narrative="A man of 60."))
    expect(again.locator("#narrative")).to_be_visible()
    expect(again.locator("#narrative")).to_have_value("A man of 60.")
    expect(again.locator(".prose .cite")).to_have_count(1)
    known = open_page(link(claim=CLAIM, question="Why?", known="demo/12,14"))
    expect(known.locator(".side.support .none")).to_be_visible()
    expect(known.locator("#known")).to_have_value("demo/12,14")


def test_everything_is_reached_by_keyboard(open_page: Open) -> None:
    page = open_page()
    press = page.keyboard.press
    expect(page.locator("#text")).to_be_focused()
    page.keyboard.type(QUESTION)
    press("Control+Enter")
    expect(page.locator(".cite")).to_have_count(1)
    for _ in range(20):
        press("Tab")
        if page.evaluate("document.activeElement.className") == "cite":
            break
    cite = page.locator(".cite")
    expect(cite).to_be_focused()
    expect(page.locator(".note")).to_be_visible()
    expect(cite).to_have_attribute("aria-expanded", "true")
    assert cite.get_attribute("aria-describedby") == page.locator(".note-text").get_attribute("id")
    press("Tab")
    expect(page.get_by_role("button", name="Show in the abstract")).to_be_focused()
    press("Escape")
    expect(page.locator(".note")).to_have_count(0)
    expect(cite).to_be_focused()
    press("Enter")
    expect(page.locator(".note")).to_be_visible()
    press("Tab")
    press("Enter")
    expect(page.locator(".sources .here")).to_be_visible()
    assert page.evaluate("document.activeElement.textContent") == "In context"
    press("Tab")
    assert page.evaluate("document.activeElement.className") == "context"


@pytest.mark.parametrize("asked", [{}, {"claim": CLAIM}, {"question": QUESTION}])
def test_a_narrow_screen_scrolls_down_only(open_page: Open, asked: dict[str, str]) -> None:
    page = open_page(link(**asked) if asked else "", viewport=PHONE, has_touch=True)
    expect(page.locator(".intro:visible, .card:visible").first).to_be_visible()
    if "question" in asked:
        page.locator(".cite").tap()
        expect(page.get_by_role("button", name="Show in the abstract")).to_be_in_viewport()
    if "claim" in asked:
        # In one call: the page may still be scrolling to its results.
        boxes = page.evaluate(
            "['.side.contradict', '.side.support'].map((one) => document.querySelector(one).getBoundingClientRect().toJSON())"
        )
        assert boxes[1]["top"] >= boxes[0]["bottom"]
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    wider = "boxes => boxes.filter((one) => one.scrollWidth > one.clientWidth).length"
    assert page.locator(".examples:visible").evaluate_all(wider) == 0, "every example is in sight"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("asked", [{}, {"claim": CLAIM}, {"question": QUESTION}])
def test_axe_finds_nothing_serious(open_page: Open, scheme: str, asked: dict[str, str]) -> None:
    page = open_page(link(**asked) if asked else "", color_scheme=scheme, reduced_motion="reduce")
    if asked:
        page.locator(".card summary").first.click()
        expect(page.locator(".here")).to_be_visible()
    if "question" in asked:
        page.locator(".cite").focus()
        expect(page.locator(".note")).to_be_visible()
    page.wait_for_timeout(200)
    assert find_faults(page) == []


def test_hostile_text_is_shown_as_text(open_page: Open) -> None:
    page = open_page(link(claim=CLAIM))
    card = page.locator(".card").filter(has_text="<script>")
    expect(card.locator("h3")).to_have_text(HOSTILE)
    expect(card.locator("blockquote")).to_contain_text(f"{HOSTILE} zeta is not against pressure")
    card.get_by_text("In context").click()
    expect(card.locator(".context")).to_contain_text(f"zeta is not against pressure {HOSTILE}.")
    hrefs = card.locator("a").evaluate_all("links => links.map((one) => one.href)")
    assert hrefs == ["https://pubmed.ncbi.nlm.nih.gov/13/"]
    assert card.locator("script, img").count() == 0
    assert page.evaluate("window.hacked") is None


def test_faults_are_told_where_the_eye_is(open_page: Open) -> None:
    page = open_page()
    page.get_by_role("button", name="Check claim").click()
    expect(page.locator("#problem")).to_contain_text("The claim is empty")
    expect(page.locator("#text")).to_be_focused()
    page.route("**/v1/ground/stream", lambda route: route.fulfill(status=503, json={"detail": "Too much to do."}))
    page.locator("#text").fill(CLAIM)
    page.keyboard.press("Enter")
    expect(page.locator("#problem")).to_contain_text("Too much to do.")
    page.unroute("**/v1/ground/stream")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator(".card").first).to_be_visible()
    page.route("**/v1/ground/stream", stream(("stage", {"name": "read", "side": "support", "detail": "Judging."})))
    page.locator("#text").press("Enter")
    expect(page.locator("#problem")).to_contain_text("stopped before the answer was complete")


def test_a_key_is_asked_for_and_sent(open_page: Open) -> None:
    def before(page: Page) -> None:
        page.route(
            "**/v1/**",
            lambda route: route.fallback() if known(route) else route.fulfill(status=401, json={"detail": "Give a key."}),
        )

    def known(route: Route) -> bool:
        return route.request.headers.get("x-api-key") == "a-secret-key"

    page = open_page(link(claim=CLAIM), before)
    expect(page.locator("#problem")).to_contain_text("Give a key.")
    page.get_by_label("API key").fill("a-secret-key")
    page.keyboard.press("Enter")
    page.locator(".card summary").first.click()
    expect(page.locator(".here")).to_be_visible()
    page.get_by_text("Download").click()
    with page.expect_download():
        page.get_by_role("button", name="RIS").click()
    page.reload()
    expect(page.locator(".card").first).to_be_visible()


def test_full_texts_alone_are_read_where_there_are_some(open_page: Open) -> None:
    bodies: list[Any] = []

    def serve(page: Page, texts: int) -> None:
        page.route("**/v1/index*", lambda route: route.fulfill(json={**json.loads(route.fetch().text()), "full_texts": texts}))
        page.on("request", lambda request: bodies.append(request.post_data_json) if "/v1/ground" in request.url else None)

    page = open_page(before=lambda page: serve(page, 2))
    page.get_by_role("textbox", name="Claim").fill(CLAIM)
    page.locator("#more summary").click()
    page.get_by_label("Full texts only").check()
    page.get_by_role("button", name="Check claim").click()
    # This index has none after all: the service says what to do.
    expect(page.locator("#problem")).to_contain_text("This index has no full texts")
    assert bodies[-1]["full_text"] is True
    without = open_page(before=lambda page: serve(page, 0))
    without.locator("#more summary").click()
    expect(without.get_by_label("Known PMIDs")).to_be_visible()
    expect(without.get_by_label("Full texts only")).to_be_hidden()
