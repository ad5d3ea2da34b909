"""The verdict at a glance, the columns and their filters, the first view, dark mode and print, in a real browser."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi import FastAPI
from playwright.sync_api import Page, expect

from counterpoint.service.http.app import create_app
from counterpoint.service.operating.libraries import Libraries
from tests.browser.chromium import IN_CHROMIUM, Open, example, find_faults, link, stream
from tests.helpers.fakes import make_index, make_reading_grounder
from tests.helpers.pages import SureReader, keep_in, make_grounding, make_paper

pytestmark = IN_CHROMIUM

FINDING = "Zeta reduces blood pressure in older adults."
DOCUMENTS: list[dict[str, Any]] = [
    {"pmid": "1", "title": "", "abstract": "Mice took eta. Eta raises sugar in mice for good."},
    {"pmid": "2", "title": "Zeta for pressure", "abstract": f"Adults took zeta. {FINDING}", "year": 1999},
    {"pmid": "3", "title": "Zeta against pressure", "abstract": "Zeta was against blood pressure in older adults.", "year": 2010},
]
PAPERS = [
    *(make_paper(f"c{place}", "contradict", 2000 + place, "trial") for place in range(4)),
    make_paper("c9", "contradict", 1990, "review", "BMJ"),
    make_paper("u1", "uncertain", 2001, "cohort"),
    make_paper("s1", "support", 1995, "animal"),
    make_paper("s2", "support", None, "cohort"),
    make_paper("n1", "silent", 2003, "cohort"),
]


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> FastAPI:
    index = make_index(tmp_path_factory.mktemp("glance"), DOCUMENTS)
    keep_in(index)
    return create_app(Libraries(index.folder, None, lambda one: make_reading_grounder(one, SureReader())))


@pytest.fixture
def show(open_page: Open) -> Open:
    """Opens the first view, or the answer that is given for any claim."""

    def shown(answer: dict[str, Any] | None = None, **options: Any) -> Page:
        options = {"viewport": {"width": 1440, "height": 900}, "reduced_motion": "reduce", **options}
        if answer is None:
            return open_page(**options)
        body = stream(("grounding", answer))
        page = open_page(link(claim="Zeta lowers pressure."), lambda page: page.route("**/v1/ground/stream", body), **options)
        expect(page.locator("#answer .headline")).to_be_visible()
        return page

    return shown


def pmids(page: Page, side: str) -> list[str]:
    return [text.removeprefix("Paper ") for text in page.locator(f".side.{side} .card:visible h3").all_text_contents()]


def test_the_bar_has_a_cell_a_paper_and_the_timeline_a_dot(show: Open) -> None:
    page = show(make_grounding(PAPERS))
    bar = page.locator("#answer .scale").first
    assert bar.get_attribute("aria-label") == "Of 9 papers read, some do."
    assert [bar.locator(f'rect.{place}[height="26"]').count() for place in ("contradict", "uncertain", "support", "silent")] == [
        5, 1, 2, 1,
    ]  # fmt: skip
    assert bar.locator(".strong").count() == 5
    # What few readers want is folded away: the bar of weights, and the hashes of the models.
    figures = page.locator("#answer .figures")
    expect(figures).not_to_contain_text("Read by", use_inner_text=True)
    figures.get_by_text("In figures").click()
    expect(figures).to_contain_text("Read by ", use_inner_text=True)
    weights = [float((one.get_attribute("width") or "").rstrip("%")) for one in figures.locator('rect[height="10"]').all()]
    assert weights == pytest.approx([100 * part / 6.15 for part in (4.2, 0.6, 0.75, 0.6)], abs=0.1)
    assert sum(weights) == pytest.approx(100, abs=0.1)
    dots = page.locator("#answer .dot")
    expect(dots).to_have_count(8)
    expect(page.locator(".timeline figcaption")).to_contain_text("Not shown: 1 paper without a year.")
    expect(dots.first).to_have_attribute("aria-label", "1990, contradict, a systematic review, Paper c9")
    radius = [float(one.get_attribute("r") or 0) for one in page.locator("#answer .dot circle").all()]
    assert radius[0] == max(radius), "the review is the largest"
    # A dot of a paper that is not shown yet brings it, by keyboard too.
    assert "c9" not in pmids(page, "contradict")
    dots.first.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".card:focus h3")).to_have_text("Paper c9")


@pytest.mark.parametrize(
    ("certainty", "word", "told"),
    [
        (0.934, "sure", "93% certain."),
        (0.72, "probable", "Probably right: 72% certain."),
        (0.5, "possible", "Possibly right: 50% certain."),
    ],
)
def test_the_verdict_says_in_words_how_certain_it_is(show: Open, certainty: float, word: str, told: str) -> None:
    answer = make_grounding(PAPERS)
    answer["weighed"] |= {"certainty": certainty, "word": word, "certain": told}
    expect(show(answer).locator("#answer .certain")).to_have_text(told)


def test_without_years_the_verdict_has_the_whole_width(show: Open) -> None:
    page = show(make_grounding([{**one, "year": None} for one in PAPERS]))
    expect(page.locator(".timeline")).to_have_count(0)
    weighed, glance = page.locator(".weighed").bounding_box(), page.locator("#answer .glance").bounding_box()
    assert weighed and glance and weighed["width"] > glance["width"] - 60


def test_the_switch_names_what_it_turns_to(show: Open) -> None:
    page = show(color_scheme="dark")
    page.get_by_role("button", name="Light mode").click()
    expect(page.get_by_role("button", name="Dark mode")).to_be_visible()
    assert page.locator("html").get_attribute("data-theme") == "light"


def test_the_table_is_sorted_by_its_heads_and_its_links_can_be_hit(show: Open) -> None:
    papers = [{**one, "score": 0.5 + place / 100, "pmid": str(1000 + place)} for place, one in enumerate(PAPERS)]
    page = show(make_grounding(papers))
    page.get_by_role("radio", name="Table").check(force=True)
    table = page.get_by_role("table", name="Papers")
    head = table.get_by_role("columnheader", name="Probability")
    assert head.get_attribute("aria-sort") is None

    def shares() -> list[str]:
        return table.locator("tbody td:nth-child(3)").all_inner_texts()

    head.get_by_role("button").focus()
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    assert shares() == sorted(shares(), reverse=True) and shares()[0] == "57%"
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    assert shares() == sorted(shares())
    table.get_by_role("button", name="Year").click()
    assert head.get_attribute("aria-sort") is None
    assert table.locator("tbody td:nth-child(5)").first.inner_text() == "2003"
    assert min(link.bounding_box()["height"] for link in table.get_by_role("link").all()) >= 24  # type: ignore[index]
    assert find_faults(page) == []
    page.set_viewport_size({"width": 390, "height": 844})
    expect(table.get_by_role("button", name="Design")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_click_on_a_row_of_an_answer_puts_its_claim_into_the_field(open_page: Open) -> None:
    claim = "Zeta lowers pressure."
    named = {"answer": "Zeta", "named": "zeta", "claim": claim, "statement": claim}
    rows = [{**named, "evidence": one} for one in PAPERS[:2]]
    answer = {**example("answer"), "verdict": None, "rows": rows, "others": [], "heading": "What 2 papers here found"}

    def before(page: Page) -> None:
        page.route("**/v1/answer/stream", stream(("answer", answer)))
        page.route("**/v1/ground/stream", stream(("grounding", make_grounding(PAPERS))))

    page = open_page(link(question="What lowers pressure?"), before)
    page.locator(".rows tbody .words").first.click()
    expect(page.locator("#text")).to_have_value(claim)
    expect(page.locator("#mode-claim")).to_be_checked()


def test_an_open_answer_has_a_table_of_findings_and_each_paper_once(open_page: Open) -> None:
    statement = "Zeta lowers pressure."
    named = {"answer": "zeta", "named": "zeta", "claim": "What lowers pressure? Zeta.", "statement": statement}
    trial = {"trial": "ZETA-1"}
    rows = [{**named, "evidence": {**one, **trial}} for one in PAPERS[:2]] + [{**named, "answer": "eta", "evidence": PAPERS[2]}]
    sentence = {**PAPERS[3]["sentence"], "text": "Theta was studied."}
    facts = ("pmid", "title", "year", "journal", "authors", "doi", "pmcid", "types", "design")
    other = {"number": 4, **{name: PAPERS[3][name] for name in facts}, "sentence": sentence}
    heading = "What 3 papers here found (2 are reports of 1 trial)"
    answer = {
        **example("answer"),
        "verdict": None,
        "weighed": None,
        "rows": rows,
        "others": [other],
        "heading": heading,
        "drafted": None,
    }
    documents = [{**answer["documents"][0], "number": n + 1, "pmid": PAPERS[n]["pmid"], "cited": n < 3} for n in range(4)]

    def before(page: Page) -> None:
        page.route("**/v1/answer/stream", stream(("answer", {**answer, "documents": documents})))

    page = open_page(link(question="What lowers pressure?"), before)
    expect(page.get_by_role("heading", name=heading)).to_be_visible()
    table = page.get_by_role("region", name=heading).get_by_role("table")
    heads = table.get_by_role("rowheader")
    expect(heads).to_have_text(["zeta", "zeta", "eta"])
    assert [one.locator(".unseen").count() for one in heads.all()] == [0, 1, 0], "the name is seen once"
    expect(table.get_by_text("reports ZETA-1")).to_have_count(2)
    expect(page.locator("#answer .others")).to_contain_text("Theta was studied.")
    expect(page.get_by_role("heading", name="Other papers on this subject")).to_be_visible()
    expect(page.locator("#answer > .prose")).to_be_hidden()
    expect(page.locator("#answer .sources")).to_be_hidden()
    assert find_faults(page) == []
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_rows_of_a_language_model_show_their_statement_grade_and_condition(open_page: Open) -> None:
    paper = PAPERS[0]
    read = {**paper["verdict"], "quote": "lower", "details": {"people": "sailors", "number": "90", "effect": "5 mm Hg"}}
    sides = (("support", "partial"), ("contradict", "plain"))
    graded = [{**paper, "verdict": read, "side": at, "stance": at, "standing": how} for at, how in sides]
    named = {"answer": "Zeta", "named": "zeta", "claim": "What lowers pressure? Zeta."}
    statements = ("Zeta lowers pressure.", "Zeta tablets lower pressure.")
    conditions: tuple[dict[str, str], ...] = ({"condition": "only in summer"}, {})
    rows = [
        {**named, "statement": text, "evidence": one, **more}
        for text, one, more in zip(statements, graded, conditions, strict=True)
    ]
    answer = {**example("answer"), "verdict": None, "rows": rows, "others": [], "heading": "What 1 paper here found"}
    page = open_page(
        link(question="What lowers pressure?"), lambda page: page.route("**/v1/answer/stream", stream(("answer", answer)))
    )
    table = page.get_by_role("region", name="What 1 paper here found").get_by_role("table")
    expect(table.locator("tbody td:nth-child(2)")).to_have_text(["supports in part", "contradicts"])
    expect(table.get_by_role("link", name=statements[1])).to_be_visible()
    assert [one.locator(".unseen").count() for one in table.get_by_role("rowheader").all()] == [0, 1]
    expect(table.get_by_role("columnheader")).to_contain_text(["People", "Number", "Effect", "Condition"])
    expect(table.locator("tbody tr").first).to_contain_text("only in summer")
    assert find_faults(page) == []
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_without_two_rows_no_answer_is_claimed(open_page: Open) -> None:
    facts = ("pmid", "title", "year", "journal", "authors", "doi", "pmcid", "types", "design", "sentence")
    other = {"number": 1, **{name: PAPERS[0][name] for name in facts}}
    plain = {
        **example("answer"),
        "outcome": "listed",
        "verdict": None,
        "weighed": None,
        "rows": [],
        "heading": "",
        "drafted": None,
    }
    answer = {**plain, "text": "", "sentences": [], "conflicts": [], "removed": [], "others": [other], "note": "Too little."}

    def before(page: Page) -> None:
        page.route("**/v1/answer/stream", stream(("answer", answer)))

    page = open_page(link(question="What lowers pressure?"), before)
    expect(page.get_by_role("heading", name="No answer is claimed")).to_be_visible()
    expect(page.get_by_role("heading", name="Papers on this subject")).to_be_visible()
    expect(page.get_by_role("table")).to_have_count(0)
    assert find_faults(page) == []


def test_sentences_that_answer_nothing_stand_below_a_note_that_says_so(open_page: Open) -> None:
    answer = {
        **example("answer"),
        "outcome": "nearest",
        "verdict": None,
        "weighed": None,
        "rows": [],
        "heading": "",
        "note": "They do not.",
    }

    def before(page: Page) -> None:
        page.route("**/v1/answer/stream", stream(("answer", {**answer, "drafted": {"sentences": 1, "cited": 1, "citations": 1}})))

    page = open_page(link(question="What causes high pressure?"), before)
    expect(page.get_by_role("heading", name="Not answered by these papers")).to_be_visible()
    expect(page.get_by_text("They do not.", exact=True)).to_be_visible()
    expect(page.locator("#answer > .prose")).to_be_visible()
    assert find_faults(page) == []


def test_more_is_shown_and_papers_are_chosen_and_sorted(show: Open) -> None:
    page = show(make_grounding(PAPERS))
    assert pmids(page, "contradict") == ["c0", "c1", "c2"]
    assert pmids(page, "uncertain") == ["u1"]
    assert pmids(page, "silent") == []
    page.get_by_role("button", name="Show 2 more").click()
    assert pmids(page, "contradict") == ["c0", "c1", "c2", "c3", "c9"]
    expect(page.locator(".card:focus h3")).to_have_text("Paper c3")
    page.get_by_role("button", name="Show 1 paper").click()
    assert pmids(page, "silent") == ["n1"]
    page.get_by_text("Filter and sort").click()
    page.get_by_label("Order").select_option("Strongest design first")
    assert pmids(page, "contradict")[0] == "c9"
    page.get_by_label("Order").select_option("Newest first")
    assert pmids(page, "contradict") == ["c3", "c2", "c1", "c0", "c9"]
    page.get_by_label("Studied in").select_option("Animals or cells")
    assert (pmids(page, "contradict"), pmids(page, "support")) == ([], ["s1"])
    expect(page.locator("#chosen-count")).to_have_text("1 paper of 9 shown")
    expect(page.locator(".side.contradict h2")).to_contain_text("0 of 5 papers")
    page.get_by_role("button", name="Show all").click()
    page.get_by_label("Journal").select_option("BMJ")
    assert pmids(page, "contradict") == ["c9"]
    page.get_by_label("Journal").select_option("Any")
    page.get_by_label("From year").select_option("2002")
    assert pmids(page, "contradict") == ["c2", "c3"]
    assert find_faults(page) == []


def test_an_empty_side_is_one_line_and_no_half_is_empty(show: Open) -> None:
    page = show(
        make_grounding([make_paper("1", "support", 1999, "trial")], "One paper supports this claim; none contradicts it.")
    )
    empty, card = page.locator(".side.contradict"), page.locator(".side.support .card")
    expect(empty).to_contain_text("No contradiction found among")
    line, shown = empty.bounding_box(), card.bounding_box()
    assert line and shown
    assert line["height"] < 60
    assert shown["width"] > 1100
    expect(page.locator(".side.uncertain, .side.silent, .tools")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth") <= 1440


def test_the_first_view_is_an_example_of_this_index(show: Open) -> None:
    page = show()
    expect(page.locator("#example .claimed")).to_have_text(FINDING)
    expect(page.locator("#example .headline")).to_be_visible()
    expect(page.locator("#example .card")).to_have_count(2)
    expect(page.locator("#examples button").first).to_have_text(FINDING)
    assert find_faults(page) == []
    page.get_by_role("button", name="Show the whole answer").click()
    expect(page.locator("#answered")).to_have_text(FINDING)
    expect(page.locator("#answered")).to_be_focused()
    expect(page.locator("#example")).to_have_count(0)
    page.go_back()
    expect(page.locator("#example .claimed")).to_be_visible()
    page.get_by_text("Check a text").click()
    page.get_by_role("button", name="A text made from this index").click()
    expect(page.locator("#answered")).to_have_text("Checked text")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 820, 1440])
def test_axe_finds_nothing_serious_and_nothing_sticks_out(show: Open, scheme: str, width: int) -> None:
    page = show(make_grounding(PAPERS), color_scheme=scheme, viewport={"width": width, "height": 844})
    page.get_by_text("Filter and sort").click()
    assert find_faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    tops = {round(one.bounding_box()["y"]) for one in page.locator("form .switch label").all()}  # type: ignore[index]
    heights = [one.bounding_box()["height"] for one in page.locator("form .switch label").all()]  # type: ignore[index]
    assert len(tops) == 1 and max(heights) < 45, "the tabs stand on one line"
    says, actions, card = (page.locator(one).first.bounding_box() for one in ("#answer .headline", ".actions", ".card"))
    assert says and actions and card and says["y"] < actions["y"] < card["y"], "exports stand under the verdict"
