"""The page in a real browser: what a reader sees, reaches by keyboard and takes along, and that nothing else is asked."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, Request, Route, expect

from retrieval.index import Index
from service.http.app import create_app
from tests.browser.chromium import CHROMIUM, chromium
from tests.helpers.answer_fakes import ScriptedGenerator, make_answerer
from tests.helpers.fakes import make_grounder, make_index
from tests.helpers.served import serving

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed (Debian: apt install chromium)"),
]

HOSTILE = (
    "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'><a href='javascript:window.hacked = 1'>here</a>"
)
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
CLAIM, QUESTION = "zeta pressure", "Does zeta lower blood pressure?"
PHONE = {"width": 390, "height": 800}

Open = Callable[..., Page]

expect.set_options(timeout=20_000)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = make_index(tmp_path_factory.mktemp("browser"), DOCUMENTS).folder
    app = create_app(
        lambda: make_grounder(Index(folder))[0], lambda grounder: make_answerer(grounder.index, ScriptedGenerator(ANSWER))
    )
    with serving(app) as (found, _server):
        yield f"{found}/"


# Not for the session: as long as Playwright runs, no other test could run an event loop.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as opened:
        yield opened


@pytest.fixture
def open_page(browser: Browser, address: str) -> Iterator[Open]:
    """Opens the page, or what a link names; at the end nothing may have failed, and nothing else have been asked."""
    asked: list[str] = []
    faults: list[str] = []
    contexts = []

    def opened(link: str = "", before: Callable[[Page], None] | None = None, **options: Any) -> Page:
        context = browser.new_context(**{"viewport": {"width": 1200, "height": 900}, **options})
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        context.set_default_timeout(20_000)
        contexts.append(context)
        page = context.new_page()
        context.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("dialog", lambda dialog: faults.append(f"a dialog: {dialog.message}"))
        if before:
            before(page)
        page.goto(address + link)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert not faults
    assert {url for url in asked if not url.startswith((address, "data:", "blob:"))} == set()


def link(**parts: str) -> str:
    return "#" + "&".join(f"{name}={quote(value)}" for name, value in parts.items())


def checked(page: Page, claim: str = CLAIM) -> None:
    """Type a claim, send it, and wait for both columns."""
    page.get_by_role("textbox", name="Claim").fill(claim)
    page.get_by_role("button", name="Check claim").click()
    expect(page.locator(".side.contradict .card").first).to_be_visible()


def faults_for_readers(page: Page) -> list[str]:
    """What axe calls serious or worse, with the place."""
    found = Axe().run(page).response["violations"]
    return [f"{one['id']}: {one['nodes'][0]['html']}" for one in found if one["impact"] in ("serious", "critical")]


def stream(*events: tuple[str, Any]) -> Callable[[Route], None]:
    body = "".join(f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in events)
    return lambda route: route.fulfill(status=200, content_type="text/event-stream", body=body)


def test_a_claim_is_typed_and_both_columns_come(open_page: Open) -> None:
    page = open_page()
    checked(page)
    against, for_it = page.locator(".side.contradict .card"), page.locator(".side.support .card")
    first = against.filter(has_text="The first 𝛼 trial")
    expect(first.locator("blockquote")).to_have_text(f"“{SENTENCE}”")
    expect(first.locator("blockquote mark")).to_have_text("not")
    expect(first.locator(".badges")).to_contain_text("Randomized trial")
    expect(for_it.filter(has_text="A paper taken back").locator(".retracted")).to_have_text("Retracted")
    expect(page.locator("#answer .says")).to_have_text("Both papers that take a side contradict this claim.")
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


def test_the_sentence_is_scrolled_to_within_its_box(open_page: Open) -> None:
    long = {"pmid": "11", "title": "Long", "abstract": "Before it. " * 300 + SENTENCE}
    start = len(long["abstract"]) - len(SENTENCE)
    found = {"index": 300, "start": start, "end": start + len(SENTENCE), "text": SENTENCE}

    def before(page: Page) -> None:
        page.route("**/v1/documents/*", lambda route: route.fulfill(json=long))
        page.route("**/v1/ground/stream", lambda route: changed(route, found))

    def changed(route: Route, sentence: dict[str, Any]) -> None:
        text = route.fetch().text()
        answer = json.loads(text.rpartition("event: grounding\ndata: ")[2])
        answer["contradicting"][0] |= {"sentence": sentence, "negations": []}
        stream(("grounding", answer))(route)

    page = open_page(link(claim=CLAIM), before)
    page.locator(".card summary").first.click()
    here = page.locator(".here").first
    expect(here).to_be_visible()
    inside = """([box, here]) => {
      const [around, at] = [box, here].map((one) => one.getBoundingClientRect());
      return at.top >= around.top && at.bottom <= around.bottom;
    }"""
    assert page.evaluate(inside, [page.locator(".context").first.element_handle(), here.element_handle()])


@pytest.mark.parametrize(("status", "told"), [(404, "no longer holds this abstract"), (500, "could not be opened")])
def test_an_abstract_that_cannot_be_had_is_told_and_asked_for_again(open_page: Open, status: int, told: str) -> None:
    page = open_page(link(claim=CLAIM))
    page.route("**/v1/documents/*", lambda route: route.fulfill(status=status, json={"detail": "It failed."}))
    summary = page.locator(".card summary").first
    summary.click()
    expect(page.locator(".context").first).to_contain_text(told)
    page.unroute("**/v1/documents/*")
    summary.click()
    summary.click()
    expect(page.locator(".context .here").first).to_be_visible()


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


def test_a_question_mark_suggests_and_the_reader_decides(open_page: Open) -> None:
    page = open_page()
    text = page.locator("#text")
    claim, question = page.get_by_label("Check a claim"), page.get_by_label("Answer a question")
    text.fill("Does zeta work?")
    expect(question).to_be_checked()
    text.fill("Zeta works.")
    expect(claim).to_be_checked()
    question.check(force=True)
    text.fill("Zeta works")
    expect(question).to_be_checked()
    text.fill("")
    text.fill("Zeta works.")
    expect(claim).to_be_checked()


def example(name: str) -> Any:
    return json.loads((Path(__file__).parents[2] / "service" / "http" / "examples" / f"{name}.json").read_text("utf-8"))


def test_stages_sentences_and_conflicts_are_shown(open_page: Open) -> None:
    answer, grounding = example("answer"), example("ground")
    answer = answer.get("response", answer)
    evidence = (grounding.get("response", grounding)["contradicting"] or grounding["supporting"])[0]
    turned = {"claim": "reduces", "evidence": "increased", "start": 115, "end": 124}
    evidence = {**evidence, "stance": "contradict", "why": "61% likely", "negations": [], "directions": [turned],
                "sentence": {"index": 0, "start": 100, "end": 125, "text": "The 𝛼 risk was increased."}}  # fmt: skip
    answer["conflicts"] = [{"sentence": 0, "evidence": evidence}, {"sentence": 0, "evidence": evidence}]
    answer["sentences"][0]["citations"][0]["verbatim"] = False
    answer["sentences"][0]["citations"][0]["verdict"]["support"] = 0.9964
    said = answer["sentences"][0]["text"]

    def before(page: Page) -> None:
        page.route("**/v1/answer/stream", stream(("stage", {"name": "retrieve", "detail": "Searching."}), ("answer", answer)))

    page = open_page(link(question=QUESTION), before)
    expect(page.locator(".pair")).to_have_count(1)
    expect(page.locator(".pair .against")).to_contain_text(said)
    expect(page.locator(".pair .card")).to_have_count(2)
    expect(page.locator(".pair blockquote .turned").first).to_have_text("increased")
    expect(page.locator(".sum")).to_contain_text("1 paper may contradict it")
    page.locator(".cite").first.focus()
    expect(page.locator(".note")).to_contain_text(">99% likely to support this")


def of_paper(evidence: Any, stance: str, label: str, shares: tuple[float, float, float]) -> Any:
    """The evidence with a verdict on its whole paper; `shares` are its probabilities of contradict, neutral and support."""
    verb = {"contradict": "contradicts", "support": "supports"}[stance]
    score = shares[0] if stance == "contradict" else shares[2]
    verdict = {"of": "document", "label": label, "contradict": shares[0], "neutral": shares[1], "support": shares[2],
               "quote": "", "reason": ""}  # fmt: skip
    why = f"{score:.0%} likely that the paper {verb} the claim; “not” negates “it”"
    place = stance if label == stance else "uncertain"
    judged = {"stance": stance, "place": place, "score": score, "scored_by": "reader@1", "verdict": verdict, "why": why}
    return {**evidence, "qualifiers": [], **judged}


def test_a_verdict_on_the_whole_paper_is_one_number(open_page: Open) -> None:
    grounding = example("ground")
    apart = grounding["supporting"][0]
    of_sentence = {**apart["verdict"], "of": "sentence", "support": 0.64, "neutral": 0.3, "contradict": 0.06}
    grounding["supporting"] = [{**apart, "verdict": of_sentence, "score": 0.39, "why": "", "qualifiers": []}]
    grounding["contradicting"] = [of_paper(apart, "contradict", "contradict", (0.8312, 0.12, 0.0488))]
    grounding["more"] = grounding["silent"] = []
    grounding["uncertain"] = [
        of_paper(apart, "contradict", "neutral", (0.6, 0.3, 0.1)),
        of_paper(apart, "support", "neutral", (0.1, 0.62, 0.28)),
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
        ["May contradict", "Uncertain: the paper and its best sentence disagree", "May support", "Uncertain: too close to call"]
    )
    other = page.locator(".side.support .card")
    expect(other.locator(".likely")).to_have_text("Score 0.390")
    other.get_by_text("Why, and all figures").click()
    expect(other.locator(".key .s dd")).to_have_text("64%")
    assert faults_for_readers(page) == []


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


def test_too_little_is_told_plainly(open_page: Open) -> None:
    answer = example("answer")
    answer |= {
        "outcome": "too little",
        "text": "",
        "sentences": [],
        "conflicts": [],
        "note": "The index has too little on this.",
    }
    answer["documents"] = [{**one, "cited": False} for one in answer["documents"]]
    page = open_page(link(question=QUESTION), lambda page: page.route("**/v1/answer/stream", stream(("answer", answer))))
    expect(page.get_by_role("heading", name="Not enough evidence to answer")).to_be_visible()
    expect(page.locator(".too-little")).to_contain_text("The index has too little on this.")
    expect(page.locator(".prose:visible, .conflicts:visible, .sources:visible")).to_have_count(0)
    expect(page.get_by_role("button", name="RIS")).to_have_count(0)


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
    with page.expect_download() as coming:
        page.get_by_role("button", name=format, exact=True).click()
    assert coming.value.suggested_filename == f"counterpoint-zeta-pressure.{ending}"
    text = coming.value.path().read_text("utf-8")
    assert holds in text
    assert "The first 𝛼 trial" in text or ending == "bib"


def test_a_download_that_fails_leaves_the_answer_and_says_so(open_page: Open) -> None:
    page = open_page(link(claim=CLAIM))
    page.route("**/v1/ground?*", lambda route: route.fulfill(status=422, json={"detail": "format: unknown."}))
    page.get_by_role("button", name="RIS").click()
    expect(page.get_by_role("alert").filter(has_text="RIS could not be written. format: unknown.")).to_be_visible()
    expect(page.locator(".card").first).to_be_visible()


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
        left, right = (page.locator(f".side.{side}").bounding_box() for side in ("contradict", "support"))
        assert left and right
        assert right["y"] >= left["y"] + left["height"]
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
    assert faults_for_readers(page) == []


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


def test_hostile_links_ask_and_show_text_only(open_page: Open) -> None:
    page = open_page(link(claim=f"zeta pressure {HOSTILE}", known="<img src=x onerror=alert(1)>"))
    expect(page.locator(".asked")).to_have_text(re.compile("^zeta pressure <script>"))
    assert page.evaluate("window.hacked") is None
    page.goto(page.url.split("#")[0] + "#claim=%E0%A4%A&question=javascript:alert(1)")
    expect(page.locator(".asked, .problem").first).to_be_visible()


def test_faults_are_told_where_the_eye_is(open_page: Open) -> None:
    page = open_page()
    page.get_by_role("button", name="Check claim").click()
    expect(page.locator("#problem")).to_contain_text("The claim is empty")
    expect(page.locator("#text")).to_be_focused()
    page.route("**/v1/ground/stream", lambda route: route.fulfill(status=503, json={"detail": "Too much to do."}))
    page.locator("#text").fill("zeta pressure")
    page.keyboard.press("Enter")
    expect(page.locator("#problem")).to_contain_text("Too much to do.")
    page.unroute("**/v1/ground/stream")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator(".card").first).to_be_visible()
    page.route("**/v1/ground/stream", stream(("stage", {"name": "judge", "side": "support", "detail": "Judging."})))
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
    with page.expect_download():
        page.get_by_role("button", name="RIS").click()
    page.reload()
    expect(page.locator(".card").first).to_be_visible()


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
        "text": "# A tiny trial\n\n## Abstract\n" + " ".join(f"Zeta was best for pressure in group {one}." for one in "ABCDEFG"),
    },
}  # fmt: skip
JATS = """<?xml version="1.0"?>
<article><front><article-meta><title-group><article-title>A tiny trial</article-title></title-group>
<abstract><p>Zeta was given to rats. It is for pressure.</p></abstract></article-meta></front>
<body><sec><title>Results</title><p>Pressure fell by 3 mmHg.</p></sec></body></article>"""


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
    expect(page.locator("#answer .says")).to_have_text(re.compile("the hypothesis|both ways"))
    expect(page.locator(".sum")).to_contain_text("5 of 7 sentences chosen; the stance model judged 7.")
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
    with page.expect_download() as coming:
        page.get_by_role("button", name="JSON").click()
    saved = json.loads(coming.value.path().read_text("utf-8"))
    assert [one["text"] for one in saved["evidence"]] == shown
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
        page.get_by_label("Choose a file").set_input_files(tmp_path / name)
        expect(page.locator("#paper-note")).to_contain_text(f"“{name}” is in the field")
        page.get_by_role("button", name="Find evidence").click()
        expect(page.locator(".origin")).to_contain_text(f"read as {read}:")
        assert bodies[-1] == {"hypothesis": HYPOTHESIS, "k": 1, "results_only": False, **sent}
        # The paragraphs of a JATS paper are not on the page.
        expect(page.get_by_text("In context")).to_have_count(0 if "jats" in sent else 1)
        expect(page.locator(".entitled:visible")).to_have_count(1 if "jats" in sent else 0)


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("paper.pdf", b"%PDF-1.7 text", "not UTF-8 text"),
        ("paper.txt", b"\xff\xfe\x00", "not UTF-8 text"),
        ("paper.json", b'{"title": "Zeta"}', "not a list of sentences"),
    ],
)
def test_a_file_that_is_no_paper_is_told_and_leaves_what_was_there(open_page: Open, name: str, content: bytes, told: str) -> None:
    page = open_page()
    paper_given(page)
    page.get_by_label("Choose a file").set_input_files({"name": name, "mimeType": "", "buffer": content})
    expect(page.locator("#problem")).to_contain_text(f"“{name}” is {told}")
    expect(page.locator("#paper")).to_have_value(PAPER)


def test_a_file_may_be_dropped_anywhere(open_page: Open) -> None:
    page = open_page()
    paper_given(page, "")
    dropped = page.evaluate_handle("""text => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([text], "dropped.txt"));
      return transfer;
    }""", PAPER)  # fmt: skip
    page.dispatch_event("footer", "dragover", {"dataTransfer": dropped})
    expect(page.locator("#paper")).to_have_class("over")
    page.dispatch_event("footer", "drop", {"dataTransfer": dropped})
    expect(page.locator("#paper")).to_have_value(PAPER)
    expect(page.locator("#paper")).not_to_have_class("over")


def test_what_lacks_is_told_at_its_field(open_page: Open) -> None:
    page = open_page()
    bodies = asked_of_evidence(page)
    paper_given(page, " \n ")
    page.get_by_role("button", name="Find evidence").click()
    expect(page.locator("#problem")).to_have_text("The paper is empty; paste its text, or choose a file.")
    expect(page.locator("#paper")).to_be_focused()
    assert bodies == []
    paper_given(page, k=50)
    page.keyboard.press("Control+Enter")
    expect(page.locator("#problem")).to_contain_text("k is 50 and the paper has")
    expect(page.locator("#count")).to_be_focused()
    paper_given(page, "<article>")
    page.get_by_role("button", name="Find evidence").click()
    expect(page.locator("#problem")).to_contain_text("The paper is not whole XML")
    expect(page.locator("#paper")).to_be_focused()
    paper_given(page, hypothesis="")
    page.get_by_role("button", name="Find evidence").click()
    expect(page.locator("#problem")).to_contain_text("The hypothesis is empty")
    expect(page.locator("#text")).to_be_focused()


def test_a_hostile_paper_is_shown_as_text(open_page: Open) -> None:
    page = open_page()
    paper_given(page, f"Results {HOSTILE}\n\nZeta {HOSTILE} is for pressure.\n\n{HOSTILE}", k=2)
    page.get_by_role("button", name="Find evidence").click()
    assert any("<img src=x onerror" in sentence for sentence in found_in(page))
    for card in page.locator(".chosen .card").all():
        card.get_by_text("In context").click()
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


def test_a_sentence_that_was_not_judged_says_so(open_page: Open) -> None:
    found = example("evidence")
    found["evidence"][0] |= {"stance": None}
    found["evidence"][1] |= {"start": 3}
    page = open_page(before=lambda page: page.route("**/v1/evidence", lambda route: route.fulfill(json=found)))
    sentences = [
        "We gave 29,133 male smokers beta-carotene or placebo.",
        "Lung cancer was 18 % more frequent with beta-carotene.",
    ]
    paper_given(page, json.dumps(sentences), k=2)
    page.get_by_role("button", name="Find evidence").click()
    first, second = page.locator(".chosen .card").all()
    expect(first).to_contain_text("Not judged")
    expect(first.locator(".split, .says")).to_have_count(0)
    expect(first.get_by_text("In context")).to_have_count(1)
    expect(second.locator(".key")).to_contain_text("98%")
    expect(second.get_by_text("In context")).to_have_count(0)


def test_reading_a_paper_can_be_stopped(open_page: Open) -> None:
    left: list[str] = []
    page = open_page(before=lambda page: page.route("**/v1/evidence", lambda route: None))
    page.on("requestfailed", lambda request: left.append(request.url))
    paper_given(page)
    page.get_by_role("button", name="Find evidence").click()
    expect(page.locator("#stage")).to_contain_text("Reading the paper")
    page.get_by_role("button", name="Stop").click()
    expect(page.locator("#busy")).to_be_hidden()
    expect(page.locator("#text")).to_be_focused()
    expect(page.locator("#paper")).to_have_value(PAPER)
    assert [url.rpartition("/v1/")[2] for url in left] == ["evidence"]


def test_a_paper_is_read_by_keyboard_alone(open_page: Open) -> None:
    page = open_page()
    press = page.keyboard.press
    press("Shift+Tab")
    press("ArrowRight")
    press("ArrowRight")
    expect(page.get_by_role("radio", name="Read a paper")).to_be_checked()
    press("Tab")
    page.keyboard.insert_text("Is zeta good?")
    expect(page.get_by_role("radio", name="Read a paper")).to_be_checked()
    press("Tab")
    page.keyboard.insert_text(PAPER)
    reached = []
    for _ in range(4):
        press("Tab")
        reached.append(page.evaluate("document.activeElement.id"))
    assert reached == ["file", "count", "results-only", "go"]
    page.locator("#count").fill("2")
    page.locator("#go").focus()
    press("Enter")
    assert len(found_in(page)) == 2
    page.locator(".chosen .card summary").first.focus()
    press("Enter")
    expect(page.locator(".chosen .here").first).to_be_visible()
    press("Tab")
    assert page.evaluate("document.activeElement.className") == "context"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1200])
def test_axe_finds_nothing_serious_with_a_paper_and_nothing_sticks_out(open_page: Open, scheme: str, width: int) -> None:
    page = open_page(color_scheme=scheme, reduced_motion="reduce", viewport={"width": width, "height": 900})
    page.get_by_text("Read a paper").click()
    assert faults_for_readers(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    paper_given(page, f"Results\n\nZeta{'a' * 200} is against pressure.\n\n{PAPER}", k=4)
    page.get_by_role("button", name="Find evidence").click()
    assert len(found_in(page)) == 4
    expect(page.locator(".asked")).to_be_in_viewport()
    for summary in page.locator(".chosen summary").all():
        summary.click()
    page.wait_for_timeout(200)
    assert faults_for_readers(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
