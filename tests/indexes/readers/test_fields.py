"""What every format shares: clean texts, ids in every form, marks of a retraction, and placeholders of abstracts."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterpoint.indexes.readers import Omission, read
from counterpoint.indexes.readers.base.fields import (
    clean_text,
    find_doi,
    is_only_ids,
    is_placeholder,
    is_retracted,
    join_parts,
    read_pmid,
    strip_mark,
)  # fmt: skip
from counterpoint.nli.text.designs import is_notice
from counterpoint.retrieval.core.values import Document
from tests.indexes.readers.files import QUICK, SET, article, read_one, write

# --- texts


@QUICK
@given(st.lists(st.tuples(st.just("") | st.just("AIM"), st.text(max_size=8).map(clean_text)), max_size=6))
def test_join_gives_offsets_into_what_it_joins(parts: list[tuple[str, str]]) -> None:
    abstract, sections = join_parts(parts)
    kept = [part for part in parts if part[1]]
    assert abstract == " ".join(text for _, text in kept)
    if sections or len(kept) > 1 or any(label for label, _ in kept):
        assert [(s.label, abstract[s.start : s.end]) for s in sections] == kept
    assert all(a.end < b.start for a, b in pairwise(sections))


def test_clean_replaces_one_for_one_and_keeps_the_rest() -> None:
    assert clean_text("a\x00b\tc\nd\x85e\u2028f") == "a b c d e f"
    assert clean_text("p\u00a0<\u20090.05, β e\u0301") == "p\u00a0<\u20090.05, β e\u0301"


# --- PMIDs and DOIs


SICI = "10.1002/(SICI)1097-0258(19990815)18:15<1111::AID-SIM001>3.0.CO;2-2"


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
        ("10.5555/x</jats:p>", "10.5555/x"),
        ("doi.org/10.5555%2Fx.1", "10.5555/x.1"),
        ("(doi: 10.5555/x(1)).", "10.5555/x(1)"),
        ("10.1175/1520-0493(1999)127<0001:TEST>2.0.CO;2", "10.1175/1520-0493(1999)127<0001:test>2.0.co;2"),
        ("110.5555/x", ""),
    ],
)
def test_a_doi_ends_where_it_ends(text: str, doi: str) -> None:
    assert find_doi(text) == doi


def test_a_search_for_ids_takes_time_in_proportion_to_the_text() -> None:
    """The test's time limit fails a pattern that does not."""
    for text in ("10.1000/" + "<a:" * 100_000, *(100_000 * part for part in ("PMID ", "[", "1 ", "1,111", "("))):
        find_doi(text)
        read_pmid(text)
        is_only_ids(text)


NOTES = [
    ("PMID: 31234567; PMCID: PMC123", "31234567"),
    ("PMID: 31234567 [indexed for MEDLINE]", "31234567"),
    ("https://pubmed.ncbi.nlm.nih.gov/31234567/", "31234567"),
    ("Comment on: Lancet 2020. PMID: 31234567.", ""),
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
        assert read_one(tmp_path, text).pmid == (pmid or "10.5555/own")


@pytest.mark.parametrize(
    ("tags", "pmid"),
    [
        ("AN  - 31234567", "31234567"),
        ("AN  - 312\nDB  - MEDLINE", "312"),
        ("AN  - MEDLINE:31234567\nDB  - Web of Science", "31234567"),
        ("U1  - 31234567[pmid]", "31234567"),
        ("C5  - 31234567\nDB  - Embase\nAN  - L2001234567", "31234567"),
        ("AN  - 31234567\nDB  - CINAHL", ""),
        ("U1  - 5", ""),
    ],
)
def test_ris_has_pmids_in_the_tags_of_endnote_and_embase(tmp_path: Path, tags: str, pmid: str) -> None:
    document = read_one(tmp_path, f"TY  - JOUR\nTI  - T\nAB  - A.\nDO  - 10.5555/own\n{tags}\nER  - \n")
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
        assert read_one(tmp_path, text).doi == SICI.lower()


# --- marks of a retraction, and texts that only say that there is no abstract

RETRACTED = [
    "RETRACTED: Ginger eases coughs", "Retracted: Ginger eases coughs", "[Retracted] Ginger eases coughs",
    "RETRACTED ARTICLE: Ginger eases coughs", "Retracted paper. Ginger eases coughs", "RETRACTED – Ginger eases coughs",
    "RETRACTED - Ginger eases coughs", "<b>RETRACTED ARTICLE</b>: Ginger eases coughs",
    "Retracted and Republished: Ginger eases coughs", "This article has been retracted: Ginger eases coughs",
    "WITHDRAWN: Ginger eases coughs", "(Withdrawn) Ginger eases coughs", "REMOVED: Ginger eases coughs",
    "Temporary removal: Ginger eases coughs", "Ginger eases coughs (Retracted article. See vol. 7, pg. 11, 2014)",
    "Ginger eases coughs (retracted article)", "Ginger eases coughs [Retracted]", "Ginger eases coughs [retracted in 2014].",
    "Ginger eases coughs (Withdrawn Publication)", "Ginger eases coughs – RETRACTED", "Ginger eases coughs - Retracted article",
]  # fmt: skip
NOT_RETRACTED = [
    "Ginger eases coughs", "Erratum: Ginger eases coughs", "Correction to: Ginger eases coughs",
    "Expression of concern: Ginger eases coughs", "Partial retraction: Ginger eases coughs",
    'Retraction notice to "Ginger eases coughs"', "Retracted articles on ginger: a survey",
    "Citations of retracted papers (2001 to 2014)", "Retracted gums and their surgery",
    "Retracted-lip photographs in dentistry", "Bleeding under a drug that was withdrawn from the market",
    "A painkiller (withdrawn from the market)", "Ginger after tonsils were removed: a trial",
]  # fmt: skip
TYPES = ["Retracted Publication", "retracted publication", "Retracted", "Retracted Article", "Withdrawn Publication"]
OTHER_TYPES = ["Retraction of Publication", "Retraction", "Published Erratum", "Erratum", "Expression of Concern", "Article"]
PLACEHOLDERS = [
    "NA", "N/A", "n/a", "n.a.", "#N/A", "<NA>", "nan", "null", "None", "-", "--", "…", "No abstract", "No abstract available.",
    "[No abstract available]", "[Abstract not available]", "Abstract: N/A", "There is no abstract for this article.",
    "This record has no abstract", "Not available.", "Abstract unavailable", "No abstract was provided by the authors.",
]  # fmt: skip
ABSTRACTS = ["Ginger eased no cough.", "No effect.", "None of the adults coughed.", "NA channels opened.", "Ingwer half nicht."]

Write = Callable[[str, str, str], str]
"""A record with this title, abstract and type, in some format."""


FORMATS: dict[str, Write] = {
    "counterpoint": lambda title, abstract, kind: json.dumps(
        {"pmid": "7", "title": title, "abstract": abstract, "types": [kind]}
    ),
    "pubmed": lambda title, abstract, kind: SET.format(
        article(
            f"<ArticleTitle>{escape(title)}</ArticleTitle>"
            f"<Abstract><AbstractText>{escape(abstract)}</AbstractText></Abstract>"
            f"<PublicationTypeList><PublicationType>{kind}</PublicationType></PublicationTypeList>"
        )
    ),
    "nbib": lambda title, abstract, kind: f"PMID- 7\nTI  - {title}\nAB  - {abstract}\nPT  - {kind}\n",
    "ris": lambda title, abstract, kind: f"TY  - JOUR\nTI  - {title}\nAB  - {abstract}\nM3  - {kind}\nER  - \n",
    "europepmc": lambda title, abstract, kind: json.dumps(
        {"id": "7", "source": "MED", "title": title, "abstractText": abstract, "pubTypeList": {"pubType": [kind]}}
    ),
    "csl": lambda title, abstract, kind: json.dumps(
        [{"id": "a", "type": "article-journal", "title": title, "abstract": abstract, "note": kind}]
    ),
    "csv": lambda title, abstract, kind: (
        f'title;abstract;Document Type\n"{title.replace(chr(34), chr(34) * 2)}";{abstract};{kind}\n'
    ),
}
WITHOUT_TYPES: dict[str, Write] = {
    "pyserini": lambda title, abstract, _: json.dumps({"id": "7", "contents": f"{title}\n{abstract}"}),
    "scifact": lambda title, abstract, _: json.dumps({"doc_id": "7", "title": title, "abstract": [abstract]}),
    "bibtex": lambda title, abstract, _: f"@article{{a, title={{{title}}}, abstract={{{abstract}}}}}",
}


@pytest.mark.parametrize("title", RETRACTED)
def test_a_title_marks_a_retraction(title: str) -> None:
    assert is_retracted(title)
    assert not is_notice(Document("7", title, "Ginger eased coughs."))


@pytest.mark.parametrize("title", NOT_RETRACTED)
def test_a_title_with_the_same_words_marks_none(title: str) -> None:
    assert not is_retracted(title)


@pytest.mark.parametrize("format", [*FORMATS, *WITHOUT_TYPES])
def test_every_format_marks_retracted_titles(tmp_path: Path, format: str) -> None:
    make = (FORMATS | WITHOUT_TYPES)[format]
    for title in ("RETRACTED: Ginger eases coughs", "Ginger eases coughs (Retracted article. See vol. 7, 2014)"):
        assert read_one(tmp_path, make(title, "Ginger eased coughs.", "Article")).retracted
    assert not read_one(tmp_path, make("Erratum: Ginger", "Ginger eased coughs.", "Article")).retracted


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_marks_retracted_types(tmp_path: Path, format: str) -> None:
    for kind in TYPES:
        assert read_one(tmp_path, FORMATS[format]("Ginger", "Ginger eased coughs.", kind)).retracted, kind
    for kind in OTHER_TYPES:
        assert not read_one(tmp_path, FORMATS[format]("Ginger", "Ginger eased coughs.", kind)).retracted, kind


def test_a_mark_is_no_part_of_a_title() -> None:
    assert {strip_mark(title).strip(" .") for title in RETRACTED if "<b>" not in title} == {"Ginger eases coughs"}
    assert [strip_mark(title) for title in NOT_RETRACTED] == NOT_RETRACTED


@pytest.mark.parametrize("abstract", PLACEHOLDERS)
def test_a_text_that_only_says_that_there_is_no_abstract(abstract: str) -> None:
    assert is_placeholder(abstract)


@pytest.mark.parametrize("abstract", ABSTRACTS)
def test_a_short_abstract_is_one(abstract: str) -> None:
    assert not is_placeholder(abstract)


@pytest.mark.parametrize("format", [*FORMATS, *WITHOUT_TYPES])
def test_every_format_takes_a_placeholder_for_no_abstract(tmp_path: Path, format: str) -> None:
    make = (FORMATS | WITHOUT_TYPES)[format]
    for abstract in ("N/A", "[No abstract available]"):
        [record] = read(write(tmp_path, make("Ginger", abstract, "Article")))
        # An export without an abstract is counted; the other formats keep the title.
        assert isinstance(record, Omission) or (record.title, record.abstract) == ("Ginger", "")  # type: ignore[union-attr]
    assert read_one(tmp_path, make("Ginger", "No effect.", "Article")).abstract == "No effect."
