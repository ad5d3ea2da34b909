"""JATS XML as a paper: its own front, its blocks apart, its sections by heading or type; superscripts in all markup."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterpoint.indexes.readers import read
from counterpoint.indexes.readers.base.fields import RecordError
from counterpoint.indexes.readers.full_text.article import read_article
from counterpoint.indexes.readers.full_text.jats import parse_articles
from counterpoint.nli.long_text import list_blocks, list_sentences
from counterpoint.retrieval.core.errors import BadInput
from counterpoint.retrieval.core.values import Document, FullText
from tests.indexes.readers.files import QUICK

MATH = 'xmlns:mml="http://www.w3.org/1998/Math/MathML"'


def read_paper(raw: bytes) -> FullText:
    (article,) = parse_articles(BytesIO(raw), "a.xml")
    return read_article(article, "a.xml")


def paper(body: str = "<p>Tea was tried.</p>", meta: str = "", after: str = "") -> FullText:
    front = f"<front><article-meta>{meta}</article-meta></front>"
    return read_paper(f"<article {MATH}>{front}<body>{body}</body>{after}</article>".encode())


def texts_of(text: FullText) -> list[str]:
    return [sentence.text for sentence in list_sentences(text)]


def texts(body: str) -> list[str]:
    return texts_of(paper(body))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            "<p>We saw:<list><list-item><p>Tea helped</p></list-item><list-item><p>Milk did not</p></list-item></list>and</p>",
            ["We saw:", "Tea helped", "Milk did not", "and"],
        ),
        ("<p>Tea helped<disp-quote><p>Milk did not</p></disp-quote></p>", ["Tea helped", "Milk did not"]),
        ("<p>Tea<break/>helped.</p>", ["Tea helped."]),
        ("<p>Tea helped<fn><p>A note.</p></fn> adults.</p>", ["Tea helped adults."]),
        ("<p>In <bold>adults<sup><xref ref-type='bibr'>7</xref></sup></bold> tea helped.</p>", ["In adults tea helped."]),
        ("<p>In adults<xref ref-type='bibr'><sup>7</sup></xref> tea helped.</p>", ["In adults tea helped."]),
    ],
)
def test_blocks_stand_apart(body: str, expected: list[str]) -> None:
    assert texts(body) == expected


@pytest.mark.parametrize(
    ("section", "kind"),
    [
        ('<sec sec-type="conclusions"><p>Tea helped.</p></sec>', "conclusion"),
        ('<sec sec-type="materials|methods"><p>Tea was given.</p></sec>', "methods"),
        ('<sec sec-type="results"><title>What tea did</title><p>Tea helped.</p></sec>', "results"),
        ('<sec sec-type="results"><title>Discussion</title><p>Tea helped.</p></sec>', "discussion"),
        ('<sec sec-type="supplementary-material"><p>Tea helped.</p></sec>', "other"),
        ("<sec><title>Results</title><sec><title>Adults</title><p>Tea helped.</p></sec></sec>", "results"),
    ],
)
def test_a_section_is_known_by_its_heading_or_else_by_its_type(section: str, kind: str) -> None:
    assert paper(section).blocks[-1].location.kind == kind


def test_only_the_front_of_the_article_itself_is_its_own() -> None:
    own = "<title-group><article-title>Tea</article-title></title-group><abstract><p>Tea helped.</p></abstract>"
    related = (
        '<related-article><article-title>Coffee</article-title></related-article><article-id pub-id-type="pmid">7</article-id>'
    )
    stub = (
        '<front-stub><article-id pub-id-type="pmc">PMC9</article-id>'
        "<title-group><article-title>Review</article-title></title-group>"
        "<abstract><p>Tea is harmful.</p></abstract></front-stub><body><p>I doubt it.</p></body>"
    )
    for after in (f"<sub-article>{stub}</sub-article>", f"<response>{stub}</response>"):
        found = paper(meta=related + own, after=after)
        assert (found.record.title, found.record.pmcid, texts_of(found)) == ("Tea", "", ["Tea helped.", "Tea was tried."])
        untitled = paper(after=after)
        assert (untitled.record.title, untitled.record.pmcid) == ("", "")


BIBR = '<xref ref-type="bibr">'
BACK = '<back><ref-list><ref id="b7"/></ref-list></back>'


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        (f"cough{BIBR}<sup>1</sup></xref><sup>,</sup>{BIBR}<sup>2</sup></xref>.", "cough."),
        (f"cough <sup>{BIBR}1</xref>–{BIBR}3</xref></sup>.", "cough."),
        (f"cough [{BIBR}1</xref>, {BIBR}2</xref>–{BIBR}4</xref>].", "cough."),
        (f"cough {BIBR}[1]</xref>, {BIBR}[2]</xref>.", "cough."),
        (f"cough.{BIBR}1</xref>,{BIBR}2</xref>", "cough."),
        ('cough.<xref ref-type="ref" rid="b7">7</xref>', "cough."),
        (f"as in Adams et al. ({BIBR}3</xref>).", "as in Adams et al."),
        (f"cough (by diary, [{BIBR}4</xref>]).", "cough (by diary)."),
        ('placebo<xref ref-type="table-fn">a</xref>.', "placebo."),
        ('placebo<xref ref-type="fn"><sup>*</sup></xref> and milk.', "placebo and milk."),
        (f"cough ({BIBR}Adams, 2010</xref>).", "cough (Adams, 2010)."),
        (f"as {BIBR}Adams (2010)</xref> found.", "as Adams (2010) found."),
        ('cough (<xref ref-type="table">Table 1</xref>).', "cough (Table 1)."),
        ("10<sup>3</sup>/m<sup>2</sup> in 3 [2 to 4] men.", "10^3/m2 in 3 [2 to 4] men."),
    ],
)
def test_marks_of_references_and_notes_leave_nothing_behind(marked: str, plain: str) -> None:
    assert [block.text for block in paper(f"<p>Tea caused {marked}</p>", after=BACK).blocks] == [f"Tea caused {plain}"]


OWN = "<abstract><p>Tea helped.</p></abstract>"


OTHER_TYPES = (
    "graphical teaser plain-language-summary editor editor-summary toc key-points author-highlights summary short "
    "executive-summary"
).split()
OTHER_TITLES = ("Highlights", "Key points", "Plain Language Summary", "Editor's summary", "What is known already", "Resumen")


@pytest.mark.parametrize(
    "meta",
    [
        f'{OWN}<abstract xml:lang="es"><p>El té ayudó.</p></abstract><trans-abstract xml:lang="fr"><p>Oui.</p></trans-abstract>',
        *(f'<abstract abstract-type="{kind}"><p>Others say so.</p></abstract>{OWN}' for kind in OTHER_TYPES),
        *(f"<abstract><title>{title}</title><p>Others say so.</p></abstract>{OWN}" for title in OTHER_TITLES),
        OWN.replace(">", " abstract-type='summary'>", 1) + '<abstract abstract-type="editor"><p>No.</p></abstract>',
        OWN.replace(">", " abstract-type='editor'>", 1),
        '<abstract xml:lang="de"><p>Tee half.</p></abstract><trans-abstract xml:lang="en"><p>Tea helped.</p></trans-abstract>',
        '<abstract xml:lang="EN"><p>Tea helped.</p></abstract><abstract xml:lang="en"><p>Again.</p></abstract>',
    ],
)
def test_of_several_abstracts_the_papers_own_is_read(meta: str) -> None:
    found = [sentence.text for sentence in list_sentences(paper(meta=meta)) if sentence.in_abstract]
    assert found == ["Tea helped."]


EXPONENTS = [
    ("10<sup>9</sup>/L", "10^9/L"),
    ("10<sup>-8</sup> M", "10^-8 M"),
    ("10<sup><i>6</i></sup> cells", "10^6 cells"),
    ("1.73 m<sup>2</sup>", "1.73 m2"),
    ("CD4<sup>+</sup>", "CD4+"),
    ("the 2<sup>nd</sup>", "the 2nd"),
]
FORMULAS = [
    ("<mml:math><mml:msup><mml:mn>10</mml:mn><mml:mn>9</mml:mn></mml:msup></mml:math>", "10^9"),
    ("<mml:math><mml:msup><mml:mi>m</mml:mi><mml:mn>2</mml:mn></mml:msup></mml:math>", "m2"),
    ("<mml:math><mml:mfrac><mml:mn>1</mml:mn><mml:mn>2</mml:mn></mml:mfrac></mml:math>", "1/2"),
]


@pytest.mark.parametrize(("marked", "plain"), [*EXPONENTS, *FORMULAS])
def test_an_exponent_is_no_digit_of_its_base_in_xml(tmp_path: Path, marked: str, plain: str) -> None:
    path = tmp_path / "a.xml"
    text = f"<ArticleTitle>{marked}</ArticleTitle><Abstract><AbstractText>We had {marked}.</AbstractText></Abstract>"
    citation = f"<MedlineCitation><PMID>7</PMID><Article>{text}</Article></MedlineCitation>"
    path.write_text(f"<PubmedArticleSet {MATH}><PubmedArticle>{citation}</PubmedArticle></PubmedArticleSet>", "utf-8")
    [document] = read(path)
    assert isinstance(document, Document)
    assert (document.title, document.abstract) == (plain, f"We had {plain}.")
    assert texts(f"<p>We had {marked.replace('<i>', '<italic>').replace('</i>', '</italic>')}.</p>") == [f"We had {plain}."]


@pytest.mark.parametrize(("marked", "plain"), EXPONENTS)
def test_an_exponent_is_no_digit_of_its_base_in_exports(tmp_path: Path, marked: str, plain: str) -> None:
    path = tmp_path / "a.json"
    for text in (marked, marked.replace("<", "<jats:").replace("<jats:/", "</jats:")):
        path.write_text(json.dumps([{"id": "a", "type": "article-journal", "title": "T", "abstract": text}]), "utf-8")
        [document] = read(path)
        assert isinstance(document, Document) and document.abstract == plain


WORDS = st.lists(st.sampled_from(["tea", "milk", "helped", "no", "10"]), min_size=1, max_size=4).map(" ".join)
INLINE = st.recursive(
    WORDS, lambda inside: st.builds(lambda tag, x: f"<{tag}>{x}</{tag}>", st.sampled_from(["italic", "sup", "ext-link"]), inside)
)
BLOCKS = st.recursive(
    st.lists(INLINE, min_size=1, max_size=3).map(lambda parts: f"<p>{' '.join(parts)}</p>"),
    lambda inside: st.builds(
        lambda tag, blocks: f"<{tag}>{' '.join(blocks)}</{tag}>",
        st.sampled_from(["list", "boxed-text", "disp-quote", "p", "sec"]),
        st.lists(inside, min_size=1, max_size=3),
    ),
)


@QUICK
@given(st.lists(BLOCKS, min_size=1, max_size=4))
def test_every_word_of_a_body_comes_out(blocks: list[str]) -> None:
    body = " ".join(blocks)
    plain = "".join(part.partition(">")[2] for part in f">{body}".split("<"))
    found = paper(body)
    said = "".join(block.text for block in list_blocks(found))
    assert "".join(said.split()).replace("^", "") == "".join(plain.split())


def test_an_entity_is_its_character() -> None:
    raw = '<!DOCTYPE article SYSTEM "x.dtd"><article><body><p>TNF-&alpha; &unknown; fell.</p></body></article>'
    assert texts_of(read_paper(raw.encode())) == ["TNF-α &unknown; fell."]


@QUICK
@given(st.text(alphabet="<>/&;psecbody article\"='\x01\n", max_size=80))
def test_whatever_is_given_is_read_or_told(text: str) -> None:
    for raw in (f"<article>{text}</article>".encode(), f"<{text}".encode()):
        try:
            for article in parse_articles(BytesIO(raw), "a.xml"):
                read_article(article, "a.xml")
        except (BadInput, RecordError) as error:
            assert "\n" not in str(error)
