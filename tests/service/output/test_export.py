"""Answers and groundings as Markdown, RIS and BibTeX: what is written is read back, letter for letter."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import rispy
from bibtexparser.entrypoint import parse_string
from bibtexparser.middlewares import LatexDecodingMiddleware
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from pylatexenc.latex2text import LatexNodes2Text, MacroTextSpec, get_default_latex_context_db

from counterpoint.indexes.readers import read
from counterpoint.indexes.readers.exports.bibtex import SIGNS
from counterpoint.indexes.readers.exports.entry import clean_prose
from counterpoint.retrieval.core.values import (
    Answer,
    Author,
    Checked,
    Citation,
    CitedSentence,
    Claim,
    Conflict,
    Details,
    Document,
    Evidence,
    Grounding,
    RemovedSentence,
    Row,
    Sentence,
    Topic,
    Verdict,
)
from counterpoint.retrieval.index import Index
from counterpoint.service.grounding.schemas import GroundResponse
from counterpoint.service.output.export import bibtex, documents, make_table, markdown, ris, shorten_authors
from counterpoint.service.output.templates import escaped
from counterpoint.service.schemas import Provenance
from tests.helpers.fakes import make_grounder, make_index, make_reading_grounder

PROVENANCE = Provenance(config="c", profile="p", models={}, index="i", documents=2)
HOSTILE = (
    "A{b} }{ \\x \\cite{y} $5 & 50% #1 a_b ^2 ~ <script>alert(\"x\")</script> [a](http://b) *c* `d` ''e'' -- @article{f, g} β≥1"
)
PLAIN = Document("11", "Zeta lowers pressure.", "Zeta is good.", 2001, "Journal of Zeta")
WILD = Document("demo/x 1", HOSTILE, "One.\nER  - \r\nTY  - BOOK\u2028TI  - two", journal="J & K", retracted=True)


def read_bibtex(text: str) -> list[dict[str, str]]:
    context = get_default_latex_context_db()
    macros = [MacroTextSpec(name, simplify_repl=lambda node, one=sign: one) for name, sign in SIGNS.items()]
    context.add_context_category("names", prepend=True, macros=macros)
    decoder = LatexNodes2Text(latex_context=context)
    library = parse_string(text, append_middleware=[LatexDecodingMiddleware(decoder=decoder)])
    assert not library.failed_blocks
    return [{"key": one.key, "type": one.entry_type, **{f.key: f.value for f in one.fields}} for one in library.entries]


def sentence(document: Document) -> Sentence:
    return Sentence(document.pmid, 0, 0, len(document.abstract), document.abstract)


def answer_of(cited: Sequence[Document], conflicts: Sequence[Document] = ()) -> Answer:
    verdict = Verdict(0.9, 0.05, 0.05)
    return Answer(
        topic=Topic("1", "Does *zeta* <b>work</b>?"),
        outcome="answered",
        sentences=(CitedSentence("1. It does; p < 0.05.", tuple(Citation(one, sentence(one), verdict) for one in cited)),),
        conflicts=tuple(Conflict(0, Evidence(one, "contradict", sentence(one), 1, 0.9, "j")) for one in conflicts),
        removed=(RemovedSentence("It [cures].", "it cites nothing"),),
        context=(),
        generated_by="extractive",
    )


def test_bibtex_is_read_back_letter_for_letter() -> None:
    plain, wild = read_bibtex(bibtex([PLAIN, WILD]))
    assert (plain["key"], plain["type"], plain["title"], plain["year"]) == ("pmid11", "article", PLAIN.title, "2001")
    assert plain["url"].endswith("/11/")
    assert wild["title"] == HOSTILE
    assert wild["journal"] == "J & K"
    assert wild["note"] == "Retracted publication"
    assert wild["abstract"] == "One. ER - TY - BOOK TI - two"
    assert re.fullmatch(r"[\w:+/-]+", wild["key"])
    assert not {"url", "pmid"} & wild.keys()


FULL = Document(
    "101", "Zinc", "It did not help.", 2019, "Lancet", ("Journal Article", "Randomized Controlled Trial"), retracted=True,
    authors=(
        Author("O'Neil", "Mary A"), Author("van den Berg", "Jan", "Jr."), Author("The Research and Zinc, Iron Group"),
        Author("Müller", "J.-P."), Author("Black and Decker", "A, B"),
    ),
    doi="10.1000/zinc_1(19)", pmcid="PMC12345", mesh=("Humans", "Diabetes Mellitus, Type 2"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("types", "journal", "entry"),
    [
        ((), "Lancet", ("JOUR", "article", "journal")),
        ((), "", ("GEN", "misc", "")),
        (("Review", "Book Chapter"), "A Book of Sleep", ("CHAP", "incollection", "booktitle")),
        (("Book",), "Zinc", ("BOOK", "book", "")),
        (("Preprint",), "medRxiv", ("UNPB", "misc", "howpublished")),
    ],
)
def test_the_entry_is_of_the_paper_s_kind(types: tuple[str, ...], journal: str, entry: tuple[str, str, str]) -> None:
    document = replace(FULL, types=types, journal=journal)
    [record], [written] = rispy.loads(ris([document])), read_bibtex(bibtex([document]))
    assert (record["type_of_reference"], written["type"]) == entry[:2]
    if entry[2]:
        assert written[entry[2]] == journal


def test_a_paper_without_a_pmid_is_linked_by_its_doi() -> None:
    document = replace(FULL, pmid="10.1000/zinc_1(19)")
    assert rispy.loads(ris([document]))[0]["urls"] == ["https://doi.org/10.1000/zinc_1(19)"]
    shown = MarkdownIt("commonmark").render(markdown(answer_of([document])))
    assert 'href="https://doi.org/10.1000/zinc_1%2819%29"' in shown


@pytest.mark.parametrize(
    ("doi", "path"),
    [
        ("10.1002/a<1::aid-b>3.0.co;2-#", "10.1002/a%3C1%3A%3Aaid-b%3E3.0.co%3B2-%23"),
        ("10.1000/5%{x}", "10.1000/5%25%7Bx%7D"),
        ("10.1000/a?b\"c'd", "10.1000/a%3Fb%22c%27d"),
    ],
)
def test_a_doi_is_escaped_in_its_link_and_nowhere_else(doi: str, path: str) -> None:
    document = replace(FULL, pmid="ref-1", doi=doi)
    [record] = rispy.loads(ris([document]))
    assert (record["urls"], record["doi"]) == ([f"https://doi.org/{path}"], doi)
    assert f'href="https://doi.org/{path}"' in MarkdownIt("commonmark").render(markdown(answer_of([document])))
    [written] = read_bibtex(bibtex([document]))
    assert written["url"].replace("\\", "") == f"https://doi.org/{path}"


def test_authors_are_shortened_as_in_a_list_of_references() -> None:
    assert shorten_authors(FULL.authors) == "O'Neil MA, van den Berg J, The Research and Zinc, Iron Group, et al"
    assert shorten_authors((Author("Müller", "J.-P."), Author("Smith", "JA"))) == "Müller JP, Smith JA"
    assert shorten_authors(()) == ""


@settings(deadline=None)
@given(st.lists(st.text(alphabet=st.characters(categories=["L", "N", "P", "S", "Zs"]), max_size=30), min_size=4, max_size=4))
@example([HOSTILE, "ER  - TY  - JOUR", "AB - p <0.05 & 50% of $5 \\textless", "{J} & K"])
@example(["a--b ''c'' ``d``", "$5 and $6", "1 < 2 > 0, ~3 ^4 a_b \\", "@article{x, y}"])
def test_what_we_export_comes_back_identical(texts: list[str]) -> None:
    """Through our own readers, but for tags and entities, which they take out of any text."""
    title, abstract, journal, family = (unicodedata.normalize("NFC", f"Zinc {text}") for text in texts)
    document = replace(
        FULL,
        title=clean_prose(title),
        abstract=clean_prose(abstract),
        journal=f"Journal of {clean_prose(journal)}",
        doi="10.1002/(sici)1097(19990815)18:15<1111::aid-sim1>3.0.co;2-2",
        authors=(Author(clean_prose(family).replace(",", ""), "Jo"),),
    )
    for write in (ris, bibtex):
        with TemporaryDirectory() as folder:
            path = Path(folder, "library")
            path.write_text(write([document, replace(document, pmid="9")]), "utf-8")
            first, second = read(path)
        assert isinstance(first, Document)
        same = ("pmid", "title", "abstract", "year", "journal", "doi", "pmcid", "retracted")
        assert [getattr(first, one) for one in same] == [clean(getattr(document, one)) for one in same]
        assert second.pmid == "9"


def clean(value: object) -> object:
    return clean_prose(value) if isinstance(value, str) else value


@pytest.mark.parametrize(
    "text", [HOSTILE, "1. one", "2) two", "- a", "+ b", "# c", "> d", "~~~", "===", "    code", "a\n\n# b", "|a|b|"]
)
def test_markdown_shows_a_text_as_it_is(text: str) -> None:
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(escaped(text))
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    children = tokens[1].children or []
    assert {child.type for child in children} <= {"text", "text_special"}
    assert "".join(child.content for child in children) == " ".join(text.split())


def test_an_answer_as_markdown_has_references_conflicts_and_what_was_removed() -> None:
    text = markdown(answer_of([PLAIN, WILD], conflicts=[PLAIN]))
    html = MarkdownIt("commonmark").render(text)
    assert "<script" not in html
    assert "<b>work" not in html
    assert "<p>1. It does; p &lt; 0.05. [1, 2]</p>" in html
    assert html.count("<li>") >= 5
    assert "Conflicting evidence" in html
    assert "It [cures]. (it cites nothing)" in html
    assert "<strong>Retracted publication</strong>" in html


def test_a_grounding_is_exported_too(demo_index: Index) -> None:
    grounder, _ = make_grounder(demo_index, "bm25")
    grounding = grounder.ground(Claim("Beta-carotene reduces the risk of lung cancer."))
    found = documents(grounding)
    assert [one.pmid for one in found] == list(dict.fromkeys(one.pmid for one in found))
    assert len(found) == len(rispy.loads(ris(found))) == len(read_bibtex(bibtex(found)))
    assert f"## Supporting: {len(grounding.supporting) or 'none'}" in markdown(grounding)
    nothing = Grounding(Claim("x"), (), (), Checked(0, 0, 0))
    assert "## Contradicting: none" in markdown(nothing)
    assert (ris([]), bibtex([])) == ("", "")


def test_a_verdict_on_the_whole_paper_is_exported_with_its_certainty(tmp_path: Path) -> None:
    papers = [{"pmid": "1", "title": "A finding against zeta", "abstract": "Zeta raised pressure."}]
    index = make_index(tmp_path, papers)
    text = markdown(make_reading_grounder(index).ground(Claim("zeta changes pressure")))
    assert "80% likely that the paper contradicts the claim" in text
    assert text.count("%") == 2
    assert "**One paper contradicts this claim.** Probably right: 79% certain. Of 1 paper found and 1 read, 1 contr" in text
    index.close()


def test_a_claim_and_an_open_question_have_the_same_table(tmp_path: Path) -> None:
    papers = [
        {"pmid": "1", "title": "A finding against zeta", "abstract": "Zeta raised pressure.", "year": 2001},
        {"pmid": "2", "title": "A finding for zeta", "abstract": "Zeta lowered pressure.", "retracted": True},
    ]
    index = make_index(tmp_path, papers)
    grounding = make_reading_grounder(index).ground(Claim("zeta changes pressure"))
    columns, rows = make_table(grounding)
    first = dict(zip(columns, rows[0], strict=True))
    assert "answer" not in first, "no column is empty throughout"
    assert (first["direction"], first["year"], first["quotation"]) == ("contradicts", 2001, "Zeta raised pressure.")
    assert [row[columns.index("direction")] for row in rows[1:]] == ["retracted"]
    assert "\n| contradicts | a study | 2001 | Zeta raised pressure. | 1 |\n" in markdown(grounding)
    found = Row("zeta", "zeta", "What changes it? Zeta.", "Zeta lowers pressure", grounding.contradicting[0])
    answer = replace(answer_of([PLAIN]), rows=(found,))
    asked, (row,) = make_table(answer)
    assert [name for name in asked if name not in columns] == ["answer"]
    assert dict(zip(asked, row, strict=True)) == first | {"claim": "Zeta lowers pressure", "answer": "zeta"}
    index.close()


def test_people_number_and_effect_are_columns_where_a_language_model_found_some(tmp_path: Path) -> None:
    papers = [
        {"pmid": str(n), "title": "A finding against zeta", "abstract": "Zeta raised pressure in 90 men, by 5 mmHg (1 to 9)."}
        for n in (1, 2)
    ]
    index = make_index(tmp_path, papers)
    grounding = make_reading_grounder(index).ground(Claim("zeta changes pressure"))
    assert "details" not in GroundResponse.of(grounding, PROVENANCE).model_dump_json()
    first, second = grounding.contradicting
    assert first.verdict
    details = Details("90 men", "90", "by 5 mmHg (1 to 9)")
    first = replace(first, verdict=replace(first.verdict, details=details))
    grounding = replace(grounding, contradicting=(first, second))
    answer = replace(answer_of([PLAIN]), rows=(Row("zeta", "zeta", "What changes it? Zeta.", "Zeta lowers pressure", first),))
    for result, others in ((grounding, [["", "", ""]]), (answer, [])):
        columns, rows = make_table(result)
        place = columns.index("people")
        assert columns[place : place + 4] == ["people", "number", "effect", "quotation"]
        assert [row[place : place + 3] for row in rows] == [["90 men", "90", "by 5 mmHg (1 to 9)"], *others]
        assert "| 90 men | 90 | by 5 mmHg (1 to 9) |" in markdown(result)
    sent = GroundResponse.of(grounding, PROVENANCE).model_dump()["contradicting"]
    assert sent[0]["verdict"]["details"] == {"people": "90 men", "number": "90", "effect": "by 5 mmHg (1 to 9)"}
    assert "details" not in sent[1]["verdict"]
    index.close()
