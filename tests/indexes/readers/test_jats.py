"""JATS XML as a paper: its own front, its blocks apart, its sections by heading or type; superscripts in all markup."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexes.readers import read
from indexes.readers.paper import parse_paper
from retrieval.core.errors import BadInput
from retrieval.core.values import Document, Paper
from tests.indexes.readers.files import QUICK

MATH = 'xmlns:mml="http://www.w3.org/1998/Math/MathML"'


def paper(body: str = "<p>Tea was tried.</p>", meta: str = "", after: str = "") -> Paper:
    front = f"<front><article-meta>{meta}</article-meta></front>"
    return parse_paper(f"<article {MATH}>{front}<body>{body}</body>{after}</article>".encode())


def texts(body: str) -> list[str]:
    return [sentence.text for sentence in paper(body).sentences]


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
    assert paper(section).sentences[-1].kind == kind


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
        assert (found.title, found.id, [one.text for one in found.sentences]) == ("Tea", "7", ["Tea helped.", "Tea was tried."])
        untitled = paper(after=after)
        assert (untitled.title, untitled.id) == ("", "")


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
    assert "".join(found.text.split()).replace("^", "") == "".join(plain.split())


def test_an_entity_is_its_character() -> None:
    raw = '<!DOCTYPE article SYSTEM "x.dtd"><article><body><p>TNF-&alpha; &unknown; fell.</p></body></article>'
    assert parse_paper(raw.encode()).text.strip() == "TNF-α &unknown; fell."


@QUICK
@given(st.text(alphabet="<>/&;psecbody article\"='\x01\n", max_size=80))
def test_whatever_is_given_is_read_or_told(text: str) -> None:
    for raw in (f"<article>{text}</article>".encode(), f"<{text}".encode()):
        try:
            parse_paper(raw)
        except BadInput as error:
            assert "\n" not in str(error)
