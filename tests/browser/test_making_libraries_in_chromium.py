"""Libraries made and kept from the page: from a file to a verdict, uploads that break, jobs that are stopped, papers removed."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from fastapi import FastAPI
from playwright.sync_api import Page, Route, expect

from counterpoint.retrieval.core.values import Document
from counterpoint.service.http import job_routes
from counterpoint.service.http.app import create_app
from counterpoint.service.operating import jobs
from counterpoint.service.operating.libraries import Libraries
from counterpoint.service.operating.settings import Settings
from counterpoint.service.operating.uploads import FOLDER
from tests.browser.chromium import IN_CHROMIUM, Open
from tests.browser.conftest import LONGEST
from tests.helpers.answer_fakes import make_answerer
from tests.helpers.fakes import make_index, make_reading_grounder
from tests.helpers.full_texts import write_jats
from tests.helpers.zotero_server import KEY, ZoteroServer

pytestmark = IN_CHROMIUM

TOKEN = "the-token-of-this-start"
PHONE = {"width": 390, "height": 844}
RECORDS = "".join(
    f"TY  - JOUR\nTI  - Zeta {number}\nAB  - Zeta lowers pressure.\nPY  - {2000 + number}\nER  - \n\n" for number in range(60)
)
# Stands in for `counterpoint index`: says how far it is, and goes on until it is interrupted.
ENDLESS = """
import signal, sys, time
signal.signal(signal.SIGINT, lambda *_: sys.exit(2))
print("\\x02papers \\x021200\\x023400\\x02 papers", file=sys.stderr, flush=True)
print("Left out of a.ris: 1 record of 201 without an abstract.", file=sys.stderr, flush=True)
time.sleep(120)
"""
FAILING = "import sys; sys.exit('Error: The file is damaged; export it again.')"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("libraries")


@pytest.fixture(scope="module")
def app(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> FastAPI:
    libraries = Libraries(None, folder, make_reading_grounder, lambda one: make_answerer(one.index))
    return create_app(libraries, Settings.model_validate({"token": TOKEN, "state": str(tmp_path_factory.mktemp("state"))}))


@pytest.fixture(autouse=True)
def emptied(folder: Path, app: FastAPI) -> Iterator[None]:
    yield
    runner = app.state.parts.runner
    for job in runner.jobs.list():
        runner.jobs.forget(job.library)
    for one in [*folder.iterdir(), *folder.glob(f"{FOLDER}/*")]:
        if one.is_dir() and one.name != FOLDER:
            shutil.rmtree(one)
    app.state.parts.libraries.refresh()


def place(folder: Path, scratch: Path, name: str = "Heart", papers: int = 60, abstract: str = "Zeta lowers pressure.") -> None:
    """Put a library into the folder, as somebody may who has one."""
    documents = [
        {"pmid": str(number), "title": f"Zeta {number}", "abstract": abstract, "year": 1990 + number % 30,
         "retracted": number == 7}
        for number in range(1, papers + 1)
    ]  # fmt: skip
    index = make_index(scratch, documents)
    index.close()
    index.folder.rename(folder / name)


def choose(page: Page, name: str = "a.ris", data: bytes = RECORDS.encode()) -> None:
    """Choose a file that is to be read, without vectors."""
    expect(page.locator("#gather-go")).to_be_visible()
    page.locator("#gathered").set_input_files({"name": name, "mimeType": "text/plain", "buffer": data})
    page.get_by_label("Make vectors").uncheck()


def find_all_faults(page: Page) -> list[str]:
    """Everything that axe finds, however slight."""
    return [f"{one['id']}: {one['nodes'][0]['html']}" for one in Axe().run(page).response["violations"]]


def test_an_empty_service_begins_with_a_new_library_and_leads_to_a_verdict(open_page: Open) -> None:
    page = open_page(f"?token={TOKEN}")
    expect(page.get_by_role("heading", name="New library")).to_be_focused()
    choose(page, "Blood pressure.ris")
    expect(page.get_by_label("Name")).to_have_value("Blood pressure")
    page.get_by_role("button", name="Make the library").click()
    ask = page.get_by_role("link", name="Check a claim in it")
    expect(ask).to_be_visible()
    expect(page.locator(".job")).to_contain_text("60 documents")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the report").click()
    assert "60 documents" in download.value.path().read_text()
    ask.click()
    page.get_by_role("textbox", name="Claim").fill("Zeta lowers pressure.")
    page.keyboard.press("Enter")
    expect(page.locator("#answer .card").first).to_be_visible()
    page.get_by_role("link", name="Libraries").click()
    expect(page.locator("#shelf-list li")).to_contain_text("60 papers")
    page.get_by_role("link", name="Back to claims").click()
    # What was there is there still, and is not asked again.
    expect(page.locator("#answer .card").first).to_be_visible()
    expect(page.locator("#shelf")).to_be_hidden()


def test_papers_are_found_chosen_and_removed(open_page: Open, folder: Path, tmp_path: Path) -> None:
    place(folder, tmp_path)
    page = open_page(f"?token={TOKEN}#libraries")
    page.get_by_role("link", name="Heart", exact=True).click()
    expect(page.locator("#holdings-count")).to_have_text("1–50 of 60")
    page.get_by_role("button", name="Next 50").click()
    expect(page.locator("#holdings-count")).to_have_text("51–60 of 60")
    page.locator("#of-retracted").select_option("Only these")
    expect(page.locator("#papers > li")).to_have_count(1)
    expect(page.locator("#papers > li .badges")).to_have_text("Retracted")
    page.locator("#papers summary").click()
    expect(page.locator("#papers .context")).to_have_text("Zeta lowers pressure.")
    page.get_by_label("Choose Zeta 7").check()
    page.get_by_role("button", name="Remove 1 paper").click()
    page.get_by_role("button", name="Remove 1 paper from Heart for good?").click()
    expect(page.locator(".job .stage")).to_have_text("Done")
    expect(page.locator("#shelf-about .facts")).to_have_text("59 papers")
    expect(page.locator("#holdings-count")).to_have_text("none")
    page.locator("#of-retracted").select_option("Any")
    page.locator("#of-words").fill("zeta 12")
    expect(page.locator("#papers > li")).to_have_count(1)
    page.get_by_role("link", name="Zeta 12").click()
    expect(page.locator("#answer")).to_be_visible()


def test_a_library_is_downloaded_and_restored(open_page: Open, folder: Path, tmp_path: Path) -> None:
    place(folder, tmp_path, "Heart & vessels", papers=3)
    page = open_page(f"?token={TOKEN}#libraries")
    page.get_by_role("link", name="Heart & vessels", exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    assert download.value.suggested_filename == "Heart & vessels.counterpoint"
    id = page.url.split("libraries=")[1]
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Delete Heart & vessels with its history?").click()
    expect(page.get_by_role("heading", name="Libraries")).to_be_visible()
    page.get_by_role("link", name="New library").click()
    choose(page, "Heart & vessels.counterpoint", download.value.path().read_bytes())
    expect(page.get_by_label("Name")).to_have_value("Heart & vessels")
    page.get_by_role("button", name="Make the library").click()
    expect(page.locator(".job .stage")).to_have_text("Done")
    expect(page.locator("#papers > li")).to_have_count(3)
    assert page.url.endswith(f"libraries={id}")


def test_a_paper_gets_its_full_text_from_the_list(open_page: Open, folder: Path, tmp_path: Path) -> None:
    place(folder, tmp_path, papers=3)
    page = open_page(f"?token={TOKEN}#libraries")
    page.get_by_role("link", name="Heart", exact=True).click()

    def give(name: str, title: str) -> None:
        row = page.locator("#papers > li").filter(has_text="Zeta 2")
        if not row.locator("details[open]").count():
            row.locator("summary").click()
        data = write_jats(tmp_path / name, title, {"Results": ["Zeta fell."]}).read_bytes()
        row.locator("input[type=file]").set_input_files({"name": name, "mimeType": "text/xml", "buffer": data})

    give("other.xml", "Eta and sleep")
    said = page.locator("#papers .file [role=status]").first
    expect(said).to_have_text("The file seems to be another paper (“Eta and sleep”) than “Zeta 2”. Join it all the same?")
    expect(page.get_by_role("button", name="Join it")).to_be_focused()
    assert find_all_faults(page) == []
    page.get_by_role("button", name="Leave it").click()
    expect(page.get_by_role("button", name="Join it")).to_have_count(0)
    assert not [*folder.glob(f"{FOLDER}/*/files/*")]
    give("page.pdf", "Zeta 2")
    expect(page.locator("#papers .file [role=status]").first).to_contain_text("cannot be joined")
    give("right.xml", "Zeta 2")
    expect(page.locator(".job .stage")).to_have_text("Done")
    expect(page.locator("#papers > li").filter(has_text="Zeta 2").locator(".badges")).to_have_text("Full text")
    expect(page.locator("#shelf-about .facts")).to_have_text("3 papers · 1 full text")


def test_a_library_is_renamed_and_deleted_with_what_depends_on_it(open_page: Open, folder: Path, tmp_path: Path) -> None:
    place(folder, tmp_path, papers=2, abstract="Zeta is for pressure.")
    page = open_page(f"?token={TOKEN}#claim=Zeta%20changes%20pressure.")
    page.get_by_role("button", name="Save and watch").click()
    expect(page.get_by_role("button", name="Saved", exact=True)).to_be_visible()
    page.get_by_role("link", name="Libraries").click()
    page.get_by_role("link", name="Heart", exact=True).click()
    page.get_by_role("button", name="Rename or describe").click()
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Rename or describe").click()
    page.get_by_label("Name", exact=True).fill("Hearts")
    page.get_by_label("Description").fill("Of the department")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("heading", name="Hearts")).to_be_visible()
    expect(page.locator("#shelf-about")).to_contain_text("Of the department")
    named = "1 saved claim rests on {}: “Zeta changes pressure.”."
    page.get_by_label("Choose Zeta 2").check()
    page.get_by_role("button", name="Remove 1 paper").click()
    expect(page.get_by_role("button", name="Remove 1 paper from Hearts for good?")).to_be_visible()
    expect(page.locator("#holdings-trouble")).to_have_text(named.format("what you chose"))
    page.get_by_label("Choose Zeta 2").uncheck()
    expect(page.locator("#holdings-trouble")).to_have_text("")
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("button", name="Delete Hearts with its history?")).to_be_visible()
    expect(page.locator("#shelf-trouble")).to_have_text(named.format("it"))
    page.get_by_role("button", name="Delete Hearts with its history?").click()
    expect(page.locator("#shelf-trouble")).to_have_text("1 saved claim depends on Hearts; they go with it.")
    assert (folder / "Heart").exists()
    page.get_by_role("button", name="Delete all of it").click()
    expect(page.get_by_role("heading", name="Libraries")).to_be_visible()
    expect(page.locator("#shelf-list li")).to_have_count(0)
    assert not (folder / "Heart").exists()


def test_an_upload_goes_on_after_a_broken_connection(open_page: Open, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "COMMAND", (sys.executable, "-c", FAILING))
    page = open_page(f"?token={TOKEN}")
    sent: list[str] = []

    def break_once(route: Route) -> None:
        sent.append(route.request.url.split("?")[1])
        if len(sent) == 2:
            route.abort("connectionreset")
        else:
            route.continue_()

    page.route("**/files/*", break_once)
    data = RECORDS.encode() * 500
    choose(page, "large.ris", data)
    page.get_by_role("button", name="Make the library").click()
    expect(page.locator(".job .trouble")).to_have_text("The file is damaged; export it again.")
    parts = -(-len(data) // 2_000_000)
    assert len(sent) == parts + 1 and sent[1] == sent[2]
    (whole,) = folder.glob(f"{FOLDER}/*/files/large.ris")
    assert whole.read_bytes() == data
    expect(page.get_by_role("button", name="Resume")).to_be_visible()


def test_an_upload_is_stopped_and_goes_on_where_it_was(open_page: Open, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "COMMAND", (sys.executable, "-c", FAILING))
    page = open_page(f"?token={TOKEN}")
    held: list[Route] = []

    def hold_second(route: Route) -> None:
        if "offset=0" in route.request.url or held:
            route.continue_()
        else:
            held.append(route)

    page.route("**/files/*", hold_second)
    data = RECORDS.encode() * 700
    choose(page, "large.ris", data)
    page.get_by_role("button", name="Make the library").click()
    expect(page.locator("#uploads small")).to_contain_text("2 MB of")
    page.get_by_role("button", name="Stop").click()
    expect(page.locator("#gather-trouble")).to_contain_text("Stopped.")
    page.get_by_role("button", name="Make the library").click()
    expect(page.locator(".job .trouble")).to_be_visible()
    (whole,) = folder.glob(f"{FOLDER}/*/files/large.ris")
    assert whole.read_bytes() == data


def test_a_job_says_how_far_it_is_and_is_stopped_and_resumed(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "COMMAND", (sys.executable, "-c", ENDLESS))
    page = open_page(f"?token={TOKEN}")
    choose(page)
    page.get_by_role("button", name="Make the library").click()
    expect(page.locator(".job .stage")).to_have_text("Reading the files: papers 1,200 of 3,400…")
    expect(page.locator(".job progress")).to_have_attribute("max", "3400")
    page.goto("about:blank")
    page.go_back()
    expect(page.locator(".job .stage")).to_have_text("Reading the files: papers 1,200 of 3,400…")
    page.get_by_role("button", name="Stop").click()
    expect(page.locator(".job .stage")).to_have_text("Stopped")
    page.get_by_role("button", name="Resume").click()
    expect(page.locator(".job .stage")).to_have_text("Reading the files: papers 1,200 of 3,400…")
    page.get_by_role("link", name="All libraries").click()
    expect(page.locator("#shelf-list li")).to_contain_text("Reading the files: papers 1,200 of 3,400…")
    page.get_by_role("link", name="a", exact=True).click()
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Delete a with its history?").click()
    expect(page.get_by_role("heading", name="Libraries")).to_be_visible()
    expect(page.locator("#shelf-list li")).to_have_count(0)


def test_a_search_is_looked_at_before_anything_is_fetched(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[Any] = []

    def look_up(*asked: Any) -> tuple[int, list[Document]]:
        looked.append(asked)
        return 3412, [Document(str(number), f"<b>Found {number}</b>", "") for number in range(5)]

    monkeypatch.setattr(job_routes, "look_up", look_up)
    page = open_page(f"?token={TOKEN}")
    page.get_by_text("Search PubMed or Europe PMC").click()
    page.locator("#search-query").fill("zeta[tiab]")
    page.locator("#search-source").select_option("Europe PMC")
    page.get_by_role("button", name="Look").click()
    expect(page.locator("#looked p")).to_have_text("3,412 papers found; the first 1,000 will be fetched. The first of them:")
    assert page.locator("#looked li").all_inner_texts() == [f"<b>Found {number}</b>" for number in range(5)]
    assert looked == [("europepmc", "zeta[tiab]")]
    page.get_by_text("PMIDs, PMCIDs or DOIs").click()
    page.locator("#search-query").fill("")
    page.locator("#gather-ids").fill("12345 hello")
    page.get_by_role("button", name="Make the library").click()
    expect(page.locator("#gather-trouble")).to_contain_text("“hello” is no PMID")


def test_who_may_only_read_sees_nothing_that_changes(open_page: Open, folder: Path, tmp_path: Path) -> None:
    page = open_page("#libraries")
    expect(page.locator("#shelf-about")).to_contain_text("There is no library yet.")
    expect(page.get_by_role("link", name="New library")).to_have_count(0)
    place(folder, tmp_path)
    page.reload()
    page.get_by_role("link", name="Heart", exact=True).click()
    expect(page.locator("#papers > li")).to_have_count(50)
    expect(page.locator("#shelf-about").get_by_role("link")).to_have_text(["Check a claim in it"])
    expect(page.locator("#shelf-about").get_by_role("button")).to_have_count(0)
    expect(page.locator("#papers input")).to_have_count(0)
    page.evaluate("location.hash = '#libraries=new'")
    expect(page.locator("#shelf-trouble")).to_contain_text("You may ask libraries here")
    expect(page.locator("#gather")).to_be_hidden()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_axe_finds_nothing_and_nothing_sticks_out(open_page: Open, folder: Path, tmp_path: Path, scheme: str, width: int) -> None:
    place(folder, tmp_path)
    (folder / "broken").mkdir()
    (folder / "broken" / "manifest.json").write_text("{")
    page = open_page(f"?token={TOKEN}#libraries", color_scheme=scheme, viewport={"width": width, "height": 900})

    def check() -> None:
        assert find_all_faults(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width

    expect(page.locator("#shelf-list li")).to_have_count(2)
    check()
    page.get_by_role("link", name="Heart", exact=True).click()
    page.get_by_label("Choose Zeta 7").check()
    page.locator("#papers summary").first.click()
    expect(page.locator("#papers .context").first).to_have_text("Zeta lowers pressure.")
    check()
    page.get_by_role("button", name="Rename or describe").click()
    check()
    page.evaluate("location.hash = '#libraries=new'")
    choose(page)
    for summary in page.locator("#gather summary").all():
        summary.click()
    check()


def test_a_library_that_was_begun_is_finished_or_begun_anew(open_page: Open, folder: Path) -> None:
    page = open_page(f"?token={TOKEN}")
    page.route("**/v1/libraries/*/jobs", lambda route: route.abort())
    choose(page)
    page.get_by_role("button", name="Make the library").click()
    expect(page.locator("#gather-trouble")).to_have_text("The service cannot be reached.")
    assert len([*folder.glob(f"{FOLDER}/*/files/a.ris")]) == 1
    page.reload()
    expect(page.locator("#unfinished")).to_be_visible()
    expect(page.locator("#library-name")).to_have_value("a")
    expect(page.locator("#uploads small")).to_contain_text("uploaded")
    page.get_by_role("button", name="Begin another one").click()
    expect(page.locator("#unfinished")).to_be_hidden()
    expect(page.locator("#library-name")).to_be_enabled()
    expect(page.locator("#uploads li")).to_have_count(0)
    assert not [*folder.glob(f"{FOLDER}/*/files/a.ris")]


def test_a_collection_at_zotero_org_is_chosen_taken_and_synced(
    open_page: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    zotero = ZoteroServer(tmp_path / "Zotero")
    monkeypatch.setenv("COUNTERPOINT_ZOTERO_URL", zotero.web)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "own"))
    top = zotero.add_collection("Colds")
    below = zotero.add_collection("Zinc", top)
    first = zotero.add(below, title="Zinc and colds", abstractNote="Zinc shortens colds.", DOI="10.5555/zinc.1")
    zotero.add(below, title="Zinc and coughs", abstractNote="Zinc does nothing for coughs.", DOI="10.5555/zinc.2")
    page = open_page(f"?token={TOKEN}#libraries=new")
    page.locator("#by-zotero summary").click()
    page.get_by_label("From", exact=True).select_option("zotero.org: a user")
    page.get_by_role("button", name="List the collections").click()
    expect(page.locator("#zotero-told")).to_contain_text("Expected the ID of a user or a group")
    page.get_by_label("User or group ID").fill("7")
    page.get_by_label("Key", exact=True).fill("notTheKey")
    page.get_by_role("button", name="List the collections").click()
    expect(page.locator("#zotero-told")).to_contain_text("does not let this key read users/7")
    page.get_by_label("Key", exact=True).fill(KEY)
    page.get_by_role("button", name="List the collections").click()
    expect(page.locator("#zotero-told")).to_have_text("2 collections found; choose one.")
    expect(page.get_by_label("Key", exact=True)).to_have_value("")
    assert find_all_faults(page) == []
    page.get_by_label("Collection").select_option(below)
    page.get_by_label("Make vectors").uncheck()
    page.get_by_role("button", name="Make the library").click()
    expect(page.locator("#shelf-title")).to_have_text("Zinc")
    expect(page.locator("#shelf-about .facts").first).to_have_text("2 papers", timeout=3 * LONGEST)
    zotero.delete(first)
    page.get_by_role("button", name="Sync with Zotero").click()
    expect(page.locator("#shelf-about .facts").first).to_have_text("1 paper", timeout=3 * LONGEST)
    zotero.close()
