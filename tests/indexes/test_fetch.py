"""Searches brought from PubMed and Europe PMC, with their full texts: whole, stopped and resumed, and through every fault that a
service has."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from counterpoint.indexes.fetch import services
from counterpoint.indexes.fetch.fetching import MISSING, STATE, TEXTS, Search, fetch_papers, mark_built
from counterpoint.indexes.fetch.services import EuropePMC, PubMed, Source
from counterpoint.indexes.readers import Omission, read, sources
from counterpoint.indexes.readers.full_text import read_full_texts
from counterpoint.retrieval.core.errors import BadConfig, BadInput, Unfinished
from counterpoint.retrieval.core.values import Author, Document, Section
from counterpoint.retrieval.index import Index
from counterpoint.retrieval.store.manifest import read_manifest
from counterpoint.service.cli.commands import app
from tests.indexes.papers_server import Answer, Asked, PapersServer, serving

KEY = "0123456789abcdef0123456789abcdef0123"


@pytest.fixture
def server() -> Iterator[PapersServer]:
    yield from serving()


@pytest.fixture(autouse=True)
def _hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pace without a key stays, and a test of its own holds to it."""
    for name in ("_PER_SECOND_WITH_KEY", "_PER_SECOND_AT_EUROPE_PMC"):
        monkeypatch.setattr(services, name, 1000)


def of_pubmed(server: PapersServer, key: str = KEY) -> PubMed:
    return PubMed(server.url, key, "me@example.org", backoff=0.01)


def fetch(
    source: Source, folder: Path, query: str = "zinc", most: int = 10_000, full_text: bool = False
) -> tuple[Search, list[str]]:
    said: list[str] = []
    try:
        return fetch_papers(source, query, folder, most, said.append, full_text), said
    finally:
        source.close()


def pmids(folder: Path) -> list[str]:
    return [record.pmid for path in sources([folder]) for record in read(path)]


def test_pubmed_comes_in_parts_from_the_history_server(server: PapersServer, tmp_path: Path) -> None:
    search, said = fetch(of_pubmed(server), tmp_path)
    assert (search.found, search.wanted, search.fetched, search.parts) == (450, 450, 450, 3)
    assert pmids(tmp_path) == [str(number) for number in range(450, 0, -1)]
    assert said == ["PubMed finds 450 papers for “zinc”."]
    searched, *fetched = server.asked
    assert searched.fields["usehistory"] == "y"
    assert {one.fields["WebEnv"] for one in fetched} == {"MCID_0"}
    assert [one.fields["retstart"] for one in fetched] == ["0", "200", "400"]
    assert {one.fields["email"] for one in server.asked} == {"me@example.org"}
    assert {one.fields["tool"] for one in server.asked} == {"counterpoint"}


def test_a_result_that_pubmed_gives_only_in_part_is_cut_by_date(
    server: PapersServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "MOST_A_SEARCH", 100)
    search, said = fetch(of_pubmed(server), tmp_path)
    assert search.fetched == 450
    assert sorted(pmids(tmp_path), key=int) == [str(number) for number in range(1, 451)]
    monkeypatch.setattr(services, "MOST_A_SEARCH", 50)
    search, said = fetch(of_pubmed(server), tmp_path / "days")
    assert search.fetched == 250
    assert "200 papers cannot be had" in said[1]


FAULTS = {
    "too many": Answer(b'{"error":"API rate limit exceeded"}', 429, {"Retry-After": "1"}),
    "500": Answer(b"oops", 500),
    "503": Answer(b"", 503),
    "cut short on the wire": Answer(b"<?xml", declared=5000),
    "cut short inside": Answer(b'<?xml version="1.0"?><PubmedArticleSet><PubmedArticle>'),
    "an error in place of records": Answer(b"<eFetchResult><ERROR>Search Backend failed</ERROR></eFetchResult>"),
    "no records": Answer(b"<PubmedArticleSet></PubmedArticleSet>"),
    "JSON": Answer(b'{"error":"API rate limit exceeded"}'),
}


@pytest.mark.parametrize(
    ("path", "fault"),
    [
        *(("efetch.fcgi", fault) for fault in FAULTS),
        *(("esearch.fcgi", fault) for fault in ("500", "cut short inside", "JSON")),
        *(("search", fault) for fault in FAULTS if fault != "no records"),
    ],
)
def test_a_fault_that_passes_costs_nothing(server: PapersServer, tmp_path: Path, path: str, fault: str) -> None:
    server.fail_once(path, FAULTS[fault], times=2)
    search, _ = fetch(EuropePMC(server.url, backoff=0.01) if path == "search" else of_pubmed(server), tmp_path)
    assert len(pmids(tmp_path)) == search.fetched == 450
    times = [request.at for request in server.asked if request.path == path]
    assert len(times) == len({request.line + str(request.fields) for request in server.asked if request.path == path}) + 2
    if "Retry-After" in FAULTS[fault].headers:
        assert min(times[1] - times[0], times[2] - times[1]) >= 1.0


def test_a_fault_that_stays_is_told_and_the_rest_is_kept(server: PapersServer, tmp_path: Path) -> None:
    def fault(asked: Asked) -> Answer | None:
        return Answer(b"", 502) if asked.fields.get("retstart") == "200" else None

    server.faults.append(fault)
    with pytest.raises(Unfinished, match="answered 6 times with the error 502; what was fetched so far is saved"):
        fetch(of_pubmed(server), tmp_path)
    server.faults.clear()
    server.asked.clear()
    search, said = fetch(of_pubmed(server), tmp_path)
    assert said[0].startswith("Resuming the search of ")
    assert "200 of 450 papers are here" in said[0]
    assert [one.fields.get("retstart") for one in server.asked] == ["200", "400"]
    assert len(set(pmids(tmp_path))) == search.fetched == 450


@pytest.mark.parametrize("status", [200, 400])
def test_a_search_that_ncbi_forgot_is_made_anew(server: PapersServer, tmp_path: Path, status: int) -> None:
    def fault(asked: Asked) -> Answer | None:
        if asked.fields.get("WebEnv") != "MCID_0" or asked.fields["retstart"] != "200":
            return None
        return Answer(b"<eFetchResult><ERROR>Unable to obtain query #1</ERROR></eFetchResult>", status)

    server.faults.append(fault)
    search, said = fetch(of_pubmed(server), tmp_path)
    assert "PubMed no longer has this search, so it is run again." in said
    assert len(set(pmids(tmp_path))) == search.fetched == 450


@pytest.mark.parametrize(
    ("service", "query", "says"),
    [
        ("pubmed", "nothing", 'PubMed finds nothing for “nothing”, which PubMed read as "nothing"[All Fields]; change the query'),
        ("pubmed", "bad", "PubMed refuses the search (Unable to parse the query); check the query at pubmed.ncbi.nlm.nih.gov."),
        ("pubmed", " ", "The query is empty"),
        ("europepmc", "nothing", "Europe PMC finds nothing for “nothing”"),
        ("europepmc", "bad", "Europe PMC refuses the search (Invalid query)"),
    ],
)
def test_a_query_that_cannot_be_used_is_one_sentence(
    server: PapersServer, tmp_path: Path, service: str, query: str, says: str
) -> None:
    result = run(server, query, "--source", service, "--out", tmp_path / "x")
    assert result.exit_code == 2
    [line] = [line for line in result.output.splitlines() if line.startswith("Error: ")]
    assert line.startswith(f"Error: {says}")
    assert list(tmp_path.rglob(STATE)) == []


def test_the_key_is_nowhere_but_in_the_request(server: PapersServer, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    fetch(of_pubmed(server), tmp_path)
    assert {one.fields["api_key"] for one in server.asked} == {KEY}
    said = Answer(f'{{"error":"API key invalid","api-key":"{KEY}"}}'.encode(), 400)
    server.fail_once("esearch.fcgi", said)
    with pytest.raises(BadInput, match="API key invalid") as caught:
        fetch(of_pubmed(server), tmp_path / "second")
    assert KEY not in str(caught.value)
    assert KEY not in caplog.text
    assert not any(KEY in one.line for one in server.asked)
    kept = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert not any(KEY.encode() in content for content in kept)


def test_no_more_is_asked_a_second_than_ncbi_allows(server: PapersServer, tmp_path: Path) -> None:
    """Three without a key: the fourth request waits until the first is a second old."""
    server.count = 1000
    fetch(of_pubmed(server, key=""), tmp_path)
    times = [one.at for one in server.asked]
    assert len(times) == 6
    assert min(later - earlier for earlier, later in zip(times, times[3:], strict=False)) > 0.9
    assert not any("api_key" in one.fields for one in server.asked)


def test_another_search_that_was_stopped_is_not_lost(server: PapersServer, tmp_path: Path) -> None:
    fetch(of_pubmed(server), tmp_path)
    with pytest.raises(BadInput, match=r"holds another search that was stopped \(“zinc”, --source pubmed, --max 10000\)"):
        fetch(of_pubmed(server), tmp_path, "copper")
    with pytest.raises(BadInput, match="holds another search"):
        fetch(EuropePMC(server.url, backoff=0.01), tmp_path)


def test_a_service_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(Unfinished, match=r"PubMed cannot be reached at http://127.0.0.1:9 \(ConnectError"):
        fetch(PubMed("http://127.0.0.1:9", backoff=0.001), tmp_path)
    with pytest.raises(BadConfig, match="should begin with http"):
        PubMed("ftp://127.0.0.1")


def test_a_login_in_the_address_is_used_and_never_shown(
    server: PapersServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    url = server.url.replace("http://", "http://ann:open-sesame@")
    server.faults.append(lambda asked: Answer(b"open-sesame is not enough", 403) if asked.path == "esearch.fcgi" else None)
    with caplog.at_level(logging.DEBUG), pytest.raises(BadInput, match="refuses the request") as caught:
        fetch(PubMed(url, f"{KEY}\n", backoff=0.01), tmp_path)
    assert server.asked[0].login == "Basic YW5uOm9wZW4tc2VzYW1l"
    assert server.asked[0].fields["api_key"] == KEY, "without the line break behind it"
    with pytest.raises(Unfinished, match=r"cannot be reached at http://127.0.0.1:9 \(") as gone:
        fetch(EuropePMC("http://ann:open-sesame@127.0.0.1:9", backoff=0.001), tmp_path)
    with pytest.raises(BadConfig, match="'ftp://host' of PubMed should begin") as wrong:
        PubMed("ftp://ann:open-sesame@host")
    assert "sesame" not in f"{caught.value} {gone.value} {wrong.value} {caplog.text}"


# --- Europe PMC


def test_europe_pmc_comes_in_pages(server: PapersServer, tmp_path: Path) -> None:
    server.count = 1200
    search, said = fetch(EuropePMC(server.url, backoff=0.01), tmp_path, most=1100)
    assert said[0] == "Europe PMC finds 1,200 papers for “zinc”; the first 1,100 are fetched (--max)."
    assert (search.fetched, search.parts) == (1100, 3)
    records = [record for path in sources([tmp_path]) for record in read(path)]
    assert [one.pmid for one in records if isinstance(one, Omission)] == ["7"]
    first, *_ = records
    assert first == Document(
        pmid="1",
        title="Zinc 1.",
        abstract="Zinc was tried. It did not help 1 people.",
        sections=(Section("Background", 0, 15), Section("Results", 16, 41)),
        year=2019,
        journal="Lancet",
        types=("Journal Article",),
        authors=(Author("Smith", "Jo"), Author("Zinc Group")),
        doi="10.1000/1",
        mesh=("Zinc",),
    )
    assert records[9].pmid == "10.1000/10"


# --- full texts


def list_texts(folder: Path) -> set[str]:
    return {file.name for file in (folder / TEXTS).iterdir()}


def list_batches(server: PapersServer) -> list[list[str]]:
    return [one.fields["id"].split(",") for one in server.asked if one.fields.get("db") == "pmc"]


PUBLISHER = "its publisher does not allow the full text to be given away as XML"


def test_full_texts_come_from_pubmed_central_in_batches(server: PapersServer, tmp_path: Path) -> None:
    server.count, server.forbidden, server.gone = 90, {6, 9}, {12, 15}
    _, said = fetch(of_pubmed(server), tmp_path, full_text=True)
    assert list_texts(tmp_path) == {f"PMC{number}.xml.gz" for number in range(18, 91, 3)} | {"PMC3.xml.gz"}
    assert [len(batch) for batch in list_batches(server)] == [20, 10]
    assert {one.fields["api_key"] for one in server.asked} == {KEY}
    assert said[1:] == [
        f"30 of the 90 papers are in PubMed Central; 26 full texts are in {tmp_path / TEXTS}.",
        "  2 cannot be had: PubMed Central does not have it (PMC15, PMC12).",
        f"  2 cannot be had: {PUBLISHER} (PMC9, PMC6).",
        f"  Each of these is in {tmp_path / MISSING}.",
    ]
    [text] = read_full_texts(tmp_path / TEXTS / "PMC18.xml.gz")
    assert (text.record.pmcid, text.record.title, text.source) == ("PMC18", "Zinc 18", "PMC18.xml.gz")
    assert [block.text for block in text.blocks] == ["Copper helped <18 mice."]
    assert text.licence == "http://creativecommons.org/licenses/by/4.0/"


def test_full_texts_come_from_europe_pmc_one_by_one_if_they_are_open(server: PapersServer, tmp_path: Path) -> None:
    server.count, server.forbidden = 30, {3}
    _, said = fetch(EuropePMC(server.url, backoff=0.01), tmp_path, full_text=True)
    numbers = [6, 9, 12, 15, 18, 21, 24, 27]
    assert list_texts(tmp_path) == {f"PMC{number}.xml.gz" for number in numbers} | {f"PPR{one}.xml.gz" for one in (10, 20, 30)}
    assert said[1:3] == [
        f"12 of the 30 papers are open access at Europe PMC; 11 full texts are in {tmp_path / TEXTS}.",
        "  1 cannot be had: Europe PMC does not give it away as XML (error 404) (PMC3).",
    ]
    assert len([one for one in server.asked if one.path == "fullTextXML"]) == 12


TEXT_FAULTS = {
    **{name: fault for name, fault in FAULTS.items() if name not in ("no records", "cut short inside")},
    "cut short inside": Answer(b'<?xml version="1.0"?><pmc-articleset><article><front/><body><p>Copper'),
    "a page": Answer(b"<!DOCTYPE html><html><head><title>Error</title></head><body>Try later</body></html>"),
    "another page": Answer(b"<!DOCTYPE html><html><body><p>Sorry<br></body></html>"),
    "damaged gzip": Answer(b"no gzip at all", headers={"Content-Encoding": "gzip"}),
    "nothing": Answer(b""),
    "an empty set": Answer(b"<pmc-articleset></pmc-articleset>"),
}


@pytest.mark.parametrize("path", ["efetch.fcgi", "fullTextXML"])
@pytest.mark.parametrize("fault", TEXT_FAULTS)
def test_a_fault_that_passes_costs_no_text(server: PapersServer, tmp_path: Path, path: str, fault: str) -> None:
    server.count = 30
    source = of_pubmed(server) if path == "efetch.fcgi" else EuropePMC(server.url, backoff=0.01)
    fetch(source, tmp_path)
    server.fail_once(path, TEXT_FAULTS[fault], times=2)
    source = of_pubmed(server) if path == "efetch.fcgi" else EuropePMC(server.url, backoff=0.01)
    fetch(source, tmp_path, full_text=True)
    assert len(list_texts(tmp_path)) == (10 if path == "efetch.fcgi" else 12)
    assert not (tmp_path / MISSING).exists()
    times = [request.at for request in server.asked if request.path == path][-10 if path == "efetch.fcgi" else -14 :]
    assert "Retry-After" not in TEXT_FAULTS[fault].headers or times[-1] - times[0] >= 2.0


@pytest.mark.parametrize("fault", ["cut short inside", "a page", "500", "damaged gzip"])
@pytest.mark.parametrize("path", ["efetch.fcgi", "fullTextXML"])
def test_a_text_whose_answer_stays_faulty_is_named_and_the_others_come(
    server: PapersServer, tmp_path: Path, path: str, fault: str
) -> None:
    server.count = 60

    def answer(asked: Asked) -> Answer | None:
        ids = asked.fields.get("id", "").split(",") if asked.path == "efetch.fcgi" else re.findall(r"PMC(\d+)/", asked.line)
        return TEXT_FAULTS[fault] if {"27", "33"} & set(ids) else None

    server.faults.append(answer)
    source = of_pubmed(server) if path == "efetch.fcgi" else EuropePMC(server.url, backoff=0.001)
    _, said = fetch(source, tmp_path, full_text=True)
    missing = (tmp_path / MISSING).read_text("utf-8").splitlines()
    assert sorted(line.partition("\t")[0] for line in missing) == ["PMC27", "PMC33"]
    assert all(line.partition("\t")[2].startswith(f"{source.name} ") and "6 t" in line for line in missing)
    assert len(list_texts(tmp_path)) == (20 if path == "efetch.fcgi" else 24) - 2
    assert "run the same command" not in " ".join(said)


def test_a_service_that_fails_stops_the_fetch_and_the_same_command_goes_on(server: PapersServer, tmp_path: Path) -> None:
    server.count, server.forbidden = 90, {90}

    def fail(asked: Asked) -> Answer | None:
        late = asked.fields.get("db") == "pmc" and min(map(int, asked.fields["id"].split(","))) < 33
        return Answer(b"", 502) if late else None

    server.faults.append(fail)
    with pytest.raises(Unfinished, match="PubMed answered 6 times with the error 502; what was fetched so far is saved"):
        fetch(of_pubmed(server), tmp_path, full_text=True)
    assert (len(list_texts(tmp_path)), len(list_batches(server))) == (19, 1 + 6 + 3 * 6), "a batch, and three of its texts"
    server.faults.clear()
    server.asked.clear()
    _, said = fetch(of_pubmed(server), tmp_path, full_text=True)
    assert len(list_texts(tmp_path)) == 29
    assert [len(batch) for batch in list_batches(server)] == [10]
    assert len(server.asked) == 1, "what is here is not asked for again, nor what cannot be had"
    assert f"  1 cannot be had: {PUBLISHER} (PMC90)." in said


def test_too_many_requests_stop_the_fetch_at_once(server: PapersServer, tmp_path: Path) -> None:
    server.count = 30
    server.faults.append(lambda asked: Answer(b"", 429) if asked.fields.get("db") == "pmc" else None)
    with pytest.raises(Unfinished, match="too many requests"):
        fetch(of_pubmed(server), tmp_path, full_text=True)
    assert len(list_batches(server)) == 6


def test_a_text_that_an_answer_leaves_out_is_asked_for_by_itself(server: PapersServer, tmp_path: Path) -> None:
    server.count = 30

    def leave_out(asked: Asked) -> Answer | None:
        if asked.fields.get("db") != "pmc" or asked.fields["id"] == "12":
            return None
        return server.fetch_texts([int(one) for one in asked.fields["id"].split(",") if one not in ("9", "12")] or [99])

    server.faults.append(leave_out)
    _, said = fetch(of_pubmed(server), tmp_path, full_text=True)
    assert list_texts(tmp_path) == {f"PMC{number}.xml.gz" for number in range(3, 31, 3) if number != 9}
    assert "  1 cannot be had: PubMed does not answer for it (PMC9)." in said


def test_texts_that_a_new_search_does_not_find_go_and_the_others_stay(server: PapersServer, tmp_path: Path) -> None:
    server.count, server.forbidden = 30, {3}
    search, _ = fetch(of_pubmed(server), tmp_path, full_text=True)
    mark_built(tmp_path, search)
    server.count, server.forbidden = 12, set()
    server.asked.clear()
    fetch(of_pubmed(server), tmp_path, "copper", full_text=True)
    assert list_texts(tmp_path) == {"PMC3.xml.gz", "PMC6.xml.gz", "PMC9.xml.gz", "PMC12.xml.gz"}
    assert list_batches(server) == [["3"]], "what could not be had is asked for again"
    assert not (tmp_path / MISSING).exists()


# --- the command


def run(server: PapersServer, *arguments: object, key: str = KEY) -> Result:
    env = {"COUNTERPOINT_NCBI_URL": server.url, "COUNTERPOINT_EUROPEPMC_URL": server.url, "COUNTERPOINT_NCBI_API_KEY": key}
    return CliRunner().invoke(app, ["index", "fetch", *map(str, arguments)], env=env)


@pytest.mark.parametrize(("source", "documents"), [("pubmed", 450), ("europepmc", 449)])
def test_the_command_fetches_and_builds(server: PapersServer, tmp_path: Path, source: str, documents: int) -> None:
    out = tmp_path / "zinc"
    result = run(server, "zinc", "--out", out, "--source", source)
    assert result.exit_code == 0, result.output
    index = Index(out)
    assert index.manifest.counts.documents == documents
    assert KEY not in (out / "manifest.json").read_text("utf-8") + result.output
    again = run(server, "zinc", "--out", out, "--source", source)
    assert again.exit_code == 2
    assert "already exists" in again.output
    server.count = 20
    assert run(server, "copper", "--out", out, "--source", source, "--overwrite").exit_code == 0
    assert Index(out).manifest.counts.documents < 21


@pytest.mark.parametrize(("source", "texts"), [("pubmed", 10), ("europepmc", 12)])
def test_the_command_builds_an_index_of_records_and_full_texts(
    server: PapersServer, tmp_path: Path, source: str, texts: int
) -> None:
    server.count, out = 30, tmp_path / "zinc"
    result = run(server, "zinc", "--out", out, "--source", source, "--full-text", "--no-examples")
    assert result.exit_code == 0, result.output
    manifest = read_manifest(out)
    assert manifest.texts and (manifest.texts.texts, manifest.texts.own_records) == (texts, 0)
    assert f"Full texts: {texts} joined to their record" in result.output
    assert {hit.pmid for hit in Index(out).search_passages("copper mice", 30)} >= {"3", "27"}
    # The folder of papers builds the same index by itself.
    folder = tmp_path / "zinc.papers"
    arguments = ["index", "build", str(folder), "--full-text", str(folder / TEXTS), "--out", str(tmp_path / "again")]
    assert CliRunner().invoke(app, [*arguments, "--no-examples"]).exit_code == 0
    assert read_manifest(tmp_path / "again").id == manifest.id


def test_the_command_builds_an_index_of_records_if_no_text_can_be_had(server: PapersServer, tmp_path: Path) -> None:
    server.count, server.forbidden, out = 9, {3, 6, 9}, tmp_path / "zinc"
    result = run(server, "zinc", "--out", out, "--full-text", "--no-examples")
    assert result.exit_code == 0, result.output
    assert f"3 cannot be had: {PUBLISHER} (PMC9, PMC6, PMC3)." in result.output
    assert read_manifest(out).texts is None


@pytest.mark.parametrize("fault", [b"\x02", b"&#3;", b"</b>"])
def test_a_record_that_is_not_well_formed_is_left_out_and_named(server: PapersServer, tmp_path: Path, fault: bytes) -> None:
    """It comes again at every try, so the fetch does not wait for a better one."""
    server.count = 5
    broken = server.fetch

    def fetch(asked: Asked) -> Answer | None:
        return Answer(broken(asked).body.replace(b"Zinc 3", b"Zinc 3" + fault)) if asked.path == "efetch.fcgi" else None

    server.faults.append(fetch)
    result = run(server, "zinc", "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert "Skipped 1 bad record:" in result.output and "(PMID 3): expected well-formed XML" in result.output
    assert read_manifest(tmp_path / "out").counts.documents == 4


def test_a_batch_that_stays_empty_is_told_and_the_fetch_ends(server: PapersServer, tmp_path: Path) -> None:
    server.faults.append(lambda asked: FAULTS["no records"] if asked.fields.get("retstart") == "400" else None)
    search, said = fetch(of_pubmed(server), tmp_path)
    assert (search.wanted, search.fetched, len(pmids(tmp_path))) == (450, 400, 400)
    assert said[-1] == "PubMed did not deliver 50 of the 450 papers that it counted."
