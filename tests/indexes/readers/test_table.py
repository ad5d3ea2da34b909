"""Tables as databases and spreadsheets write them: lines above the header, quotation marks as text, ids in many forms."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterpoint.indexes.readers import Omission, SkipBad, detect_format, read
from counterpoint.indexes.readers.base.fields import is_placeholder
from counterpoint.retrieval.core.errors import BadInput
from counterpoint.retrieval.core.values import Author, Document
from tests.indexes.readers.files import LONG, documents, read_text, write

CSV = """PMID,Title,Authors,Journal/Book,Publication Year,PMCID,DOI,Abstract
101,"Zinc, and the ""common"" cold","O'Neil MA, van den Berg J.",Lancet,2019,PMC12345,10.1000/ZINC.1,"Zinc was tried.
It did not shorten colds."
102,A letter,Smith J,Lancet,2020,,,
"""


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
    ("cell", "abstract"),
    [
        ('"Garlic" lowered it.', '"Garlic" lowered it.'),
        ('"Garlic lowered it.', '"Garlic lowered it.'),
        ('It lowered "pressure"', 'It lowered "pressure"'),
        ('"It lowered ""pressure""."', 'It lowered "pressure".'),
        ('"It lowered pressure."', "It lowered pressure."),
        ('5" catheters were used.', '5" catheters were used.'),
    ],
)
def test_quotation_marks_in_a_table_with_tabs(tmp_path: Path, cell: str, abstract: str) -> None:
    text = f"TI\tAB\tPM\nFirst\t{cell}\t7\nSecond\tIt did not.\t8\t\n"
    assert [(one.pmid, one.abstract) for one in read_text(tmp_path, text)] == [("7", abstract), ("8", "It did not.")]


def test_a_very_long_cell_is_read(tmp_path: Path) -> None:
    long = "word " * 60_000
    for text in (f"Title,Abstract,Text\nA,It did not.,{long}\n", f'Title,Abstract,Text\nA,"It did, not.","{long}"\n'):
        assert len(read_text(tmp_path, text)) == 1
    [document] = read_text(tmp_path, f'Title,Abstract\nA,"{long},"\n')
    assert len(document.abstract) == len(long) + 1


@pytest.mark.parametrize(
    "above",
    [
        "sep=;\n",
        '"sep=;"\n',
        "SEP=;\n\n",
        "Exported from a database on 2020-01-05\n\n",
        "Search: garlic, pressure, title, abstract\nResults: 2\n",
        ";;;\n",
        "\n\n",
    ],
)
def test_lines_above_the_header_are_passed_over(tmp_path: Path, above: str) -> None:
    text = f"{above}Title;Abstract;PMID\nA, or B;It did not.;7\nC;It did.;8\n"
    assert [(one.pmid, one.title) for one in read_text(tmp_path, text)] == [("7", "A, or B"), ("8", "C")]


@pytest.mark.parametrize(
    ("text", "columns", "says"),
    [
        ("title,summary\nx,y\n", {}, r"no column for abstracts.*columns are title, summary; name it with --column abstract=NAME"),
        (
            "title,summary\nx,y\n",
            {"abstract": "Summary"},
            "no column “Summary”, named by --column abstract=Summary; its columns are",
        ),
        ("title,abstract\nx,y,z\n", {}, "row 2: expected 2 cells, got 3; a cell that holds the separator needs quotation marks"),
        ('title,abstract\nx,"y\n', {}, "after line 1: expected CSV, found an error"),
        # Lines above the header count.
        ("sep=,\nTitle,Abstract\nA,It did not.\nB,It did,not\n", {}, "row 4: expected 2 cells, got 3"),
        ('sep=,\nTitle,Abstract\nA,It did not.\nB,"It did, not\n', {}, "after line 3: expected CSV, found an error"),
    ],
)
def test_what_is_wrong_names_the_row_of_the_file(tmp_path: Path, text: str, columns: dict[str, str], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        read_text(tmp_path, text, columns=columns)


def test_pmids_in_many_forms_and_a_note_on_one_that_is_lost(tmp_path: Path) -> None:
    cells = ["90000010.0", '"90,000,011"', "https://pubmed.ncbi.nlm.nih.gov/90000012/", "PMID: 90000013", "'90000014"]
    rows = "".join(f"T{number},It did not.,{cell}\n" for number, cell in enumerate([*cells, "NA", "0", "", "9.00E+07"]))
    skip = SkipBad(0)
    found = read_text(tmp_path, f"Title,Abstract,PMID\n{rows}", on_bad=skip)
    assert [one.pmid for one in found[:5]] == [str(90000010 + number) for number in range(5)]
    assert all(one.pmid.startswith("ref-") for one in found[5:]) and len(found) == 9
    [note] = skip.notes
    assert note.record == "row 10" and "“9.00E+07”" in note.expected


CELLS = st.text(
    alphabet=st.one_of(st.sampled_from(list(" ,;|\t\n\"'=@a1")), st.characters(codec="utf-8", exclude_characters="\r\x00")),
    max_size=12,
)
DELIMITERS = st.sampled_from(list(",;\t|"))
QUOTING: Any = st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])


@LONG
@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=6), DELIMITERS, QUOTING)
def test_every_row_is_read_with_its_text(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]], delimiter: str, quoting: Any
) -> None:
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter, quoting=quoting, lineterminator="\n")
    writer.writerows([("title", "abstract", "year"), *((title, abstract, "2019") for title, abstract in rows)])
    skip = SkipBad(0)
    found = list(read(write(tmp_path_factory.getbasetemp(), stream.getvalue()), on_bad=skip))
    assert len(found) == len(rows)
    for record, (_, abstract) in zip(found, rows, strict=True):
        letters = [one for one in abstract if one.isalnum()]
        if isinstance(record, Document):
            assert [one for one in record.abstract if one.isalnum()] == letters
        else:
            assert isinstance(record, Omission) and is_placeholder(" ".join(abstract.split()))
