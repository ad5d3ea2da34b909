"""JATS as a full text: its record, its paragraphs by section, its tables row by row, captions and notes."""

from __future__ import annotations

from io import BytesIO

import pytest

from counterpoint.indexes.readers.full_text.article import read_article
from counterpoint.indexes.readers.full_text.jats import parse_articles
from counterpoint.retrieval.core.values import Author, FullText, Notice, Section

LINK = 'xmlns:xlink="http://www.w3.org/1999/xlink"'
META = f"""<article-id pub-id-type="pmid">7</article-id><article-id pub-id-type="pmc">99</article-id>
<article-id pub-id-type="doi">10.1000/TEA.7</article-id>
<article-categories><subj-group><subject>Study Protocol</subject></subj-group></article-categories>
<title-group><article-title>Tea and <italic>cough</italic><xref ref-type="fn">*</xref></article-title>
<subtitle>a trial</subtitle></title-group>
<contrib-group>
<contrib contrib-type="author"><name><surname>Roe</surname><given-names>Jo</given-names><suffix>Jr</suffix></name></contrib>
<contrib contrib-type="author"><collab>Tea Group<contrib-group><contrib><name><surname>Poe</surname></name></contrib>
</contrib-group></collab></contrib>
<contrib contrib-type="editor"><name><surname>Ed</surname></name></contrib></contrib-group>
<pub-date pub-type="pmc-release"><year>2015</year></pub-date><pub-date pub-type="epub"><year>2012</year></pub-date>
<pub-date pub-type="ppub"><year>2013</year></pub-date>
<permissions><copyright-statement>© Roe</copyright-statement>
<license {LINK} xlink:href="https://creativecommons.org/licenses/by/4.0/"><license-p>Free to use.</license-p></license>
</permissions>
<related-article {LINK} ext-link-type="pmid" xlink:href="11" related-article-type="correction-forward"/>
<abstract><sec><title>Methods:</title><p>Tea was given.</p></sec>
<sec><title>Results</title><p>Tea helped.</p><p>Twice.</p></sec></abstract>"""
JOURNAL = "<journal-meta><journal-title>Journal of Tea</journal-title></journal-meta>"
FRONT = f"<front>{JOURNAL}<article-meta>{META}</article-meta></front>"


def read(body: str, front: str = FRONT, kind: str = "research-article", after: str = "") -> FullText:
    raw = f'<article article-type="{kind}">{front}<body>{body}</body>{after}</article>'
    [article] = parse_articles(BytesIO(raw.encode()), "a.xml")
    return read_article(article, "a.xml")


def table(body: str, head: str = "", before: str = "", foot: str = "") -> str:
    thead = f"<thead>{head}</thead>" if head else ""
    notes = f"<table-wrap-foot>{foot}</table-wrap-foot>" if foot else ""
    return f"<table-wrap><label>Table 1</label>{before}<table>{thead}<tbody>{body}</tbody></table>{notes}</table-wrap>"


def row(*cells: str, tag: str = "td") -> str:
    return "<tr>" + "".join(cell if cell.startswith("<t") else f"<{tag}>{cell}</{tag}>" for cell in cells) + "</tr>"


def rows(body: str, head: str = "") -> list[tuple[str, int, str]]:
    blocks = read(table(body, head)).blocks
    return [(one.text, one.location.number, one.context) for one in blocks if one.location.kind == "table"]


def test_the_front_gives_the_record_and_the_licence() -> None:
    found = read("<p>Tea.</p>")
    record = found.record
    assert (record.pmid, record.pmcid, record.doi, record.year) == ("7", "PMC99", "10.1000/tea.7", 2013)
    assert (record.title, record.journal) == ("Tea and cough: a trial", "Journal of Tea")
    assert record.types == ("Journal Article", "Clinical Trial Protocol")
    assert record.authors == (Author("Roe", "Jo", "Jr"), Author("Tea Group"))
    assert record.abstract == "Tea was given. Tea helped. Twice."
    assert record.sections == (Section("Methods", 0, 14), Section("Results", 15, 33))
    assert record.notices == (Notice("ErratumIn", "11"),) and not record.retracted
    assert found.licence == "Free to use. (https://creativecommons.org/licenses/by/4.0/)"
    assert (found.format, found.source) == ("jats", "a.xml")


@pytest.mark.parametrize(
    ("meta", "kind", "retracted"),
    [
        ("", "research-article", False),
        ("", "retracted-article", True),
        ("<related-article related-article-type='retraction-forward'/>", "research-article", True),
        ("<title-group><article-title>RETRACTED: Tea and cough</article-title></title-group>", "research-article", True),
        ("<title-group><article-title>Retracted: Tea and cough</article-title></title-group>", "retraction", False),
    ],
)
def test_a_retracted_paper_is_known(meta: str, kind: str, retracted: bool) -> None:
    found = read("<p>Tea.</p>", f"<front><article-meta>{meta}</article-meta></front>", kind)
    assert found.record.retracted is retracted and found.record.pmid == ""


def test_paragraphs_are_counted_by_section() -> None:
    body = """<p>Cough is common.</p><sec><title>Results</title><p>Tea helped. Milk did not.</p><sec><title>Adults</title>
    <p>More.</p></sec></sec><sec><title>Discussion</title><p>Adams found less<xref ref-type="bibr">3</xref>.</p>
    <p>So.</p></sec>"""
    blocks = read(body).blocks
    assert [(str(one.location), one.location.kind, one.text) for one in blocks] == [
        ("paragraph 1", "introduction", "Cough is common."),
        ("Results, paragraph 1", "results", "Tea helped. Milk did not."),
        ("Adults, paragraph 1", "results", "More."),
        ("Discussion, paragraph 1", "discussion", "Adams found less."),
        ("Discussion, paragraph 2", "discussion", "So."),
    ]
    assert [blocks[1].text[start:end] for start, end in blocks[1].spans] == ["Tea helped.", "Milk did not."]


def test_a_cell_stands_behind_the_heads_of_its_columns() -> None:
    head = row("Outcome", '<th colspan="2">Tea</th>', '<th rowspan="2">P</th>', tag="th") + row("", "Mean", "SD", tag="th")
    assert rows(row("Cough", "1.2", "0.3", "0.04") + row("Fever", "2", "", "0.5"), head) == [
        ("Cough | Tea Mean 1.2 | SD 0.3 | P 0.04", 1, "Outcome"),
        ("Fever | Tea Mean 2 | P 0.5", 2, "Outcome"),
    ]


def test_tables_and_figures_behind_the_text_are_read_and_the_declarations_beside_them_are_not() -> None:
    figure = "<fig><label>Figure 1</label><caption><p>Coughs fell by half.</p></caption></fig>"
    back = f"<back><sec><title>Interests</title><p>None.</p></sec><sec>{table(row('Coughs', '3'))}{figure}</sec></back>"
    blocks = read("<p>Tea helped.</p>", after=back).blocks
    assert [(one.location.section, one.text) for one in blocks[1:]] == [
        ("Table 1", "Coughs | 3"), ("Figure 1", "Coughs fell by half."),
    ]  # fmt: skip
