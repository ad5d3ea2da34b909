"""Marks of a retraction, and texts that only say that there is no abstract, in every format."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from xml.sax.saxutils import escape

import pytest

from indexes.build import build
from indexes.readers import Omission, Record, read
from indexes.readers.base.fields import is_placeholder, is_retracted, strip_mark
from nli.text.designs import is_notice
from retrieval.core.values import Document
from retrieval.index import Index

RETRACTED = [
    "RETRACTED: Ginger eases coughs",
    "Retracted: Ginger eases coughs",
    "[Retracted] Ginger eases coughs",
    "RETRACTED ARTICLE: Ginger eases coughs",
    "Retracted paper. Ginger eases coughs",
    "RETRACTED – Ginger eases coughs",
    "RETRACTED - Ginger eases coughs",
    "<b>RETRACTED ARTICLE</b>: Ginger eases coughs",
    "Retracted and Republished: Ginger eases coughs",
    "This article has been retracted: Ginger eases coughs",
    "WITHDRAWN: Ginger eases coughs",
    "(Withdrawn) Ginger eases coughs",
    "REMOVED: Ginger eases coughs",
    "Temporary removal: Ginger eases coughs",
    "Ginger eases coughs (Retracted article. See vol. 7, pg. 11, 2014)",
    "Ginger eases coughs (retracted article)",
    "Ginger eases coughs [Retracted]",
    "Ginger eases coughs [retracted in 2014].",
    "Ginger eases coughs (Withdrawn Publication)",
    "Ginger eases coughs – RETRACTED",
    "Ginger eases coughs - Retracted article",
]
NOT_RETRACTED = [
    "Ginger eases coughs",
    "Erratum: Ginger eases coughs",
    "Correction to: Ginger eases coughs",
    "Expression of concern: Ginger eases coughs",
    "Partial retraction: Ginger eases coughs",
    'Retraction notice to "Ginger eases coughs"',
    "Retracted articles on ginger: a survey",
    "Citations of retracted papers (2001 to 2014)",
    "Retracted gums and their surgery",
    "Retracted-lip photographs in dentistry",
    "Bleeding under a drug that was withdrawn from the market",
    "A painkiller (withdrawn from the market)",
    "Ginger after tonsils were removed: a trial",
]
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


def write_pubmed(title: str, abstract: str, kind: str) -> str:
    types = f"<PublicationTypeList><PublicationType>{kind}</PublicationType></PublicationTypeList>"
    text = f"<Abstract><AbstractText>{escape(abstract)}</AbstractText></Abstract>"
    article = f"<Article><ArticleTitle>{escape(title)}</ArticleTitle>{text}{types}</Article>"
    citation = f"<MedlineCitation><PMID>7</PMID>{article}</MedlineCitation>"
    return f"<PubmedArticleSet><PubmedArticle>{citation}</PubmedArticle></PubmedArticleSet>"


FORMATS: dict[str, Write] = {
    "counterpoint": lambda title, abstract, kind: json.dumps(
        {"pmid": "7", "title": title, "abstract": abstract, "types": [kind]}
    ),
    "pubmed": write_pubmed,
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


def read_one(folder: Path, text: str) -> Record:
    path = folder / "library"
    path.write_text(text, "utf-8")
    [record] = read(path)
    return record


def read_document(folder: Path, text: str) -> Document:
    record = read_one(folder, text)
    assert isinstance(record, Document)
    return record


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
        assert read_document(tmp_path, make(title, "Ginger eased coughs.", "Article")).retracted
    assert not read_document(tmp_path, make("Erratum: Ginger", "Ginger eased coughs.", "Article")).retracted


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_marks_retracted_types(tmp_path: Path, format: str) -> None:
    for kind in TYPES:
        assert read_document(tmp_path, FORMATS[format]("Ginger", "Ginger eased coughs.", kind)).retracted, kind
    for kind in OTHER_TYPES:
        assert not read_document(tmp_path, FORMATS[format]("Ginger", "Ginger eased coughs.", kind)).retracted, kind


def test_several_types_in_one_cell(tmp_path: Path) -> None:
    assert read_document(tmp_path, FORMATS["csv"]("Ginger", "It helped.", '"Article; Retracted Publication"')).retracted


@pytest.mark.parametrize("title", ["Ginger (Retraction of vol 7, pg 11, 2014)", "Ginger (Erratum to vol. 7, 2014)"])
def test_a_notice_names_the_volume_of_the_other_paper(title: str) -> None:
    assert is_notice(Document("7", title, "")) and not is_retracted(title)


@pytest.mark.parametrize("kind", ["Erratum", "retraction", "published erratum", "EXPRESSION OF CONCERN"])
def test_a_notice_is_known_by_its_type_in_any_case(kind: str) -> None:
    assert is_notice(Document("7", "Ginger", "It helped.", types=(kind,)))


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
        record = read_one(tmp_path, make("Ginger", abstract, "Article"))
        # An export without an abstract is counted; the other formats keep the title.
        assert isinstance(record, Omission) or (record.title, record.abstract) == ("Ginger", "")  # type: ignore[union-attr]
    assert read_document(tmp_path, make("Ginger", "No effect.", "Article")).abstract == "No effect."


def test_marks_and_placeholders_in_an_index(tmp_path: Path) -> None:
    rows = [("A", "NA"), ("Ginger [Retracted]", "Ginger eased coughs."), ("B", "No abstract available"), ("Fennel", "It did.")]
    path = tmp_path / "a.csv"
    path.write_text("title,abstract\n" + "".join(f"{title},{abstract}\n" for title, abstract in rows), "utf-8")
    report = build([path], tmp_path / "index")
    [source] = report.sources
    assert (source.records, source.without_abstract) == (4, 2)
    assert (report.manifest.counts.documents, report.manifest.counts.retracted, report.manifest.counts.cues) == (2, 1, 0)
    [hit] = Index(tmp_path / "index").search("ginger coughs", 5)
    entry = Index(tmp_path / "index").store.get(hit.pmid)
    assert entry and entry.document.retracted
