"""Tables as databases and spreadsheets write them: lines above the header, quotation marks as text, ids in many forms."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from indexes.readers import Note, Omission, SkipBad, detect_format, read
from indexes.readers.base.fields import is_placeholder
from retrieval.core.errors import BadInput
from retrieval.core.values import Document


def write(folder: Path, text: str) -> Path:
    path = folder / "table.csv"
    path.write_text(text, "utf-8")
    return path


def read_all(folder: Path, text: str, **options: Any) -> list[Document]:
    path = write(folder, text)
    assert detect_format(path) == "csv"
    return [record for record in read(path, **options) if isinstance(record, Document)]


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
    assert [(one.pmid, one.abstract) for one in read_all(tmp_path, text)] == [("7", abstract), ("8", "It did not.")]


def test_a_cell_with_quotation_marks_may_hold_tabs_and_line_breaks(tmp_path: Path) -> None:
    text = 'TI\tAB\nFirst\t"Garlic\tlowered\nit."\nSecond\t"It did ""not""."\n'
    assert [one.abstract for one in read_all(tmp_path, text)] == ["Garlic lowered it.", 'It did "not".']


@pytest.mark.parametrize("separator", [",", ";", "|"])
def test_a_cell_that_begins_with_a_quotation_mark(tmp_path: Path, separator: str) -> None:
    text = f'title{separator}abstract\nFirst{separator}"Garlic" lowered it.\nSecond{separator}"It did not."\n'
    assert [one.abstract for one in read_all(tmp_path, text)] == ['"Garlic" lowered it.', "It did not."]


def test_a_very_long_cell_is_read(tmp_path: Path) -> None:
    long = "word " * 60_000
    for text in (f"Title,Abstract,Text\nA,It did not.,{long}\n", f'Title,Abstract,Text\nA,"It did, not.","{long}"\n'):
        assert len(read_all(tmp_path, text)) == 1
    [document] = read_all(tmp_path, f'Title,Abstract\nA,"{long},"\n')
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
    assert [(one.pmid, one.title) for one in read_all(tmp_path, text)] == [("7", "A, or B"), ("8", "C")]


def test_a_fault_below_such_lines_names_the_row_of_the_file(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="row 4: expected 2 cells, got 3"):
        read_all(tmp_path, "sep=,\nTitle,Abstract\nA,It did not.\nB,It did,not\n")
    with pytest.raises(BadInput, match="after line 3: expected CSV, found an error"):
        read_all(tmp_path, 'sep=,\nTitle,Abstract\nA,It did not.\nB,"It did, not\n')


def test_a_separator_may_be_named_that_the_header_would_not_tell(tmp_path: Path) -> None:
    text = "sep=|\nTitle|Abstract|Notes, other, more, and more\nA, B|It, indeed, did not.|\n"
    assert [(one.title, one.abstract) for one in read_all(tmp_path, text)] == [("A, B", "It, indeed, did not.")]


def test_pmids_in_many_forms_and_a_note_on_one_that_is_lost(tmp_path: Path) -> None:
    cells = ["90000010.0", '"90,000,011"', "https://pubmed.ncbi.nlm.nih.gov/90000012/", "PMID: 90000013", "'90000014"]
    rows = "".join(f"T{number},It did not.,{cell}\n" for number, cell in enumerate([*cells, "NA", "0", "", "9.00E+07"]))
    skip = SkipBad(0)
    found = read_all(tmp_path, f"Title,Abstract,PMID\n{rows}", on_bad=skip)
    assert [one.pmid for one in found[:5]] == [str(90000010 + number) for number in range(5)]
    assert all(one.pmid.startswith("ref-") for one in found[5:]) and len(found) == 9
    [note] = skip.notes
    assert note.record == "row 10" and "“9.00E+07”" in note.expected


@pytest.mark.parametrize(("cell", "retracted"), [("TRUE", True), ("yes", True), ("Retracted", True), ("no", False), ("", False)])
def test_a_column_of_its_own_marks_retractions(tmp_path: Path, cell: str, retracted: bool) -> None:
    [document] = read_all(tmp_path, f"Title,Abstract,Is_Retracted\nA,It did not.,{cell}\n")
    assert document.retracted is retracted


CELLS = st.text(
    alphabet=st.one_of(st.sampled_from(list(" ,;|\t\n\"'=@a1")), st.characters(codec="utf-8", exclude_characters="\r\x00")),
    max_size=12,
)
DELIMITERS = st.sampled_from(list(",;\t|"))
QUOTING: Any = st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])


@settings(max_examples=300, deadline=None)
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


LINES = st.lists(st.text(alphabet=' ,;\t"a1.', max_size=14), max_size=8)


@settings(max_examples=300, deadline=None)
@given(LINES, DELIMITERS)
def test_every_line_of_a_table_is_read_or_told(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], delimiter: str
) -> None:
    """Without line breaks in cells, whatever the marks in them: a row for each line, or a fault."""
    assume(not any('"' in line for line in lines) or delimiter == "\t")
    rows = [f"T{delimiter}{line.replace(delimiter, ' ')}{delimiter}2019" for line in lines]
    path = write(tmp_path_factory.getbasetemp(), "\n".join([delimiter.join(["title", "abstract", "year"]), *rows, ""]))
    assert len(list(read(path))) == len(lines)


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet='title,abstract;\t"\n\r\x0b\u2028=sep', max_size=60))
def test_any_text_below_a_header_is_read_or_refused_in_one_sentence(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = write(tmp_path_factory.getbasetemp(), f"title,abstract,doi\n{text}")
    try:
        assert all(not isinstance(fault, Note) for fault in read(path, on_bad=SkipBad(100)))
    except BadInput as error:
        assert "\n" not in str(error)
