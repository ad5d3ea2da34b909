"""PubMed's XML: every fact of an article, what each fault in it costs, and files that mean harm."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterpoint.indexes.readers import Deletion, SkipBad, read
from counterpoint.retrieval.core.errors import BadInput, BadRecord
from counterpoint.retrieval.core.values import Document, Notice, Section
from tests.indexes.readers.files import ARTICLE, QUICK, SET, article, documents, read_leniently, write


def write_xml(folder: Path, *articles: str, root: str = "PubmedArticleSet", doctype: str = "") -> Path:
    return write(folder, f'<?xml version="1.0" encoding="utf-8"?>{doctype}<{root}>{"".join(articles)}</{root}>')


def only(path: Path) -> Document:
    [document] = documents(path)
    return document


def test_an_article_is_read_whole(tmp_path: Path) -> None:
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
    assert only(write_xml(tmp_path, article(inside, after, '<PMID Version="2">7</PMID>'))) == Document(
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
IN_BOLD = "<Abstract><AbstractText><b>Patient: Male, 50</b><b>Diagnosis: Gout</b> <b>T</b>ea.</AbstractText></Abstract>"
LATER = "<ArticleDate><Year>2003</Year></ArticleDate>"


def dated(date: str, after: str = "") -> str:
    return f"<Journal><JournalIssue><PubDate>{date}</PubDate></JournalIssue></Journal>{after}"


def linked(kind: str, pmid: str = "<PMID>8</PMID>") -> str:
    link = f'<CommentsCorrections RefType="{kind}">{pmid}</CommentsCorrections>'
    return f"<CommentsCorrectionsList>{link}</CommentsCorrectionsList>"


@pytest.mark.parametrize(
    ("inside", "after", "facts"),
    [
        (f"<ArticleTitle/>{VERNACULAR}", "", {"title": "Ruhe."}),
        (f"<ArticleTitle>[Not Available].</ArticleTitle>{VERNACULAR}", "", {"title": "Ruhe."}),
        (VERNACULAR, "", {"title": "Ruhe."}),
        ("", "", {"title": ""}),
        (FORMULA, "", {"title": "Is x2 large?"}),
        (dated("<MedlineDate>1998 Dec-1999 Jan</MedlineDate>"), "", {"year": 1998}),
        (dated("", LATER), "", {"year": 2003}),
        (dated("<MedlineDate>Spring</MedlineDate>"), "", {"year": None}),
        ("<Journal><ISOAbbreviation>J Sleep</ISOAbbreviation></Journal>", "", {"journal": "J Sleep"}),
        # Another abstract only if it is English and the only one.
        ("", OTHERS, {"abstract": "Nothing."}),
        (OWN, OTHERS, {"abstract": "No gain."}),
        (IN_BOLD, "", {"abstract": "Patient: Male, 50 Diagnosis: Gout Tea."}),
        ("", linked("RetractionIn"), {"retracted": True, "notices": (Notice("RetractionIn", "8"),)}),
        ("", linked("RetractedandRepublishedIn"), {"retracted": True, "notices": (Notice("RetractedandRepublishedIn", "8"),)}),
        ("", linked("ExpressionOfConcernIn"), {"retracted": False, "notices": (Notice("ExpressionOfConcernIn", "8"),)}),
        ("", linked("RetractionIn", ""), {"retracted": True, "notices": ()}),
    ],
)
def test_facts(tmp_path: Path, inside: str, after: str, facts: dict[str, object]) -> None:
    document = only(write_xml(tmp_path, article(inside, after)))
    assert {name: getattr(document, name) for name in facts} == facts


def test_authors_and_ids(tmp_path: Path) -> None:
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


def test_books_and_their_chapters(tmp_path: Path) -> None:
    book = """<Book><BookTitle>A Book of Sleep</BookTitle><PubDate><Year>1993</Year></PubDate></Book>"""
    tail = """<Abstract><AbstractText>How to sleep.</AbstractText></Abstract><PublicationType>Review</PublicationType>"""
    chapter = f"<PMID>1</PMID>{book}<ArticleTitle>Naps</ArticleTitle>{tail}"
    whole = f"<PMID>2</PMID>{book}{tail}"
    records = [f"<PubmedBookArticle><BookDocument>{x}</BookDocument></PubmedBookArticle>" for x in (chapter, whole)]
    naps, all_of_it = documents(write_xml(tmp_path, *records))
    assert naps == Document("1", "Naps", "How to sleep.", year=1993, journal="A Book of Sleep", types=("Review", "Book Chapter"))
    assert (all_of_it.pmid, all_of_it.title, all_of_it.types) == ("2", "A Book of Sleep", ("Review", "Book"))


def test_deletions_come_in_their_place_and_an_empty_set_is_no_fault(tmp_path: Path) -> None:
    gone = '<DeleteCitation><PMID Version="1">3</PMID><PMID Version="1">4</PMID></DeleteCitation>'
    first, *rest = read(write_xml(tmp_path, ARTICLE, gone))
    assert isinstance(first, Document)
    assert rest == [Deletion("3"), Deletion("4")]
    assert list(read(write_xml(tmp_path))) == []


# --- XML that means harm


def test_no_dtd_is_fetched_and_no_file_read(tmp_path: Path) -> None:
    secret = write(tmp_path, "the secret", "secret")
    for doctype in ('SYSTEM "http://localhost:9/none.dtd"', f'[<!ENTITY x SYSTEM "{secret.as_uri()}">]'):
        see = article("<ArticleTitle>See &x;</ArticleTitle>")
        path = write_xml(tmp_path, ARTICLE, see, doctype=f"<!DOCTYPE PubmedArticleSet {doctype}>")
        [document], skip = read_leniently(path)
        assert isinstance(document, Document) and document.title == "Rest"
        assert "article 2 (PMID 7)" in str(skip.faults[0]) and "&x;" in str(skip.faults[0])
        assert "the secret" not in str(skip.faults[0])


def test_entities_are_not_multiplied(tmp_path: Path) -> None:
    levels = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 20}">' for i in range(1, 9))
    doctype = f'<!DOCTYPE PubmedArticleSet [<!ENTITY e0 "{"x" * 1000}">{levels}]>'
    label = '<Abstract><AbstractText Label="&e8;">No.</AbstractText></Abstract>'
    for inside in ("<ArticleTitle>&e8;</ArticleTitle>", label):
        with pytest.raises(BadInput):
            list(read(write_xml(tmp_path, article(inside), doctype=doctype)))


# --- faults


@pytest.mark.parametrize(
    ("bad", "named", "says"),
    [
        (article(pmid=""), "article 2 (after article 1 (PMID 7))", "expected a PMID"),
        (article(pmid="<PMID> </PMID>"), "article 2 (after article 1 (PMID 7))", "got an empty text"),
        (article(pmid='<PMID Version="two">8</PMID>'), "article 2 (PMID 8)", "Version, got 'two'"),
        ("<PubmedArticle/>", "article 2 (after article 1 (PMID 7))", "expected"),
        ("<PubmedArticle><MedlineCitation><PMID>8</PMID></MedlineCitation></PubmedArticle>", "article 2 (PMID 8)", "expected"),
        ("<PubmedBookArticle/>", "article 2 (after article 1 (PMID 7))", "expected"),
        ("<DeleteCitation><PMID/></DeleteCitation>", "deletion 1 (after article 1 (PMID 7))", "expected"),
    ],
)
def test_a_bad_article_is_named_and_can_be_left_out(tmp_path: Path, bad: str, named: str, says: str) -> None:
    path = write_xml(tmp_path, ARTICLE, bad, ARTICLE)
    with pytest.raises(BadRecord) as caught:
        list(read(path))
    assert caught.value.record == named
    assert says in caught.value.expected
    found, skip = read_leniently(path)
    assert (len(found), skip.faults[0].record) == (2, named)


@pytest.mark.parametrize("fault", ["\x01", "&#2;", "</i>", "\ufffe", "1 < 2", "a & b", "x" * 200_000 + "\x01"])
@pytest.mark.parametrize("number", [1, 2, 3])
def test_an_article_that_is_not_well_formed_is_named_and_can_be_left_out(tmp_path: Path, fault: str, number: int) -> None:
    titles = {pmid: fault if pmid == number else "Rest" for pmid in (1, 2, 3)}
    records = [article(f"<ArticleTitle>{titles[pmid]}</ArticleTitle>", pmid=f"<PMID>{pmid}</PMID>") for pmid in titles]
    for path in (write_xml(tmp_path, *records), write_xml(tmp_path, *records, root="PubmedBookArticleSet")):
        found, skip = read_leniently(path)
        assert [record.pmid for record in found] == [str(pmid) for pmid in titles if pmid != number]
        [told] = skip.faults
        assert told.record == f"article {number} (PMID {number})"
        assert "expected well-formed XML, found an error" in told.expected
        with pytest.raises(BadInput, match=rf"article {number} \(PMID {number}\).*--skip-bad"):
            documents(path)


BAD = article(pmid='<PMID Version="two">8</PMID>')


@pytest.mark.parametrize(
    ("text", "count", "says"),
    [
        *(
            (f"<PubmedArticleSet>{ARTICLE * 2}{end}", 2, "after article 2 (PMID 7): expected well-formed XML to the end")
            for end in ("", "<PubmedArticle>", "<b></i>", "</PubmedArticleSet>x", "\x01")
        ),
        # An article that was left out still marks the place.
        (f"<PubmedArticleSet>{ARTICLE}{BAD}", 1, "after article 2 (PMID 8): expected well-formed XML to the end"),
        (SET.format(ARTICLE) + "<eFetchResult/>", 1, "after article 1 (PMID 7): expected another <PubmedArticleSet>"),
    ],
)
def test_a_file_that_is_not_well_formed_to_its_end(tmp_path: Path, text: str, count: int, says: str) -> None:
    path, found = write(tmp_path, text), []
    with pytest.raises(BadInput) as caught:
        for record in read(path, on_bad=SkipBad(9)):
            found.append(record)
    assert len(found) == count
    assert str(caught.value).startswith(f"{path}, {says}")


def test_results_that_were_put_together_are_all_read(tmp_path: Path) -> None:
    doctype = '<!DOCTYPE PubmedArticleSet PUBLIC "x" "https://x.org/x.dtd">'
    result = write_xml(tmp_path, ARTICLE, ARTICLE, doctype=doctype).read_text("utf-8")
    for between in ("", "\n\n", "\ufeff", "<!-- next -->\n"):
        assert len(documents(write(tmp_path, between.join([result] * 3) + "\n<!-- end -->\n"))) == 6
    # One that was cut off before the next costs one article.
    found, skip = read_leniently(write(tmp_path, result[:-90] + result))
    assert len(found) == 3
    assert [fault.expected for fault in skip.faults] == ["expected well-formed XML, found an error (the record breaks off)"]


FLAWS = st.sampled_from(["", "", "", "\x01", "&x;", "<b>", "</ArticleTitle>", "<", "&", "\xe9", "x" * 70_000])


@QUICK
@given(st.lists(st.tuples(FLAWS, st.booleans()), min_size=1, max_size=8))
def test_every_article_is_read_or_counted(tmp_path_factory: pytest.TempPathFactory, articles: list[tuple[str, bool]]) -> None:
    """`True` begins a new document before the article."""
    start = '<?xml version="1.0" encoding="utf-8"?><PubmedArticleSet>'
    text = start
    for n, (flaw, begins) in enumerate(articles, 1):
        text += "</PubmedArticleSet>" + start if begins else ""
        text += article(f"<ArticleTitle>T{flaw}</ArticleTitle>", pmid=f"<PMID>{n}</PMID>")
    # In Latin-1, where one of the flaws is not UTF-8.
    found, skip = read_leniently(write(tmp_path_factory.getbasetemp(), text.encode("latin-1") + b"</PubmedArticleSet>"))
    bad = {fault.record.partition("PMID ")[2].rstrip(")") for fault in skip.faults}
    assert sorted([*(record.pmid for record in found), *bad], key=int) == [str(n) for n in range(1, len(articles) + 1)]
    assert bad == {str(n) for n, (flaw, _) in enumerate(articles, 1) if flaw and not flaw.startswith("x")}
