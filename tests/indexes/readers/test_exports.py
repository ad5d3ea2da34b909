"""What reference managers and PubMed export: as many records and as much text come out as went in, and each fault is told."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterpoint.indexes.build import build
from counterpoint.indexes.readers import Omission, SkipBad, detect_format, read
from counterpoint.indexes.readers.exports.bibtex import decode_latex
from counterpoint.retrieval.core.errors import BadInput
from counterpoint.retrieval.core.values import Author, Document, Notice, Section
from counterpoint.retrieval.index import Index
from tests.indexes.readers.files import QUICK, documents, read_leniently, read_one, read_text, write

NBIB = """
PMID- 101
OWN - NLM
DP  - 2019 Jan 5
TI  - Zinc and the common
      cold: a trial.
LID - S0140-6736(19)30001-1 [pii]
LID - 10.1000/ZINC.1 [doi]
AB  - BACKGROUND: Zinc was tried. RESULTS: It did not shorten colds
      (p <0.05).
FAU - O'Neil, Mary A
AU  - O'Neil MA
FAU - van den Berg, Jan
AU  - van den Berg J
CN  - Zinc Study Group
PT  - Journal Article
PT  - Randomized Controlled Trial
JT  - Lancet (London, England)
TA  - Lancet
MH  - Humans
MH  - *Zinc/therapeutic use
MH  - Common Cold/*drug therapy
PMC - PMC12345
CIN - Lancet. 2019;1:2. PMID:
      555
RIN - Lancet. 2021;3:4. PMID: 666

PMID- 102
TI  - A letter.
JT  - Lancet
"""
RIS = """TY  - JOUR
AU  - O'Neil, Mary A
AU  - Zinc Study Group
T1  - Zinc and the common cold
JO  - Lancet
T2  - The Lancet
PY  - 2019/01/05/
DO  - https://doi.org/10.1000/ZINC.1
N1  - PMID: 101
N2  - Zinc was tried.
It did not shorten colds.
KW  - zinc
ER  -\x20

TY  - CHAP
TI  - Naps
T2  - A Book of Sleep
AB  - How to sleep.
ER  -
"""
BIBTEX = r"""@comment{made by Better BibTeX}
@string{lan = "The Lancet"}
@article{oneil2019,
  title = {{{Zinc}} and the Common Cold: {$\alpha$}-Blockers},
  author = {O'Neil, Mary A. and van den Berg, Jan and {Zinc Study Group} and M{\"u}ller, Jr., Karl},
  year = 2019, journal = lan, doi = {10.1000/zinc\_1}, pmid = {101}, pmcid = {PMC12345},
  abstract = {Of all colds, 5% were short \& 6\% long, at $5 each; CD4\textsuperscript{+} cells did not change.}
}
@incollection{naps, title={Naps}, booktitle={A Book of Sleep}, date={1993-05}, abstract={How to sleep.}}
"""
CSL = [
    {
        "id": "oneil2019",
        "type": "article-journal",
        "title": "Zinc and the common cold",
        "container-title": "The Lancet",
        "abstract": "<jats:title>Background</jats:title><jats:p>Zinc was tried; p &lt; 0.05 and <i>q</i> <2.</jats:p>",
        "DOI": "10.1000/ZINC.1",
        "note": "PMID: 101\nPMCID: PMC12345",
        "author": [
            {"family": "O'Neil", "given": "Mary A."},
            {"family": "Berg", "given": "Jan", "non-dropping-particle": "van den"},
            {"literal": "Zinc Study Group"},
        ],
        "issued": {"date-parts": [[2019, 1, 5]]},
    },
    {"id": 2, "type": "article", "title": "A preprint", "abstract": "Zinc again.", "issued": {"raw": "March 2020"}},
]

# The paper that most of these describe, as the shortest of them has it.
ZINC = Document(
    pmid="101",
    title="Zinc and the common cold",
    abstract="Zinc was tried. It did not shorten colds.",
    year=2019,
    journal="The Lancet",
    types=("Journal Article",),
    authors=(Author("O'Neil", "Mary A"), Author("Zinc Study Group")),
    doi="10.1000/zinc.1",
)


def test_nbib_reads_what_pubmed_writes(tmp_path: Path) -> None:
    path = write(tmp_path, NBIB)
    assert detect_format(path) == "nbib"
    trial, letter = read(path)
    assert trial == replace(
        ZINC,
        title="Zinc and the common cold: a trial.",
        abstract="Zinc was tried. It did not shorten colds (p <0.05).",
        sections=(Section("BACKGROUND", 0, 15), Section("RESULTS", 16, 51)),
        journal="Lancet (London, England)",
        types=("Journal Article", "Randomized Controlled Trial"),
        notices=(Notice("CommentIn", "555"), Notice("RetractionIn", "666")),
        retracted=True,
        authors=(Author("O'Neil", "Mary A"), Author("van den Berg", "Jan"), Author("Zinc Study Group")),
        pmcid="PMC12345",
        mesh=("Humans", "Zinc", "Common Cold"),
    )
    assert letter == Omission("102")


def test_ris_reads_articles_and_chapters(tmp_path: Path) -> None:
    path = write(tmp_path, "\ufeff" + RIS.replace("\n", "\r\n"))
    assert detect_format(path) == "ris"
    zinc, naps = documents(path)
    assert zinc == ZINC
    assert (naps.types, naps.journal, naps.year) == (("Book Chapter",), "A Book of Sleep", None)
    assert naps.pmid.startswith("ref-")


def test_a_paper_without_ids_has_the_same_id_in_every_format(tmp_path: Path) -> None:
    ris = "TY  - JOUR\nTI  - Zinc & colds.\nPY  - 2019\nAB  - Zinc.\nER  - \n"
    bib = r"@article{x, title={{Zinc} \& Colds}, year=2019, abstract={Zinc.}}"
    csv = "title;abstract;year\nZinc & colds;Zinc.;2019\n"
    assert len({read_one(tmp_path, text).pmid for text in (ris, bib, csv)}) == 1


def test_bibtex_reads_latex(tmp_path: Path) -> None:
    path = write(tmp_path, BIBTEX)
    assert detect_format(path) == "bibtex"
    zinc, naps = documents(path)
    assert zinc == replace(
        ZINC,
        title="Zinc and the Common Cold: α-Blockers",
        abstract="Of all colds, 5% were short & 6% long, at $5 each; CD4+ cells did not change.",
        authors=(
            Author("O'Neil", "Mary A."), Author("van den Berg", "Jan"),
            Author("Zinc Study Group"), Author("Müller", "Karl", "Jr."),
        ),
        doi="10.1000/zinc_1",
        pmcid="PMC12345",
    )  # fmt: skip
    assert (naps.types, naps.journal, naps.year) == (("Book Chapter",), "A Book of Sleep", 1993)


def test_csl_reads_zotero(tmp_path: Path) -> None:
    path = write(tmp_path, json.dumps(CSL, indent=1))
    assert detect_format(path) == "csl"
    zinc, preprint = documents(path)
    assert zinc == Document(
        pmid="101",
        title="Zinc and the common cold",
        abstract="Zinc was tried; p < 0.05 and q <2.",
        sections=(Section("Background", 0, 34),),
        year=2019,
        journal="The Lancet",
        types=("Journal Article",),
        authors=(Author("O'Neil", "Mary A."), Author("van den Berg", "Jan"), Author("Zinc Study Group")),
        doi="10.1000/zinc.1",
        pmcid="PMC12345",
    )
    assert (preprint.types, preprint.year) == (("Preprint",), 2020)


TAGGED: list[tuple[str, list[str]]] = [
    # RIS in every dialect.
    *((f"TY{gap}JOUR\nAB{gap}One\nIX - two\nthree.\nER{gap}\n\nTY  - JOUR\nAB  - B.\nER  - \n", ["One IX - two three.", "B."])
      for gap in (" - ", " -  ", "  - ", "  -  ", "\t- ", "\t-  ")),
    # A type that comes late loses nothing.
    *(("".join(f"DB{gap}WoS\nAB{gap}{name} helped.\nTY{gap}JOUR\nER{gap}\n\n" for name in "AB"), ["A helped.", "B helped."])
      for gap in ("  - ", " - ")),
    # Headings and numbers between records are no text.
    ("Provider: Example\n\n1.\nTY  - JOUR\nAB  - A.\nER  - \n\n2.\nTY  - JOUR\nAB  - B.\nER  - \nER  - \n\n\x1a",
     ["A.", "B."]),
    ("TY  - JOUR\nAB  - AIM: One.\nAB  - RESULT: Two\ngoes on.\nAB  -\nAB  - END: Three.\nER  - \n",
     ["One. Two goes on. END: Three."]),
    # A wrapped line that begins like a tag belongs to the text.
    *((f"TY  - JOUR\nAB  - Rarer in\n{line}\nthan in others.\nER  - \n\nTY  - JOUR\nAB  - B.\nER  - \n",
       [f"Rarer in {line.strip()} than in others.", "B."])
      for line in ("ER - positive tumours", "ER-positive tumours", "TY - 12 cells", "AB - 1 antibodies", "IL - 6 levels",
                   "CO2 - rich air", "      ER - indented", "ER/PR - both")),
    # PubMed's export, with empty lines in a record, without one between two, and with lines that are not indented.
    *((f"PMID- 1\nAB  - One\n{gap}      two.\n{gap}DP  - 2019\n{gap}PMID- 2\nTI  - B\nAB  - B.\n", ["One two.", "B."])
      for gap in ("", "\n", "\n\n", "  \n", "\t\n")),
    ("PMID- 1\nAB  - One\ntwo.\n AB\nMH  - Zinc\n", ["One two. AB"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "abstracts"), TAGGED)
def test_tagged_lines_as_programs_really_write_them(tmp_path: Path, text: str, abstracts: list[str]) -> None:
    assert [document.abstract for document in read_text(tmp_path, text)] == abstracts


@pytest.mark.parametrize(
    ("text", "says", "left"),
    [
        (
            "TY  - JOUR\nAB  - A.\nTY  - JOUR\nAB  - B.\nER  - \n",
            r"record 1 \(line 1\): expected `ER  - ` .*, got another type \(TY  - JOUR\)",
            1,
        ),
        (
            "TY  - JOUR\nAB  - A\nER  -\nthan in others.\nDO  - 10.5555/x\nER  - \nTY  - JOUR\nAB  - B.\nER  - \n",
            r"record 2 \(line 4\): expected `TY  - ` before `ER  - `, got a record without a type",
            2,
        ),
        (
            f"{NBIB}\nTI  - Lost\nAB  - Lost.\n",
            r'record 3 \(line 32\): expected a PMID in "PMID- ", got .* without one; .*--skip-bad',
            2,
        ),
    ],
)
def test_a_tagged_record_that_is_bad_is_named_and_can_be_left_out(tmp_path: Path, text: str, says: str, left: int) -> None:
    path = write(tmp_path, text)
    with pytest.raises(BadInput, match=says):
        list(read(path))
    found, skip = read_leniently(path)
    assert (len(found), len(skip.faults)) == (left, 1)


CUT_OFF = "reached the end of the file; it is cut off, so export it again"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("TY  - JOUR\nTI  - A\nAB  - Half a tex", CUT_OFF),
        ("TY  - JOUR\nAB  - A.\nER  - \nTY  - JOUR\n", CUT_OFF),
        ("  TY  - JOUR\n  AB  - Zinc.\n  ER  - \n", "no RIS record: expected lines that begin with `TY  - ` and no indent"),
    ],
)
def test_ris_that_breaks_off_or_is_indented_is_never_skipped(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        read_leniently(write(tmp_path, text))


# --- BibTeX


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"p {\textless} 0.05", "p < 0.05"),
        (r"p $<$ 0.05 and $p \leq 0.01$", "p < 0.05 and p ≤0.01"),
        (
            r"{\textasciitilde}5 {\textasciicircum}2 A{\textbackslash}B {\textbraceleft}c{\textbraceright} {\textbar}",
            r"~5 ^2 A\B {c} |",
        ),
        (r"\unknown{} five", r"\unknown five"),
        (r"\ce{H2O} and \textsubscript{2}", "H2O and 2"),
        (r"costs $5 and $6, 50% of $7", "costs $5 and $6, 50% of $7"),
        (r"$\alpha$-blockers, 10$^{9}$/L", "α-blockers, 10^9/L"),
        (r"10\textsuperscript{9}/L, CD4\textsuperscript{+}, m\textsuperscript{2}", "10^9/L, CD4+, m2"),
        (r"Zo{\"e} M\"uller {\ss} {\O}", "Zoë Müller ß Ø"),
    ],
)
def test_bibtex_latex_keeps_signs(latex: str, text: str) -> None:
    assert decode_latex(latex) == (text, True)


@pytest.mark.parametrize(
    "latex", [r"\href{http://example.org}{here}", r"\hspace{1cm}x", "\\textbf{" * 900 + "x" + "}" * 900, r"\sqrt", r"\verb"]
)
def test_bibtex_latex_that_would_lose_text_is_kept_as_it_is(tmp_path: Path, latex: str) -> None:
    entry = f"@article{{a, title={{A}}, abstract={{It did not help {latex}}}}}\n"
    [document], skip = read_leniently(write(tmp_path, entry))
    assert isinstance(document, Document) and document.abstract == f"It did not help {latex}"
    [note] = skip.notes
    assert str(note).endswith("the entry in line 1: LaTeX in abstract could not be read as text; it was kept as it is")


def test_bibtex_a_field_that_an_entry_has_twice(tmp_path: Path) -> None:
    text = (
        "@string{lan = {The Lancet}}\n"
        "@article{a, title={A}, keywords={x}, Abstract={First.}, journal=lan, keywords={y},"
        " abstract={Second.}, note={}, note={}}\n"
        "@article{a, title={B}, abstract={B.}, journal=lan}\n"
    )
    assert [(found.abstract, found.journal) for found in read_text(tmp_path, text)] == [
        ("First.", "The Lancet"),
        ("B.", "The Lancet"),
    ]
    _, skip = read_leniently(tmp_path / "library")
    assert [str(note).partition("library, ")[2] for note in skip.notes] == [
        "the entry in line 2: it has abstract, keywords twice; the first was read"
    ]


@pytest.mark.parametrize(
    "bad",
    [
        "@article{b, title={B}, abstract={B {text.}}", '@article{b, title={B}, abstract="B "text more"}', "@article{b title={B}}",
        "@ article{b, title={B}}", "@article\n{b, title={B}}",
    ],
)  # fmt: skip
def test_bibtex_an_entry_that_cannot_be_read_is_named_and_the_others_are_read(tmp_path: Path, bad: str) -> None:
    path = write(tmp_path, f"@article{{a, title={{A}}, abstract={{A.}}}}\n{bad}\n\n@article{{c, title={{C}}, abstract={{C.}}}}\n")
    with pytest.raises(BadInput, match="the entry in line 2: expected "):
        list(read(path))
    found, skip = read_leniently(path)
    assert [record.title for record in found if isinstance(record, Document)] == ["A", "C"]
    assert [fault.record for fault in skip.faults] == ["the entry in line 2"]


def test_bibtex_names_are_split_one_by_one(tmp_path: Path) -> None:
    [document] = read_text(tmp_path, "@article{a, title={A}, abstract={A.}, Author={Doe, Jo and a, b, c, d and {The Group}}}\n")
    assert document.authors == (Author("Doe", "Jo"), Author("a, b, c, d"), Author("The Group"))


# --- whatever the text


WORDS = st.text(
    alphabet=st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs"], exclude_characters="<>&"),
    min_size=1,
    max_size=12,
)
LINES = st.lists(
    WORDS | st.sampled_from(["ER", "ER -", "ER - x", "TY", "AB - x", "PMID", "IL-6", "@x", "10.5555/x"]), min_size=1, max_size=8
)
# An abstract without a word would be none.
PAPERS = st.lists(st.tuples(LINES, LINES.map(lambda lines: ["Zinc", *lines])), min_size=1, max_size=4)


def count_out(text: str) -> tuple[int, list[str]]:
    """How many records come out or are counted, and the abstracts of those that come out."""
    skip = SkipBad(100)
    with TemporaryDirectory() as folder:
        found = list(read(write(Path(folder), text), on_bad=skip))
    return len(found) + len(skip.faults), [record.abstract for record in found if isinstance(record, Document)]


def squeeze(lines: Sequence[str]) -> str:
    """What cannot change: the words, whatever blanks stand between them."""
    return "".join("".join(lines).split())


FORMS = {"ris": "TY  - JOUR\nTI  - {}\nAB  - {}\nER  - \n\n", "nbib": "PMID- {n}\nTI  - {}\nAB  - {}\n\n"}


@pytest.mark.parametrize("format", FORMS)
@QUICK
@given(PAPERS)
def test_as_many_records_and_as_much_text_come_out_as_went_in(format: str, papers: list[tuple[list[str], list[str]]]) -> None:
    count, abstracts = count_out(
        "".join(FORMS[format].format(title[0], "\n      ".join(lines), n=n) for n, (title, lines) in enumerate(papers, 1))
    )
    assert count == len(papers)
    assert list(map(squeeze, abstracts)) == [squeeze(abstract) for _, abstract in papers]


# --- in an index


def test_an_export_becomes_an_index_that_keeps_what_it_says(tmp_path: Path) -> None:
    report = build([write(tmp_path, NBIB)], tmp_path / "index")
    [source] = report.read.sources
    assert (source.format, source.records, source.without_abstract, source.repeated) == ("nbib", 2, 1, 0)
    index = Index(tmp_path / "index")
    [stored] = [entry.document for entry in index.store.entries(["101"])]
    assert stored == read_one(tmp_path, NBIB)
    by_doi = index.store.get_by_doi("10.1000/zinc.1")
    assert by_doi and by_doi.pmid == "101"
    assert index.store.get_by_doi("") is None and index.store.get_by_doi("10.1000/other") is None


def test_columns_are_part_of_what_a_build_goes_on_with(tmp_path: Path) -> None:
    path = write(tmp_path, "title,abstract,other\nA,B text.,C text.\n")
    build([path], tmp_path / "one")
    build([path], tmp_path / "two", columns={"abstract": "other"})
    one, two = Index(tmp_path / "one").store, Index(tmp_path / "two").store
    assert [batch[0][2] for batch in (next(one.texts(1)), next(two.texts(1)))] == ["B text.", "C text."]
    with pytest.raises(BadInput, match="--column summary=… names no part of a document; expected one of title, abstract"):
        build([path], tmp_path / "three", columns={"summary": "other"})
    with pytest.raises(BadInput, match="none of the sources is one"):
        build([write(tmp_path, NBIB, "a")], tmp_path / "three", columns={"abstract": "other"})


JATS_ABSTRACT = (
    "<jats:title>Abstract</jats:title><jats:sec><jats:title>Aim</jats:title><jats:p>To test pears.</jats:p></jats:sec>"
    "<jats:sec><jats:title>Results:</jats:title><jats:p>None of 10<jats:sup>3</jats:sup> eased it (p&lt;0.05).</jats:p>"
    "<jats:p>Figs did.</jats:p></jats:sec>"
)
PARTS = {"Aim": "To test pears.", "Results": "None of 10^3 eased it (p<0.05). Figs did."}


@pytest.mark.parametrize(
    ("abstract", "parts"),
    [
        (JATS_ABSTRACT, PARTS),
        (html.escape(JATS_ABSTRACT), PARTS),
        (html.escape(html.escape(JATS_ABSTRACT)), PARTS),
        ("<h4>Aim</h4>To test pears<h4>Results: </h4> None eased it", {"Aim": "To test pears", "Results": "None eased it"}),
        ("<p><b>Aim:</b> To test.</p><p><b>Results</b>: <b>Pears</b> did.</p>", {"Aim": "To test.", "Results": "Pears did."}),
        ("<strong>Design</strong> A trial. <strong>Findings</strong> None.", {"Design": "A trial.", "Findings": "None."}),
        ("AIM: To test. METHODS AND RESULTS: None. TRIAL REGISTRATION: NCT1.",
         {"AIM": "To test.", "METHODS AND RESULTS": "None.", "TRIAL REGISTRATION": "NCT1."}),
        ("Aim: To test. Findings: two groups: A, B.", {"Aim": "To test.", "Findings": "two groups: A, B."}),
        ("<p>Aims<br/>To test.</p><p>Results<br/>None.</p>", {"Aims": "To test.", "Results": "None."}),
        ("<title>Abstract</title><p>Pears did.</p>", {"": "Pears did."}),
        ("Pears did. The ratio: 3. Note: no more.", {"": "Pears did. The ratio: 3. Note: no more."}),
        ("<b>Pears</b> eased <strong>all</strong>.", {"": "Pears eased all."}),
    ],
)  # fmt: skip
@pytest.mark.parametrize("format", ["csl", "europepmc", "csv"])
def test_headings_in_an_abstract_become_sections(tmp_path: Path, abstract: str, parts: dict[str, str], format: str) -> None:
    records = {
        "csl": lambda: json.dumps([{"type": "article-journal", "title": "T", "abstract": abstract, "PMID": "1"}]),
        "europepmc": lambda: json.dumps({"id": "1", "source": "MED", "pmid": "1", "title": "T", "abstractText": abstract}),
        "csv": lambda: 'pmid,title,abstract\n1,T,"' + abstract.replace('"', '""') + '"\n',
    }
    document = read_one(tmp_path, records[format]())
    assert document.abstract == " ".join(parts.values())
    found = {section.label: document.abstract[section.start : section.end] for section in document.sections}
    assert found == ({} if list(parts) == [""] else parts)


ESCAPED = [
    ("p &lt; 0.05", "p < 0.05"), ("p &amp;lt; 0.05", "p < 0.05"), ("p &amp;amp;lt; 0.05", "p < 0.05"),
    ("10 mg/m&lt;sup&gt;2&lt;/sup&gt;", "10 mg/m2"), ("10&lt;sup&gt;9&lt;/sup&gt;/L", "10^9/L"),
    ("10&amp;lt;sup&amp;gt;9&amp;lt;/sup&amp;gt;", "10^9"), ("&lt;i&gt;H. pylori&lt;/i&gt;", "H. pylori"),
    ("5&amp;#xa0;&amp;micro;g", "5\xa0µg"), ("R&D &notable; AT&amp;T &copy 2", "R&D &notable; AT&T &copy 2"),
    ("a < b and c > d", "a < b and c > d"), ("n <p and q> r", "n <p and q> r"), ("x &lt;y> z", "x <y> z"),
]  # fmt: skip


@pytest.mark.parametrize(("written", "meant"), ESCAPED)
def test_escaped_markup_is_read_in_every_format(tmp_path: Path, written: str, meant: str) -> None:
    text = f"Of {written} we saw."
    shown = f"Of {meant} we saw."
    xml = html.escape(text, quote=False)
    citation = f"<ArticleTitle>{xml}</ArticleTitle><Abstract><AbstractText>{xml}</AbstractText></Abstract>"
    contents = {
        "counterpoint": json.dumps({"pmid": "1", "title": text, "abstract": text}),
        "pyserini": json.dumps({"id": "1", "contents": f"{text}\n{text}"}),
        "scifact": json.dumps({"doc_id": "1", "title": text, "abstract": [text]}),
        "csl": json.dumps([{"type": "article-journal", "title": text, "abstract": text, "PMID": "1"}]),
        "europepmc": json.dumps({"id": "1", "source": "MED", "title": text, "abstractText": text}),
        "csv": f'pmid,title,abstract\n1,"{text}","{text}"\n',
        "ris": f"TY  - JOUR\nTI  - {text}\nAB  - {text}\nER  - \n",
        "nbib": f"PMID- 1\nTI  - {text}\nAB  - {text}\n",
        "pubmed": f"<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>1</PMID><Article>{citation}</Article>"
        "</MedlineCitation></PubmedArticle></PubmedArticleSet>",
    }
    for format, content in contents.items():
        document = read_one(tmp_path, content, format=format)
        shows = {" ".join(document.title.split()), " ".join(document.abstract.split())}
        assert shows == {" ".join(shown.split())}, format
