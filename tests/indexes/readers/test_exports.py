"""What reference managers, PubMed and spreadsheets export: what is read from it, and what each fault says."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from indexes.build import build
from indexes.readers import FORMATS, Omission, SkipBad, detect_format, read
from indexes.update import update
from retrieval.core.errors import BadInput
from retrieval.core.values import Author, Document, Notice
from retrieval.index import Index

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
CSV = """PMID,Title,Authors,Journal/Book,Publication Year,PMCID,DOI,Abstract
101,"Zinc, and the ""common"" cold","O'Neil MA, van den Berg J.",Lancet,2019,PMC12345,10.1000/ZINC.1,"Zinc was tried.
It did not shorten colds."
102,A letter,Smith J,Lancet,2020,,,
"""


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


def write(folder: Path, text: str, name: str = "library") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def documents(path: Path, **options: object) -> list[Document]:
    return [record for record in read(path, **options) if isinstance(record, Document)]  # type: ignore[arg-type]


def only(path: Path) -> Document:
    [document] = documents(path)
    return document


def test_nbib_reads_what_pubmed_writes(tmp_path: Path) -> None:
    path = write(tmp_path, NBIB)
    assert detect_format(path) == "nbib"
    trial, letter = read(path)
    assert trial == replace(
        ZINC,
        title="Zinc and the common cold: a trial.",
        abstract="BACKGROUND: Zinc was tried. RESULTS: It did not shorten colds (p <0.05).",
        journal="Lancet (London, England)",
        types=("Journal Article", "Randomized Controlled Trial"),
        notices=(Notice("CommentIn", "555"), Notice("RetractionIn", "666")),
        retracted=True,
        authors=(Author("O'Neil", "Mary A"), Author("van den Berg", "Jan"), Author("Zinc Study Group")),
        pmcid="PMC12345",
        mesh=("Humans", "Zinc", "Common Cold"),
    )
    assert letter == Omission("102")


def test_nbib_a_record_without_a_pmid_is_bad(tmp_path: Path) -> None:
    path = write(tmp_path, f"{NBIB}\nTI  - Lost\nAB  - Lost.\n")
    with pytest.raises(BadInput, match=r'record 3 \(line 32\): expected a PMID in "PMID- ", got .* without one; .*--skip-bad'):
        list(read(path))
    assert len(list(read(path, on_bad=SkipBad(1)))) == 2


def test_ris_reads_articles_and_chapters(tmp_path: Path) -> None:
    path = write(tmp_path, "\ufeff" + RIS.replace("\n", "\r\n"))
    assert detect_format(path) == "ris"
    zinc, naps = documents(path)
    assert zinc == ZINC
    assert (naps.types, naps.journal, naps.year) == (("Book Chapter",), "A Book of Sleep", None)
    assert naps.pmid.startswith("ref-")


def test_a_paper_without_ids_has_the_same_id_in_every_format(tmp_path: Path) -> None:
    ris = write(tmp_path, "TY  - JOUR\nTI  - Zinc & colds.\nPY  - 2019\nAB  - Zinc.\nER  - \n", "a")
    bib = write(tmp_path, r"@article{x, title={{Zinc} \& Colds}, year=2019, abstract={Zinc.}}", "b")
    csv = write(tmp_path, "title;abstract;year\nZinc & colds;Zinc.;2019\n", "c")
    assert len({only(path).pmid for path in (ris, bib, csv)}) == 1


def test_ris_knows_a_pmid_by_its_database_and_a_retraction_by_its_title(tmp_path: Path) -> None:
    text = "TY  - JOUR\nTI  - {}\nAN  - {}\nDB  - {}\nAB  - Text.\nER  - \n"
    medline = only(write(tmp_path, text.format("RETRACTED: Zinc", "0012", "Ovid MEDLINE(R)")))
    embase = only(write(tmp_path, text.format("Retracted papers: a review", "2012", "Embase")))
    assert (medline.pmid, medline.retracted) == ("12", True)
    assert (embase.pmid[:4], embase.retracted) == ("ref-", False)


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
        abstract="Background Zinc was tried; p < 0.05 and q <2.",
        year=2019,
        journal="The Lancet",
        types=("Journal Article",),
        authors=(Author("O'Neil", "Mary A."), Author("van den Berg", "Jan"), Author("Zinc Study Group")),
        doi="10.1000/zinc.1",
        pmcid="PMC12345",
    )
    assert (preprint.types, preprint.year) == (("Preprint",), 2020)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (json.dumps(CSL)[:-30], "line 1, column .*expected valid JSON to the end"),
        (json.dumps([*CSL, 7]), "item 3: expected an object, got the number 7"),
        (json.dumps([{"type": "article", "abstract": {}}]), 'item 1: expected text in "abstract", got an object'),
        (json.dumps([{"type": "article", "author": 7}]), 'item 1: expected a list of names in "author", got the number 7'),
        (json.dumps([{"type": "article", "author": [["Smith"]]}]), "item 1: expected names as objects or texts .*, got a list"),
    ],
)
def test_csl_faults(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        list(read(write(tmp_path, text)))


def test_csv_reads_the_usual_names(tmp_path: Path) -> None:
    path = write(tmp_path, CSV)
    assert detect_format(path) == "csv"
    zinc, letter = read(path)
    assert zinc == Document(
        pmid="101",
        title='Zinc, and the "common" cold',
        abstract="Zinc was tried. It did not shorten colds.",
        year=2019,
        journal="Lancet",
        authors=(Author("O'Neil", "MA"), Author("van den Berg", "J")),
        doi="10.1000/zinc.1",
        pmcid="PMC12345",
    )
    assert letter == Omission("102")


def test_csv_columns_can_be_named(tmp_path: Path) -> None:
    path = write(tmp_path, "Titel;Kurzfassung;Jahr;Title\nZink;Half nicht.;2019;Zinc\n")
    named = {"abstract": "Kurzfassung", "year": "Jahr"}
    [document] = documents(path, columns=named)
    assert (document.title, document.abstract, document.year) == ("Zinc", "Half nicht.", 2019)
    [other] = documents(path, columns=named | {"title": "Titel"})
    assert other.title == "Zink"


@pytest.mark.parametrize(
    ("text", "columns", "says"),
    [
        ("title,summary\nx,y\n", {}, r"no column for abstracts.*columns are title, summary; name it with --column abstract=NAME"),
        (
            "title,summary\nx,y\n",
            {"abstract": "Summary"},
            r"no column “Summary”, named by --column abstract=Summary; its columns are",
        ),
        ("title,abstract\nx,y,z\n", {}, "row 2: expected 2 cells, got 3; a cell that holds the separator needs quotation marks"),
        ('title,abstract\nx,"y\n', {}, "after line 1: expected CSV, found an error"),
    ],
)
def test_csv_faults(tmp_path: Path, text: str, columns: dict[str, str], says: str) -> None:
    path = write(tmp_path, text, "table.csv")
    with pytest.raises(BadInput, match=says):
        list(read(path, columns=columns))


@pytest.mark.parametrize("cut", ["TY  - JOUR\nTI  - A\nAB  - Half a tex", "TY  - JOUR\nAB  - A.\nER  - \nTY  - JOUR\n"])
def test_ris_that_breaks_off_is_never_skipped(tmp_path: Path, cut: str) -> None:
    with pytest.raises(BadInput, match="reached the end of the file; it is cut off, so export it again"):
        list(read(write(tmp_path, cut), on_bad=SkipBad(9)))


def test_ris_a_record_without_its_end_is_bad(tmp_path: Path) -> None:
    path = write(tmp_path, "TY  - JOUR\nAB  - A.\nTY  - JOUR\nTI  - B\nAB  - B.\nER  - \n")
    with pytest.raises(BadInput, match=r"record 1 \(line 1\): expected `ER  - ` .*, got another type \(TY  - JOUR\)"):
        list(read(path))
    assert [document.title for document in documents(path, on_bad=SkipBad(1))] == ["B"]


@pytest.mark.parametrize("name", [name for name, form in FORMATS.items() if form.begins])
def test_a_format_that_the_file_has_not_is_refused(tmp_path: Path, name: str) -> None:
    path = write(tmp_path, '{"pmid": "1", "title": "T", "abstract": "A."}\n')
    with pytest.raises(BadInput, match=r"does not begin as .* does; use the format auto"):
        read(path, name)


# --- in an index


def test_an_export_becomes_an_index_that_keeps_what_it_says(tmp_path: Path) -> None:
    report = build([write(tmp_path, NBIB)], tmp_path / "index")
    [source] = report.sources
    assert (source.format, source.records, source.without_abstract, source.repeated) == ("nbib", 2, 1, 0)
    index = Index(tmp_path / "index")
    [stored] = [entry.document for entry in index.store.entries(["101"])]
    assert stored == only(write(tmp_path, NBIB))
    by_doi = index.store.get_by_doi("10.1000/zinc.1")
    assert by_doi and by_doi.pmid == "101"
    assert index.store.get_by_doi("") is None and index.store.get_by_doi("10.1000/other") is None


def test_a_paper_that_exports_repeat_is_in_the_index_once(tmp_path: Path) -> None:
    """The same paper by its PMID, and by its DOI alone, in one file and in the next."""
    without_pmid = RIS.replace("N1  - PMID: 101\n", "")
    first = write(tmp_path, NBIB, "a.nbib")
    second = write(tmp_path, RIS + without_pmid, "b.ris")
    report = build([first, second], tmp_path / "index")
    assert [source.repeated for source in report.sources] == [0, 3]
    assert report.manifest.counts.documents == 2
    changed = update(tmp_path / "index", [write(tmp_path, without_pmid.replace("did not shorten", "may shorten"), "c.ris")])
    assert changed.manifest.counts.documents == 2
    stored = Index(tmp_path / "index").store.get("101")
    assert stored and "may shorten" in stored.document.abstract


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
