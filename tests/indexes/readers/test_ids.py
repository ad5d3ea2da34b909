"""PMIDs, DOIs and PMCIDs: in every form that programs give them, and only a paper's own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexes.readers import read
from indexes.readers.base.fields import find_doi, find_pmid, is_only_ids, read_pmid
from retrieval.core.values import Document

SICI = "10.1002/(SICI)1097-0258(19990815)18:15<1111::AID-SIM001>3.0.CO;2-2"


def only(folder: Path, text: str) -> Document:
    path = folder / "library"
    path.write_text(text, encoding="utf-8")
    [document] = read(path)
    assert isinstance(document, Document)
    return document


@pytest.mark.parametrize(
    "text",
    [
        "90002014", " 90002014 ", "090002014", "90002014.0", "90,002,014", "90.002.014", "90 002 014", "90\u00a0002\u00a0014",
        "90\u202f002\u202f014", "'90002014", '="90002014"', '"90002014"', "９０００２０１４", "PMID: 90002014", "PMID:90002014",
        "pmid 90002014", "PMID90002014", "PubMed ID: 90002014", "MEDLINE:90002014", "90002014[pmid]",
        "90002014 [PubMed - indexed for MEDLINE]",
        "https://pubmed.ncbi.nlm.nih.gov/90002014/", "pubmed.ncbi.nlm.nih.gov/90002014", "http://www.ncbi.nlm.nih.gov/pubmed/90002014",
        "https://www.ncbi.nlm.nih.gov/m/pubmed/90002014/", "https://europepmc.org/article/MED/90002014",
    ],
)  # fmt: skip
def test_a_pmid_is_read_in_every_form(text: str) -> None:
    assert read_pmid(text) == "90002014"


@pytest.mark.parametrize(
    "text",
    [
        "", "NA", "0", "9.00E+07", "12,34", "1,2345", "90002014 90002015", "PMC90002014", "10.1000/90002014",
        "see PMID 90002014", "1234567890",
    ],
)  # fmt: skip
def test_what_is_no_pmid_is_none(text: str) -> None:
    assert read_pmid(text) == ""


@pytest.mark.parametrize(
    "text",
    [
        SICI, f"https://doi.org/{SICI}", f"doi:{SICI}.", f"({SICI})", SICI.replace("<", "&lt;").replace(">", "&gt;"),
        "https://doi.org/10.1002/%28SICI%291097-0258%2819990815%2918%3A15%3C1111%3A%3AAID-SIM001%3E3.0.CO%3B2-2",
    ],
)  # fmt: skip
def test_a_serials_doi_is_read_whole(text: str) -> None:
    assert find_doi(text) == SICI.lower()


@pytest.mark.parametrize(
    ("text", "doi"),
    [
        ("<https://doi.org/10.5555/x>", "10.5555/x"),
        ("<a href='#'>10.5555/x</a>", "10.5555/x"),
        ("10.5555/x</jats:p>", "10.5555/x"),
        ("doi.org/10.5555%2Fx.1", "10.5555/x.1"),
        ("(doi: 10.5555/x(1)).", "10.5555/x(1)"),
        ("10.5555/x;", "10.5555/x"),
        ("10.1016.12/x", "10.1016.12/x"),
        ("10.1175/1520-0493(1999)127<0001:TEST>2.0.CO;2", "10.1175/1520-0493(1999)127<0001:test>2.0.co;2"),
        ("110.5555/x", ""),
    ],
)
def test_a_doi_ends_where_it_ends(text: str, doi: str) -> None:
    assert find_doi(text) == doi


@given(st.text(alphabet='<>:10./ "a&;%', max_size=200))
def test_any_text_can_be_searched_for_ids(text: str) -> None:
    assert " " not in find_doi(text)
    assert find_pmid(text) == ""
    assert not read_pmid(text) or read_pmid(text).isdigit()


def test_a_search_for_ids_takes_time_in_proportion_to_the_text() -> None:
    """The test's time limit fails a pattern that does not."""
    for text in ("10.1000/" + "<a:" * 100_000, *(100_000 * part for part in ("PMID ", "[", "1 ", "1,111", "("))):
        find_doi(text)
        read_pmid(text)
        is_only_ids(text)


NOTES = [
    ("PMID: 31234567", "31234567"),
    ("PMID: 31234567; PMCID: PMC123", "31234567"),
    ("PMID: 31234567 [indexed for MEDLINE]", "31234567"),
    ("https://pubmed.ncbi.nlm.nih.gov/31234567/", "31234567"),
    ("<p>PMID: 31234567</p>", "31234567"),
    ("Comment on: Lancet 2020. PMID: 31234567.", ""),
    ("Erratum in: PMID: 31234567", ""),
    ("Cites https://pubmed.ncbi.nlm.nih.gov/31234567/ twice", ""),
]


@pytest.mark.parametrize(("note", "pmid"), NOTES)
def test_a_note_gives_a_pmid_only_if_it_holds_nothing_else(tmp_path: Path, note: str, pmid: str) -> None:
    """Alike in every format that has notes."""
    for text in (
        f"TY  - JOUR\nTI  - T\nAB  - A.\nN1  - {note}\nDO  - 10.5555/own\nER  - \n",
        f"@article{{k, title={{T}}, abstract={{A.}}, note={{{note}}}, doi={{10.5555/own}}}}\n",
        json.dumps([{"type": "article", "title": "T", "abstract": "A.", "note": note, "DOI": "10.5555/own"}]),
        f'Title,Abstract,Extra,DOI\nT,A.,"{note}",10.5555/own\n',
    ):
        assert only(tmp_path, text).pmid == (pmid or "10.5555/own")


def test_one_line_of_a_note_may_hold_the_id(tmp_path: Path) -> None:
    note = "Publisher: Example\nPMID: 31234567\nComment on: doi:10.5555/other"
    zotero = json.dumps([{"type": "article", "title": "T", "abstract": "A.", "note": note}])
    ris = "TY  - JOUR\nTI  - T\nAB  - A.\nN1  - {}\nER  - \n".format(note.replace("\n", "\n      "))
    for text in (zotero, ris, f"@article{{k, title={{T}}, abstract={{A.}}, note={{{note}}}}}\n"):
        document = only(tmp_path, text)
        assert (document.pmid, document.doi) == ("31234567", "")


def test_another_papers_doi_in_a_note_is_not_taken(tmp_path: Path) -> None:
    document = only(tmp_path, "TY  - JOUR\nTI  - T\nAB  - A.\nN1  - Comment on doi:10.5555/other\nER  - \n")
    assert document.doi == "" and document.pmid.startswith("ref-")


@pytest.mark.parametrize(
    ("tags", "pmid"),
    [
        ("AN  - 31234567", "31234567"),
        ("AN  - 31234567\nDP  - NLM", "31234567"),
        ("AN  - 312\nDB  - MEDLINE", "312"),
        ("AN  - MEDLINE:31234567\nDB  - Web of Science", "31234567"),
        ("U1  - 31234567", "31234567"),
        ("U1  - 31234567[pmid]", "31234567"),
        ("C5  - 31234567\nDB  - Embase\nAN  - L2001234567", "31234567"),
        ("C5  - 31234567", "31234567"),
        ("AN  - 31234567\nDB  - CINAHL", ""),
        ("AN  - 2012-12345-001\nDB  - PsycINFO", ""),
        ("U1  - 5", ""),
        ("AN  - L2001234567", ""),
    ],
)
def test_ris_has_pmids_in_the_tags_of_endnote_and_embase(tmp_path: Path, tags: str, pmid: str) -> None:
    document = only(tmp_path, f"TY  - JOUR\nTI  - T\nAB  - A.\nDO  - 10.5555/own\n{tags}\nER  - \n")
    assert document.pmid == (pmid or "10.5555/own")


def test_serials_dois_in_every_reader_keep_papers_of_one_issue_apart(tmp_path: Path) -> None:
    latex = SICI.replace("<", r"{\textless}").replace(">", r"{\textgreater}")
    for text in (
        f"TY  - JOUR\nTI  - T\nAB  - A.\nDO  - {SICI}\nER  - \n",
        f"PMID- 1\nTI  - T\nAB  - A.\nAID - {SICI} [doi]\n",
        f"PMID- 1\nTI  - T\nAB  - A.\nLID - S0140-6736 [pii] {SICI} [doi]\n",
        f"@article{{k, title={{T}}, abstract={{A.}}, doi={{{SICI}}}}}\n",
        f"@article{{k, title={{T}}, abstract={{A.}}, doi={{{latex}}}}}\n",
        json.dumps([{"type": "article", "title": "T", "abstract": "A.", "DOI": SICI}]),
        f'Title,Abstract,DOI\nT,A.,"{SICI}"\n',
        json.dumps({"pmid": "1", "title": "T", "abstract": "A.", "doi": SICI}) + "\n",
        json.dumps({"id": "1", "source": "MED", "title": "T", "abstractText": "A.", "doi": SICI}) + "\n",
    ):
        assert only(tmp_path, text).doi == SICI.lower()
