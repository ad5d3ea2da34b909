"""The readers of documents: what comes out of good sources, and what each fault in a bad one says."""

from __future__ import annotations

import gzip
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexes.readers import Deletion, Record, SkipBad, detect_format, pubmed, raise_bad, read, sources
from indexes.readers.base import source
from indexes.readers.base.fields import clean_text, is_placeholder, join_parts
from retrieval.core.errors import BadInput, BadRecord
from retrieval.core.values import Author, Document, Notice, Section

PYSERINI = {"id": "7", "contents": "Rest\nBed rest did not help."}
COUNTERPOINT = {"pmid": "7", "title": "Rest", "abstract": "Bed rest did not help."}
SCIFACT = {"doc_id": 7, "title": "Rest", "abstract": ["Bed rest was tried.", "It did not help."], "structured": False}
ARTICLE = """<PubmedArticle><MedlineCitation><PMID Version="1">7</PMID><Article>
  <ArticleTitle>Rest</ArticleTitle><Abstract><AbstractText>Bed rest did not help.</AbstractText></Abstract>
</Article></MedlineCitation></PubmedArticle>"""


def write_jsonl(folder: Path, *records: dict[str, Any] | str, name: str = "docs.jsonl") -> Path:
    """Objects, or raw text where a fault is wanted, one a line."""
    path = folder / name
    text = "".join((item if isinstance(item, str) else json.dumps(item)) + "\n" for item in records)
    path.write_text(text, encoding="utf-8")
    return path


def write_xml(folder: Path, *articles: str, root: str = "PubmedArticleSet", doctype: str = "") -> Path:
    path = folder / "docs.xml"
    path.write_text(f'<?xml version="1.0" encoding="utf-8"?>{doctype}<{root}>{"".join(articles)}</{root}>', "utf-8")
    return path


def article(inside: str = "", after: str = "", pmid: str = '<PMID Version="1">7</PMID>') -> str:
    """A citation with `inside` in its <Article> and `after` behind that."""
    citation = f"{pmid}<Article>{inside}</Article>{after}"
    return f"<PubmedArticle><MedlineCitation>{citation}</MedlineCitation></PubmedArticle>"


def documents(path: Path, **options: Any) -> list[Document]:
    return [record for record in read(path, **options) if isinstance(record, Document)]


def only(path: Path) -> Document:
    [document] = documents(path)
    return document


def until_fault(path: Path, **options: Any) -> tuple[list[Record], str]:
    """What a source yields before it fails, and how; bad records are let pass, as such faults are never to be."""
    found: list[Record] = []
    with pytest.raises(BadInput) as caught:
        for record in read(path, on_bad=SkipBad(1000), **options):
            found.append(record)
    return found, str(caught.value)


# --- the three JSON formats


def test_pyserini_takes_the_first_line_as_title(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path, {"id": 12, "contents": "Rest\nBed rest\ndid not help. "})
    assert only(path) == Document(pmid="12", title="Rest", abstract="Bed rest did not help.")


def test_pyserini_contents_of_one_line_are_all_abstract(tmp_path: Path) -> None:
    assert only(write_jsonl(tmp_path, {"id": "a1", "contents": "Rest. It did not help."})) == Document(
        pmid="a1", title="", abstract="Rest. It did not help."
    )


def test_counterpoint_reads_every_key(tmp_path: Path) -> None:
    record = {
        "pmid": 7, "title": " Rest ", "abstract": "Bed rest did not help.", "year": 1999, "journal": "Sleep",
        "types": ["Clinical Trial"], "retracted": True, "authors": ["O'Neil, Mary A, Jr", "Rest Group"],
        "doi": "https://doi.org/10.1000/Rest", "pmcid": "pmc9", "mesh": ["Bed Rest"], "source": "elsewhere",
    }  # fmt: skip
    assert only(write_jsonl(tmp_path, record)) == Document(
        "7", "Rest", "Bed rest did not help.", year=1999, journal="Sleep", types=("Clinical Trial",), retracted=True,
        authors=(Author("O'Neil", "Mary A", "Jr"), Author("Rest Group")), doi="10.1000/rest", pmcid="PMC9", mesh=("Bed Rest",),
    )  # fmt: skip


def test_counterpoint_sections_lie_in_the_abstract(tmp_path: Path) -> None:
    parts = [" We tried. ", {"label": "RESULTS", "text": "Ninety slept."}, "  ", {"text": "No gain.\n"}]
    document = only(write_jsonl(tmp_path, COUNTERPOINT | {"abstract": parts}))
    assert document.abstract == "We tried. Ninety slept. No gain."
    assert [(s.label, document.abstract[s.start : s.end]) for s in document.sections] == [
        ("", "We tried."),
        ("RESULTS", "Ninety slept."),
        ("", "No gain."),
    ]


def test_counterpoint_a_single_unlabelled_part_is_no_section(tmp_path: Path) -> None:
    assert only(write_jsonl(tmp_path, COUNTERPOINT | {"abstract": ["No gain."]})).sections == ()
    labelled = only(write_jsonl(tmp_path, COUNTERPOINT | {"abstract": [{"label": "AIM", "text": "Sleep."}]}))
    assert labelled.sections == (Section("AIM", 0, 6),)


def test_counterpoint_title_and_abstract_may_be_empty_or_null(tmp_path: Path) -> None:
    empty = {"pmid": "1", "title": "", "abstract": []}
    path = write_jsonl(tmp_path, empty, {"pmid": "2", "title": None, "abstract": None})
    assert documents(path) == [Document("1", "", ""), Document("2", "", "")]


def test_scifact_spans_are_its_sentences_and_empty_ones_keep_their_index(tmp_path: Path) -> None:
    sentences = ["", "Bed rest was tried.   \n", " ", "It did not help.", ""]
    document = only(write_jsonl(tmp_path, SCIFACT | {"abstract": sentences}))
    assert document.pmid == "7"
    assert document.abstract == "Bed rest was tried. It did not help."
    assert document.spans is not None
    assert [document.abstract[a:b] for a, b in document.spans] == ["", "Bed rest was tried.", "", "It did not help.", ""]
    assert document.spans == ((0, 0), (0, 19), (19, 19), (20, 36), (36, 36))


# Without a deadline, as a busy machine is no fault of ours.
QUICK = settings(max_examples=50, deadline=None)
TEXTS = st.text(st.characters(), max_size=8)


@QUICK
@given(st.lists(st.tuples(st.just("") | st.just("AIM"), TEXTS.map(clean_text)), max_size=6))
def test_join_gives_offsets_into_what_it_joins(parts: list[tuple[str, str]]) -> None:
    abstract, sections = join_parts(parts)
    kept = [part for part in parts if part[1]]
    assert abstract == " ".join(text for _, text in kept)
    if sections or len(kept) > 1 or any(label for label, _ in kept):
        assert [(s.label, abstract[s.start : s.end]) for s in sections] == kept
    assert all(a.end < b.start for a, b in pairwise(sections))


@QUICK
@given(st.lists(TEXTS, max_size=6))
def test_scifact_every_sentence_is_at_its_span(tmp_path_factory: pytest.TempPathFactory, sentences: list[str]) -> None:
    path = write_jsonl(tmp_path_factory.getbasetemp(), SCIFACT | {"abstract": sentences}, name="scifact.jsonl")
    document = only(path)
    spans = [document.abstract[a:b] for a, b in document.spans or ()]
    assert spans == ([""] * len(sentences) if not document.abstract else [clean_text(text) for text in sentences])
    assert bool(document.abstract) is not is_placeholder(" ".join(map(clean_text, sentences)))


@QUICK
@given(st.text(st.characters(exclude_categories=()), max_size=20))
def test_clean_text_can_be_written_and_keeps_one_line(text: str) -> None:
    cleaned = clean_text(text)
    assert cleaned.encode("utf-8").decode("utf-8") == cleaned
    assert cleaned.splitlines() in ([cleaned], [])
    assert cleaned == cleaned.strip()


def test_clean_replaces_one_for_one_and_keeps_the_rest() -> None:
    assert clean_text("a\x00b\tc\nd\x85e\u2028f") == "a b c d e f"
    assert clean_text("p\u00a0<\u20090.05, β e\u0301") == "p\u00a0<\u20090.05, β e\u0301"


def test_half_a_surrogate_pair_becomes_the_replacement_character(tmp_path: Path) -> None:
    line = r'{"id": "1", "contents": "A\nlone \ud800, a pair \ud83d\ude00, a nul \u0000."}'
    document = only(write_jsonl(tmp_path, line))
    assert document.abstract == "lone \ufffd, a pair \U0001f600, a nul  ."
    document.abstract.encode("utf-8")


# --- PubMed


def test_pubmed_reads_an_article_whole(tmp_path: Path) -> None:
    inside = """
      <Journal><JournalIssue><PubDate><Year>2019</Year></PubDate></JournalIssue><Title>The Journal of Sleep</Title>
      </Journal>
      <ArticleTitle>Rest and CO<sub>2</sub> <i>in
         vivo</i>.</ArticleTitle>
      <Abstract><AbstractText Label="AIM" NlmCategory="OBJECTIVE">To sleep.</AbstractText>
        <AbstractText Label="FINDINGS" NlmCategory="RESULTS">Ninety &lt; a <!-- no -->hundred.</AbstractText>
        <AbstractText NlmCategory="CONCLUSIONS">No gain.</AbstractText><AbstractText Label="UNLABELLED">Yet.</AbstractText>
        <AbstractText Label="NOTES"/>
        <CopyrightInformation>All rights kept.</CopyrightInformation></Abstract>
      <PublicationTypeList><PublicationType>Journal Article</PublicationType><PublicationType>Letter</PublicationType>
      </PublicationTypeList>"""
    after = """<CommentsCorrectionsList>
      <CommentsCorrections RefType="ErratumIn"><RefSource>Sleep</RefSource><PMID>8</PMID></CommentsCorrections>
      <CommentsCorrections RefType="Cites"><PMID Version="1">9</PMID></CommentsCorrections>
      <CommentsCorrections RefType="UpdateIn"><RefSource>unnumbered</RefSource></CommentsCorrections>
      </CommentsCorrectionsList>"""
    document = only(write_xml(tmp_path, article(inside, after, '<PMID Version="2">7</PMID>')))
    assert document == Document(
        pmid="7",
        title="Rest and CO2 in vivo.",
        abstract="To sleep. Ninety < a hundred. No gain. Yet.",
        year=2019,
        journal="The Journal of Sleep",
        types=("Journal Article", "Letter"),
        notices=(Notice("ErratumIn", "8"),),
        sections=(Section("AIM", 0, 9), Section("FINDINGS", 10, 29), Section("CONCLUSIONS", 30, 38), Section("", 39, 43)),
        version=2,
    )


VERNACULAR = "<VernacularTitle>Ruhe.</VernacularTitle>"
FORMULA = """<ArticleTitle>Is <mml:math xmlns:mml="http://www.w3.org/1998/Math/MathML"><mml:semantics>
  <mml:msup><mml:mi>x</mml:mi><mml:mn>2</mml:mn></mml:msup><mml:annotation>x^2</mml:annotation>
  </mml:semantics></mml:math> large?</ArticleTitle>"""
OWN = "<Abstract><AbstractText>No gain.</AbstractText></Abstract>"
OTHERS = (
    '<OtherAbstract Type="Publisher" Language="spa"><AbstractText>Nada.</AbstractText></OtherAbstract>'
    '<OtherAbstract Type="Publisher" Language="eng"><AbstractText>Nothing.</AbstractText></OtherAbstract>'
)
LATER = "<ArticleDate><Year>2003</Year></ArticleDate>"


def dated(date: str, after: str = "") -> str:
    return f"<Journal><JournalIssue><PubDate>{date}</PubDate></JournalIssue></Journal>{after}"


def linked(kind: str, pmid: str = "<PMID>8</PMID>") -> str:
    link = f'<CommentsCorrections RefType="{kind}">{pmid}</CommentsCorrections>'
    return f"<CommentsCorrectionsList>{link}</CommentsCorrectionsList>"


@pytest.mark.parametrize(
    ("inside", "after", "facts"),
    [
        # A title in the paper's own language where there is no other; formulas are read once.
        (f"<ArticleTitle>[On rest].</ArticleTitle>{VERNACULAR}", "", {"title": "[On rest]."}),
        (f"<ArticleTitle/>{VERNACULAR}", "", {"title": "Ruhe."}),
        (f"<ArticleTitle>[Not Available].</ArticleTitle>{VERNACULAR}", "", {"title": "Ruhe."}),
        (VERNACULAR, "", {"title": "Ruhe."}),
        ("", "", {"title": ""}),
        (FORMULA, "", {"title": "Is x2 large?"}),
        (dated("<Year>2001</Year><Month>Jan</Month>"), "", {"year": 2001}),
        (dated("<MedlineDate>1998 Dec-1999 Jan</MedlineDate>"), "", {"year": 1998}),
        (dated("", LATER), "", {"year": 2003}),
        (dated("<Year>2001</Year>", LATER), "", {"year": 2001}),
        (dated("<MedlineDate>Spring</MedlineDate>"), "", {"year": None}),
        ("<Journal><ISOAbbreviation>J Sleep</ISOAbbreviation></Journal>", "", {"journal": "J Sleep"}),
        # Another abstract only if it is English and the only one.
        ("", OTHERS, {"abstract": "Nothing."}),
        (OWN, OTHERS, {"abstract": "No gain."}),
        ("", linked("RetractionIn"), {"retracted": True, "notices": (Notice("RetractionIn", "8"),)}),
        ("", linked("RetractedandRepublishedIn"), {"retracted": True, "notices": (Notice("RetractedandRepublishedIn", "8"),)}),
        ("", linked("RetractionOf"), {"retracted": False, "notices": (Notice("RetractionOf", "8"),)}),
        ("", linked("ExpressionOfConcernIn"), {"retracted": False, "notices": (Notice("ExpressionOfConcernIn", "8"),)}),
        ("", linked("RepublishedFrom"), {"retracted": False, "notices": (Notice("RepublishedFrom", "8"),)}),
        ("", linked("RetractionIn", ""), {"retracted": True, "notices": ()}),
    ],
)
def test_pubmed_facts(tmp_path: Path, inside: str, after: str, facts: dict[str, object]) -> None:
    document = only(write_xml(tmp_path, article(inside, after)))
    assert {name: getattr(document, name) for name in facts} == facts


def test_pubmed_deletions_come_in_their_place(tmp_path: Path) -> None:
    gone = '<DeleteCitation><PMID Version="1">3</PMID><PMID Version="1">4</PMID></DeleteCitation>'
    first, *rest = read(write_xml(tmp_path, ARTICLE, gone))
    assert isinstance(first, Document)
    assert rest == [Deletion("3"), Deletion("4")]


def test_pubmed_authors_and_ids(tmp_path: Path) -> None:
    inside = """<ELocationID EIdType="pii">S1</ELocationID><ELocationID EIdType="doi">10.1000/Located</ELocationID><AuthorList>
      <Author><LastName>O'Neil</LastName><ForeName>Mary A</ForeName><Initials>MA</Initials><Suffix>Jr</Suffix></Author>
      <Author ValidYN="N"><LastName>Wrong</LastName></Author><Author><LastName>Li</LastName><Initials>X</Initials></Author>
      <Author><CollectiveName>The <i>Zinc</i> Group</CollectiveName></Author></AuthorList>"""
    mesh = """<MeshHeadingList><MeshHeading><DescriptorName>Humans</DescriptorName></MeshHeading><MeshHeading>
      <DescriptorName>Zinc</DescriptorName><QualifierName>blood</QualifierName></MeshHeading></MeshHeadingList>"""
    ids = """<PubmedData><ArticleIdList><ArticleId IdType="pubmed">7</ArticleId><ArticleId IdType="pmc">PMC9</ArticleId>
      {}</ArticleIdList><ReferenceList><Reference><ArticleIdList><ArticleId IdType="doi">10.1000/cited</ArticleId></ArticleIdList>
      </Reference></ReferenceList></PubmedData></PubmedArticle>"""
    record = article(inside, mesh).removesuffix("</PubmedArticle>")
    document = only(write_xml(tmp_path, record + ids.format("")))
    assert [str(author) for author in document.authors] == ["O'Neil, Mary A, Jr", "Li, X", "The Zinc Group"]
    assert (document.doi, document.pmcid, document.mesh) == ("10.1000/located", "PMC9", ("Humans", "Zinc"))
    assert only(write_xml(tmp_path, record + ids.format('<ArticleId IdType="doi">10.1000/A</ArticleId>'))).doi == "10.1000/a"


def test_pubmed_books_and_their_chapters(tmp_path: Path) -> None:
    book = """<Book><BookTitle>A Book of Sleep</BookTitle><PubDate><Year>1993</Year></PubDate></Book>"""
    tail = """<Abstract><AbstractText>How to sleep.</AbstractText></Abstract><PublicationType>Review</PublicationType>"""
    chapter = f"<PMID>1</PMID>{book}<ArticleTitle>Naps</ArticleTitle>{tail}"
    whole = f"<PMID>2</PMID>{book}{tail}"
    records = [f"<PubmedBookArticle><BookDocument>{x}</BookDocument></PubmedBookArticle>" for x in (chapter, whole)]
    naps, all_of_it = documents(write_xml(tmp_path, *records))
    assert naps == Document("1", "Naps", "How to sleep.", year=1993, journal="A Book of Sleep", types=("Review", "Book Chapter"))
    assert (all_of_it.pmid, all_of_it.title) == ("2", "A Book of Sleep")
    assert all_of_it.types == ("Review", "Book")


def test_pubmed_an_empty_set_is_no_fault(tmp_path: Path) -> None:
    assert list(read(write_xml(tmp_path))) == []


def test_pubmed_forgets_what_it_has_read(tmp_path: Path) -> None:
    long = article(f"<ArticleTitle>{'rest ' * 200}</ArticleTitle>")
    shells = [
        len(parent) if (parent := element.getparent()) is not None else 0
        for element in pubmed._read_elements(write_xml(tmp_path, *[long] * 1000), pubmed._Place(), raise_bad)
    ]
    assert len(shells) == 1000
    assert max(shells) < 150  # a chunk's worth


# --- XML that means harm


def test_no_dtd_is_fetched_and_unknown_entities_are_faults(tmp_path: Path) -> None:
    doctype = '<!DOCTYPE PubmedArticleSet SYSTEM "http://localhost:9/none.dtd">'
    path = write_xml(tmp_path, ARTICLE, article("<ArticleTitle>The &alpha; wave</ArticleTitle>"), doctype=doctype)
    faults = SkipBad(5)
    assert [document.title for document in documents(path, on_bad=faults)] == ["Rest"]
    assert "article 2 (PMID 7)" in str(faults.faults[0]) and "&alpha;" in str(faults.faults[0])


def test_no_file_is_read_into_a_document(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("the secret")
    doctype = f'<!DOCTYPE PubmedArticleSet [<!ENTITY x SYSTEM "{secret.as_uri()}">]>'
    path = write_xml(tmp_path, article("<ArticleTitle>See &x;</ArticleTitle>"), doctype=doctype)
    with pytest.raises(BadRecord, match="entity &x;") as caught:
        list(read(path))
    assert "the secret" not in str(caught.value)


def test_entities_are_not_multiplied(tmp_path: Path) -> None:
    levels = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 20}">' for i in range(1, 9))
    doctype = f'<!DOCTYPE PubmedArticleSet [<!ENTITY e0 "{"x" * 1000}">{levels}]>'
    in_text = article("<ArticleTitle>&e8;</ArticleTitle>")
    in_label = article('<Abstract><AbstractText Label="&e8;">No.</AbstractText></Abstract>')
    for record in (in_text, in_label):
        with pytest.raises(BadInput):
            list(read(write_xml(tmp_path, record, doctype=doctype)))


# --- plain, gzipped, and which format


@pytest.mark.parametrize(
    ("name", "content", "format"),
    [
        ("docs.jsonl", json.dumps(PYSERINI), "pyserini"),
        ("docs.jsonl", json.dumps(COUNTERPOINT), "counterpoint"),
        ("docs.jsonl", json.dumps(SCIFACT), "scifact"),
        ("docs.xml", f"<PubmedArticleSet>{ARTICLE}</PubmedArticleSet>", "pubmed"),
        ("docs.xml", f"\ufeff  <!-- x --><PubmedArticleSet>{ARTICLE}</PubmedArticleSet>", "pubmed"),
        ("docs.jsonl", "\ufeff" + json.dumps(COUNTERPOINT), "counterpoint"),
    ],
)
def test_formats_are_told_by_content_and_gzip_by_its_first_bytes(tmp_path: Path, name: str, content: str, format: str) -> None:
    plain, packed, misnamed = tmp_path / name, tmp_path / f"{name}.gz", tmp_path / f"packed-{name}"
    named_gz = tmp_path / f"plain-{name}.gz"
    for path in (plain, named_gz):
        path.write_text(content, "utf-8")
    for path in (packed, misnamed):
        path.write_bytes(gzip.compress(content.encode()))
    for path in (plain, packed, misnamed, named_gz):
        assert detect_format(path) == format
        assert documents(path) == documents(plain, format=format)
        assert only(path).pmid == "7"
        assert only(path).title == "Rest"


def test_blank_lines_and_windows_line_ends_pass(tmp_path: Path) -> None:
    path = tmp_path / "docs.jsonl"
    path.write_bytes(b"\r\n" + json.dumps(COUNTERPOINT).encode() + b"\r\n\n  \n")
    assert only(path).pmid == "7"


def test_gzip_in_several_members_is_one_source(tmp_path: Path) -> None:
    path = tmp_path / "docs.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(PYSERINI).encode() + b"\n") * 3)
    assert len(documents(path)) == 3


def test_a_bad_first_record_does_not_hide_the_format(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path, "not json", {"pmid": "1"}, COUNTERPOINT)
    skip = SkipBad(2)
    assert [document.pmid for document in documents(path, on_bad=skip)] == ["7"]
    assert [fault.record for fault in skip.faults] == ["line 1", "line 2"]


def test_sources_are_files_in_order_of_name(tmp_path: Path) -> None:
    folder = tmp_path / "baseline"
    folder.mkdir()
    for name in ("b.xml.gz", "a.xml.gz", "a.xml.gz.md5", "README.txt", ".hidden.jsonl", "c.jsonl"):
        (folder / name).touch()
    (folder / "deeper.xml").mkdir()
    single = write_jsonl(tmp_path, COUNTERPOINT, name="any.name")
    assert sources([single, folder]) == [single, folder / "a.xml.gz", folder / "b.xml.gz", folder / "c.jsonl"]


# --- bad records


JSON_FAULTS = [
    ("counterpoint", "nonsense", "expected one JSON object, got invalid JSON"),
    ("counterpoint", '{"pmid": "1"} {"pmid": "2"}', "Extra data"),
    ("counterpoint", '{"pmid": "1"', "expected one JSON object, got invalid JSON"),
    ("counterpoint", "[1, 2]", "expected one JSON object, got a list"),
    ("counterpoint", "3", "got a bare value"),
    ("counterpoint", '{"pmid": ' + "9" * 5000 + "}", "got one too large to read"),
    ("counterpoint", '{"pmid": ' + "[" * 100_000 + "}", "got one too large to read"),
    ("counterpoint", {"title": "", "abstract": ""}, 'expected the key "pmid", got an object with the keys abstract'),
    ("counterpoint", {}, "got an object without keys"),
    ("counterpoint", {"pmid": "1", "abstract": ""}, 'expected the key "title"'),
    ("counterpoint", {"pmid": "1", "title": ""}, 'expected the key "abstract"'),
    ("counterpoint", COUNTERPOINT | {"pmid": None}, 'whole number, in "pmid", got null'),
    ("counterpoint", COUNTERPOINT | {"pmid": True}, "got true"),
    ("counterpoint", COUNTERPOINT | {"pmid": 1.5}, "got the number 1.5"),
    ("counterpoint", COUNTERPOINT | {"pmid": ["1"]}, "got a list"),
    ("counterpoint", COUNTERPOINT | {"pmid": " "}, "got an empty text"),
    ("counterpoint", COUNTERPOINT | {"pmid": "1 2"}, "without blanks"),
    ("counterpoint", COUNTERPOINT | {"pmid": "1\n2"}, "without blanks"),
    ("counterpoint", COUNTERPOINT | {"pmid": "\ud800"}, "without blanks or control characters"),
    ("counterpoint", COUNTERPOINT | {"title": 5}, 'expected text in "title", got the number 5'),
    ("counterpoint", COUNTERPOINT | {"abstract": 5}, 'in "abstract", got the number 5'),
    ("counterpoint", COUNTERPOINT | {"abstract": {"text": ""}}, 'in "abstract", got an object'),
    ("counterpoint", COUNTERPOINT | {"abstract": ["", None]}, 'in the list "abstract", got null'),
    ("counterpoint", COUNTERPOINT | {"abstract": [{"label": "AIM"}]}, 'expected the key "text"'),
    ("counterpoint", COUNTERPOINT | {"abstract": [{"label": 1, "text": ""}]}, 'expected text in "label"'),
    ("counterpoint", COUNTERPOINT | {"year": "1999"}, "got the text '1999'"),
    ("counterpoint", COUNTERPOINT | {"year": True}, 'in "year", got true'),
    ("counterpoint", COUNTERPOINT | {"year": 19990101}, 'in "year", got the number 19990101'),
    ("counterpoint", COUNTERPOINT | {"types": "Letter"}, 'expected a list of texts in "types"'),
    ("counterpoint", COUNTERPOINT | {"authors": "Smith"}, 'expected a list of texts in "authors"'),
    ("counterpoint", COUNTERPOINT | {"doi": "none"}, "expected a DOI such as 10.1000/xyz123"),
    ("counterpoint", COUNTERPOINT | {"types": [1]}, 'in the list "types", got the number 1'),
    ("counterpoint", COUNTERPOINT | {"retracted": "yes"}, 'expected true or false in "retracted"'),
    ("counterpoint", COUNTERPOINT | {"Journal": "Sleep"}, 'expected the key "journal", got "Journal"'),
    ("counterpoint", COUNTERPOINT | {"retraced": True}, 'expected the key "retracted", got "retraced"'),
    ("pyserini", {"contents": "x"}, 'expected the key "id"'),
    ("pyserini", {"id": "1"}, 'expected the key "contents"'),
    ("pyserini", {"id": "1", "contents": ["x"]}, 'expected text in "contents", got a list'),
    ("pyserini", {"id": "", "contents": "x"}, "got an empty text"),
    ("scifact", SCIFACT | {"abstract": "x"}, "expected a list of sentences"),
    ("scifact", SCIFACT | {"abstract": ["x", 1]}, 'expected texts in the list "abstract", got the number 1'),
    ("scifact", {"title": "", "abstract": []}, 'expected the key "doc_id"'),
    ("scifact", SCIFACT | {"doc_id": None}, "got null"),
]


@pytest.mark.parametrize(("format", "bad", "says"), JSON_FAULTS)
def test_a_bad_line_is_named_and_can_be_left_out(tmp_path: Path, format: str, bad: dict[str, Any] | str, says: str) -> None:
    goods: dict[str, dict[str, Any]] = {"pyserini": PYSERINI, "counterpoint": COUNTERPOINT, "scifact": SCIFACT}
    good = goods[format]
    path = write_jsonl(tmp_path, good, bad, good)
    with pytest.raises(BadRecord) as caught:
        list(read(path, format))
    message = str(caught.value)
    assert message.startswith(f"{path}, line 2: ")
    assert says in message
    assert "--skip-bad" in message
    message.encode("utf-8")
    skip = SkipBad(1)
    assert [document.pmid for document in documents(path, on_bad=skip)] == ["7", "7"]
    assert [(fault.record, says in fault.expected) for fault in skip.faults] == [("line 2", True)]


def test_a_line_that_is_not_utf8_is_a_bad_record(tmp_path: Path) -> None:
    path = tmp_path / "docs.jsonl"
    good = json.dumps(COUNTERPOINT).encode()
    path.write_bytes(good + b"\n" + good.replace(b"Rest", b"Caf\xe9") + b"\n" + good)
    skip = SkipBad(1)
    assert len(documents(path, on_bad=skip)) == 2
    assert skip.faults[0].record == "line 2"
    assert "expected UTF-8, got the byte 0xe9" in skip.faults[0].expected


@pytest.mark.parametrize(
    ("pmid", "named", "says"),
    [
        ("", "article 2 (after article 1 (PMID 7))", "expected a PMID"),
        ("<PMID/>", "article 2 (after article 1 (PMID 7))", "expected an id"),
        ("<PMID> </PMID>", "article 2 (after article 1 (PMID 7))", "got an empty text"),
        ('<PMID Version="two">8</PMID>', "article 2 (PMID 8)", "Version, got 'two'"),
        ("<PubmedArticle/>", "article 2 (after article 1 (PMID 7))", "expected"),
        ("<PubmedArticle><MedlineCitation><PMID>8</PMID></MedlineCitation></PubmedArticle>", "article 2 (PMID 8)", "expected"),
        ("<PubmedBookArticle/>", "article 2 (after article 1 (PMID 7))", "expected"),
        ("<DeleteCitation><PMID/></DeleteCitation>", "deletion 1 (after article 1 (PMID 7))", "expected"),
    ],
)
def test_a_bad_article_is_named_and_can_be_left_out(tmp_path: Path, pmid: str, named: str, says: str) -> None:
    bad = pmid if pmid.startswith(("<Pubmed", "<Delete")) else article("", pmid=pmid)
    path = write_xml(tmp_path, ARTICLE, bad, ARTICLE)
    with pytest.raises(BadRecord) as caught:
        list(read(path))
    assert caught.value.record == named
    assert says in caught.value.expected
    skip = SkipBad(1)
    assert len(documents(path, on_bad=skip)) == 2
    assert skip.faults[0].record == named


def test_skip_bad_stops_after_its_limit_and_lists_the_first(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path, PYSERINI, "one", "two", "three", PYSERINI)
    found = []
    with pytest.raises(BadInput, match=r"More than 2 bad records.*line 2.*line 3.*line 4"):
        for record in read(path, on_bad=SkipBad(2)):
            found.append(record)
    assert len(found) == 1
    assert len(documents(path, on_bad=SkipBad(3))) == 2


def test_skip_bad_counts_over_files_and_none_are_allowed_by_zero(tmp_path: Path) -> None:
    paths = [write_jsonl(tmp_path, PYSERINI, "bad", name=name) for name in ("a.jsonl", "b.jsonl")]
    skip = SkipBad(1)
    assert len(documents(paths[0], on_bad=skip)) == 1
    with pytest.raises(BadInput, match="More than 1"):
        documents(paths[1], on_bad=skip)
    with pytest.raises(BadRecord, match="line 2"):
        documents(paths[0], on_bad=SkipBad(0))


# --- files that cannot be used, whatever is skipped


def test_a_wrong_name_is_told_before_the_first_record(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="does not exist"):
        read(tmp_path / "none.jsonl")
    with pytest.raises(BadInput, match="does not exist"):
        sources([tmp_path / "none.jsonl"])
    with pytest.raises(BadInput, match="is a directory"):
        read(tmp_path)
    with pytest.raises(BadInput, match=r"contains no source file: .*\.jsonl"):
        sources([tmp_path])


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (b" \n\n", "is empty"),
        (gzip.compress(b"", mtime=0), "is empty"),
        (gzip.compress(gzip.compress(b"{}", mtime=0), mtime=0), "gzipped twice"),
        (b"\x7fELF\x00\x01\x02", "is binary: expected text"),
        (b"%PDF-1.4 \xe2\xe3", "is a PDF: expected a file of documents; export the papers"),
        (
            b'[{"id": "1", "content": "x"}]',
            "no known format: expected PubMed XML, .* or a JSON list .*; got an object with the keys content",
        ),
        (b"[1, 2]", "no known format: .*; got a list"),
        (b"[]", "no known format: .*; got an empty list"),
        (b'[{"pmid": "1", "title": "x",', "line 1, column .*: expected valid JSON to the end"),
        (b'{\n "status": "ok",\n "papers": []\n}', "contains no list of papers: .*, got an object with the keys papers, status"),
        (b'{"claim": "x", "id": 3}', r"contents, id \(pyserini\).*got an object with the keys claim, id"),
        (b"pmid,title\n1,x\n", r"no column for abstracts.*its columns are pmid, title; name it with --column abstract=NAME"),
        (b"Titel,Kurzfassung\nx,y\n", "no known format.*CSV whose first row names a title.*got invalid JSON"),
        (b"<article><front/></article>", "expected the root element <PubmedArticleSet>, got <article>"),
        (b"<html><br></html>", "is a web page"),
        (b"<<<<", "expected well-formed XML"),
        (gzip.compress(b"{}" * 100, mtime=0)[:5], "at its start: expected more gzip data"),
    ],
)
def test_a_file_of_another_kind(tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "docs"
    path.write_bytes(content)
    with pytest.raises(BadInput, match=says) as caught:
        read(path)
    assert str(caught.value).startswith(str(path))


def test_a_format_that_is_not_the_files(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="not XML: expected PubMed XML"):
        read(write_jsonl(tmp_path, PYSERINI), "pubmed")
    with pytest.raises(BadInput, match="is XML: expected SciFact"):
        read(write_xml(tmp_path, ARTICLE), "scifact")
    with pytest.raises(BadInput, match="expected auto, pyserini, counterpoint, scifact, pubmed"):
        read(write_jsonl(tmp_path, PYSERINI), "medline")
    with pytest.raises(BadRecord, match='line 1: expected the key "pmid"'):
        list(read(write_jsonl(tmp_path, PYSERINI), "counterpoint"))


def test_gzipped_lines_that_end_too_early(tmp_path: Path) -> None:
    path = tmp_path / "docs.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(PYSERINI).encode() + b"\n")[:-4])
    found, message = until_fault(path)
    assert len(found) == 1
    assert message.startswith(f"{path}, after line 1: expected more gzip data")


def test_gzipped_xml_that_ends_too_early(tmp_path: Path) -> None:
    text = write_xml(tmp_path, ARTICLE, ARTICLE).read_bytes()
    path = tmp_path / "docs.xml.gz"
    path.write_bytes(gzip.compress(text)[:-9])
    found, message = until_fault(path)
    assert len(found) <= 2
    assert message.startswith(f"{path}, after article {len(found)} (PMID 7): expected more gzip data")


def test_gzip_that_is_damaged(tmp_path: Path) -> None:
    lines = b"".join(json.dumps({"id": i, "contents": str(i * i)}).encode() + b"\n" for i in range(1000))
    path = tmp_path / "docs.jsonl.gz"
    packed = gzip.compress(lines)
    path.write_bytes(packed[:-8] + bytes(4) + packed[-4:])
    found, message = until_fault(path)
    assert len(found) == 1000
    assert "after line 1000: expected valid gzip data" in message


def test_lines_that_end_in_the_middle_of_one(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path, PYSERINI, PYSERINI)
    path.write_bytes(path.read_bytes()[:-10])
    found, message = until_fault(path)
    assert len(found) == 1
    assert "line 2: expected the object to end, reached the end of the file" in message


@pytest.mark.parametrize("end", ["", "<PubmedArticle>", "<b></i>", "</PubmedArticleSet>x", "\x01"])
def test_xml_that_is_not_well_formed(tmp_path: Path, end: str) -> None:
    path = tmp_path / "docs.xml"
    path.write_text(f"<PubmedArticleSet>{ARTICLE}{ARTICLE}{end}")
    found, message = until_fault(path)
    assert len(found) == 2
    assert message.startswith(f"{path}, after article 2 (PMID 7): expected well-formed XML to the end")


@pytest.mark.parametrize(
    "fault", ["\x01", "&#2;", "&unknown;", "<b>", "</i>", "\ufffe", "1 < 2", "a & b", "x" * 200_000 + "\x01"]
)
@pytest.mark.parametrize("number", [1, 2, 3])
def test_an_article_that_is_not_well_formed_is_named_and_can_be_left_out(tmp_path: Path, fault: str, number: int) -> None:
    titles = {one: fault if one == number else "Rest" for one in (1, 2, 3)}
    records = [article(f"<ArticleTitle>{title}</ArticleTitle>", pmid=f"<PMID>{one}</PMID>") for one, title in titles.items()]
    for path in (write_xml(tmp_path, *records), write_xml(tmp_path, *records, root="PubmedBookArticleSet")):
        skip = SkipBad(1)
        assert [document.pmid for document in documents(path, on_bad=skip)] == [str(one) for one in titles if one != number]
        [found] = skip.faults
        assert found.record == f"article {number} (PMID {number})"
        assert "expected well-formed XML, found an error" in found.expected
        with pytest.raises(BadInput, match=rf"article {number} \(PMID {number}\).*--skip-bad"):
            documents(path)


def test_a_byte_that_is_not_utf8_spoils_its_own_article(tmp_path: Path) -> None:
    path = write_xml(tmp_path, *(article(f"<ArticleTitle>Caf@{n}</ArticleTitle>", pmid=f"<PMID>{n}</PMID>") for n in (1, 2)))
    path.write_bytes(path.read_bytes().replace(b"@1", b"\xe9"))
    assert [document.pmid for document in documents(path, on_bad=SkipBad(1))] == ["2"]


def test_results_that_were_put_together_are_all_read(tmp_path: Path) -> None:
    one = write_xml(tmp_path, ARTICLE, doctype='<!DOCTYPE PubmedArticleSet PUBLIC "x" "https://x.org/x.dtd">').read_text("utf-8")
    path = tmp_path / "all.xml"
    for between in ("", "\n\n", "\ufeff", "<!-- next -->\n"):
        path.write_text(between.join([one, one, one]) + "\n<!-- end -->\n", "utf-8")
        assert len(documents(path)) == 3
    path.write_text(one + "<eFetchResult><ERROR>No.</ERROR></eFetchResult>", "utf-8")
    found, message = until_fault(path)
    assert len(found) == 1 and "expected another <PubmedArticleSet>, got <eFetchResult>" in message


def test_a_result_that_was_cut_off_before_the_next_costs_one_article(tmp_path: Path) -> None:
    one = write_xml(tmp_path, ARTICLE, ARTICLE).read_text("utf-8")
    path, skip = tmp_path / "all.xml", SkipBad(1)
    path.write_text(one[:-90] + one, "utf-8")
    assert len(documents(path, on_bad=skip)) == 3
    assert [fault.expected for fault in skip.faults] == ["expected well-formed XML, found an error (the record breaks off)"]


FLAWS = st.sampled_from(["", "", "", "\x01", "&x;", "<b>", "</ArticleTitle>", "<", "&", "\xe9", "x" * 70_000])


@QUICK
@given(st.lists(st.tuples(FLAWS, st.booleans()), min_size=1, max_size=8))
def test_every_article_is_read_or_counted(tmp_path_factory: pytest.TempPathFactory, articles: list[tuple[str, bool]]) -> None:
    """`True` begins a new document before the article."""
    records = [
        article(f"<ArticleTitle>T{text}</ArticleTitle>", pmid=f"<PMID>{n}</PMID>") for n, (text, _) in enumerate(articles, 1)
    ]
    start = '<?xml version="1.0" encoding="utf-8"?><PubmedArticleSet>'
    text = start + "".join(
        f"{'</PubmedArticleSet>' + start if begins else ''}{record}"
        for record, (_, begins) in zip(records, articles, strict=True)
    )
    path, skip = tmp_path_factory.getbasetemp() / "flaws.xml", SkipBad(100)
    path.write_bytes(text.encode("latin-1") + b"</PubmedArticleSet>")
    found = [document.pmid for document in documents(path, on_bad=skip)]
    bad = {fault.record.partition("PMID ")[2].rstrip(")") for fault in skip.faults}
    assert sorted([*found, *bad], key=int) == [str(n) for n in range(1, len(articles) + 1)]
    assert bad == {str(n) for n, (text, _) in enumerate(articles, 1) if text and not text.startswith("x")}


def test_an_article_that_was_left_out_still_marks_the_place(tmp_path: Path) -> None:
    path = tmp_path / "docs.xml"
    bad = article(pmid='<PMID Version="two">8</PMID>')
    path.write_text(f"<PubmedArticleSet>{ARTICLE}{bad}")
    assert "after article 2 (PMID 8)" in until_fault(path)[1]


def test_a_file_without_line_breaks_is_not_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_jsonl(tmp_path, PYSERINI, {"id": "8", "contents": "x" * 10_000})
    monkeypatch.setattr(source, "LONGEST", 5000)
    found, message = until_fault(path, format="pyserini")
    assert len(found) == 1
    assert "line 2: expected one object per line" in message


def test_a_disk_that_fails_in_the_middle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "docs.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(PYSERINI).encode()))
    records = read(path)

    def fail(self: gzip.GzipFile, size: int | None = -1) -> bytes:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(gzip.GzipFile, "readline", fail)
    with pytest.raises(BadRecord, match=r"got a disk error \(Input/output error\)"):
        list(records)
