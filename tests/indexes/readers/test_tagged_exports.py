"""RIS, PubMed's export and BibTeX as programs really write them: as many records and as much text come out as went in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexes.readers import Note, SkipBad, detect_format, read
from indexes.readers.base.fields import RecordError, make_records
from indexes.readers.exports.bibtex import decode_latex
from retrieval.core.errors import BadInput, BadRecord
from retrieval.core.values import Author, Document


def write(folder: Path, text: str) -> Path:
    path = folder / "library"
    path.write_text(text, encoding="utf-8", newline="")
    return path


def read_all(folder: Path, text: str) -> list[Document]:
    return [record for record in read(write(folder, text)) if isinstance(record, Document)]


def read_with_notes(folder: Path, text: str) -> tuple[list[Document], list[str]]:
    skip = SkipBad(0)
    found = [record for record in read(write(folder, text), on_bad=skip) if isinstance(record, Document)]
    return found, [f"{note.record}: {note.expected}" for note in skip.notes]


# --- RIS


@pytest.mark.parametrize(
    "line",
    [
        "ER - positive tumours", "ER  - positive tumours", "ER-positive tumours", "TY - 12 cells", "AB - 1 antibodies", 
        "IL - 6 levels", "CO2 - rich air", "      ER - indented", "ER/PR - both",
    ],
)  # fmt: skip
def test_ris_a_wrapped_line_that_begins_like_a_tag_belongs_to_the_text(tmp_path: Path, line: str) -> None:
    text = f"TY  - JOUR\nTI  - A\nAB  - Rarer in\n{line}\nthan in others.\nER  - \n\nTY  - JOUR\nTI  - B\nAB  - B.\nER  - \n"
    first, second = read_all(tmp_path, text)
    assert first.abstract == f"Rarer in {' '.join(line.split())} than in others."
    assert second.title == "B"


def test_ris_a_line_that_ends_a_record_in_its_middle_is_told(tmp_path: Path) -> None:
    text = "TY  - JOUR\nTI  - A\nAB  - Rarer in\nER  -\nthan in others.\nDO  - 10.5555/x\nER  - \nTY  - JOUR\nAB  - B.\nER  - \n"
    with pytest.raises(BadInput, match=r"record 2 \(line 5\): expected `TY  - ` before `ER  - `, got a record without a type"):
        read_all(tmp_path, text)


@pytest.mark.parametrize("separator", [" -", "  -", "\t-"])
@pytest.mark.parametrize("blank", [" ", "  "])
def test_ris_of_every_dialect_is_read(tmp_path: Path, separator: str, blank: str) -> None:
    tags = [("TY", "JOUR"), ("TI", "A"), ("AU", "Doe, Jo"), ("AB", "One\nIX - two\nthree."), ("ER", "")]
    text = "".join(f"{tag}{separator}{blank}{value}\n" for tag, value in tags)
    other = "TY  - JOUR\nTI  - A\nAU  - Doe, Jo\nAB  - One\nIX - two\nthree.\nER  - \n"
    path = write(tmp_path, text + "\n" + text + other)
    assert detect_format(path) == "ris"
    documents = [record for record in read(path) if isinstance(record, Document)]
    facts = ("A", "One IX - two three.", (Author("Doe", "Jo"),))
    assert [(one.title, one.abstract, one.authors) for one in documents] == [facts] * 3


@pytest.mark.parametrize("blanks", ["  ", " "])
def test_ris_a_type_that_comes_late_loses_nothing(tmp_path: Path, blanks: str) -> None:
    one = f"DB{blanks}- WoS\nTI{blanks}- {{0}}\nAB{blanks}- {{0}} helped.\nTY{blanks}- JOUR\nER{blanks}-\n\n"
    assert [one.abstract for one in read_all(tmp_path, one.format("A") + one.format("B"))] == ["A helped.", "B helped."]


def test_ris_headings_and_numbers_between_records_are_no_text(tmp_path: Path) -> None:
    record = "TY  - JOUR\nAB  - {}.\nER  - \n"
    text = f"Provider: Example\nContent:text/plain\n\n1.\n{record.format('A')}\n2.\n{record.format('B')}ER  - \n\n\x1a"
    assert [one.abstract for one in read_all(tmp_path, text)] == ["A.", "B."]


def test_ris_every_abstract_of_a_record_is_read(tmp_path: Path) -> None:
    [document] = read_all(
        tmp_path, "TY  - JOUR\nAB  - AIM: One.\nAB  - RESULT: Two\ngoes on.\nAB  -\nAB  - END: Three.\nER  - \n"
    )
    assert document.abstract == "AIM: One. RESULT: Two goes on. END: Three."


def test_ris_a_record_without_a_type_is_bad(tmp_path: Path) -> None:
    path = write(tmp_path, "TY  - JOUR\nAB  - A.\nER  - \nTI  - B\nAB  - B.\nER  - \n")
    skip = SkipBad(1)
    assert len(list(read(path, on_bad=skip))) == 1
    assert [fault.record for fault in skip.faults] == ["record 2 (line 4)"]


# --- PubMed's export


@pytest.mark.parametrize("gap", ["\n", "\n\n", "  \n", "\t\n"])
def test_nbib_an_empty_line_in_a_record_loses_nothing(tmp_path: Path, gap: str) -> None:
    text = f"PMID- 1\nTI  - A\nAB  - One\n{gap}      two.\n{gap}DP  - 2019\n{gap}PMID- 2\nTI  - B\nAB  - B.\n"
    first, second = read_all(tmp_path, text)
    assert (first.abstract, first.year, second.pmid) == ("One two.", 2019, "2")


def test_nbib_records_without_an_empty_line_between_them(tmp_path: Path) -> None:
    text = "PMID- 1\nTI  - A\nAB  - A.\nPMID- 2\nTI  - B\nAB  - B.\n"
    assert [one.pmid for one in read_all(tmp_path, text)] == ["1", "2"]


def test_nbib_lines_without_a_tag_or_an_indent_belong_to_the_text(tmp_path: Path) -> None:
    [document] = read_all(
        tmp_path, "PMID- 1\nTI  - A\nAB  - One\ntwo.\n AB\nMH  - Zinc and\n      iron\nMH  - *Sleep/drug effects\n"
    )
    assert (document.abstract, document.mesh) == ("One two. AB", ("Zinc and iron", "Sleep"))


# --- BibTeX


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"p {\textless} 0.05", "p < 0.05"),
        (r"n {\textgreater} 5", "n > 5"),
        (r"p \textless{} 0.05", "p < 0.05"),
        (r"p $<$ 0.05 and $p \leq 0.01$", "p < 0.05 and p ≤0.01"),
        (
            r"{\textasciitilde}5 {\textasciicircum}2 A{\textbackslash}B {\textbraceleft}c{\textbraceright} {\textbar}",
            r"~5 ^2 A\B {c} |",
        ),
        (r"\unknown five", r"\unknown five"),
        (r"\unknown{} five", r"\unknown five"),
        (r"{\unknown} five", r"\unknown five"),
        (r"\ce{H2O} and \textsubscript{2}", "H2O and 2"),
        (r"costs $5 and $6, 50% of $7", "costs $5 and $6, 50% of $7"),
        (r"$\alpha$-blockers, 10$^{9}$/L", "α-blockers, 10^9/L"),
        (r"10\textsuperscript{9}/L, CD4\textsuperscript{+}, m\textsuperscript{2}", "10^9/L, CD4+, m2"),
        (r"Zo{\"e} M\"uller {\ss} {\O}", "Zoë Müller ß Ø"),
        (r"a\\% b", r"a % b"),
        ("1--2 ``x''", "1–2 “x”"),
    ],
)
def test_bibtex_latex_keeps_signs(latex: str, text: str) -> None:
    assert decode_latex(latex) == (text, True)


@pytest.mark.parametrize(
    "latex", [r"\href{http://example.org}{here}", r"\hspace{1cm}x", "\\textbf{" * 900 + "x" + "}" * 900, r"\sqrt", r"\verb"]
)
def test_bibtex_latex_that_would_lose_text_is_kept_as_it_is(tmp_path: Path, latex: str) -> None:
    entry = f"@article{{a, title={{A}}, abstract={{It did not help {latex}}}}}\n"
    [document], [note] = read_with_notes(tmp_path, entry)
    assert document.abstract == f"It did not help {latex}"
    assert note == "the entry in line 1: LaTeX in abstract could not be read as text; it was kept as it is"


@settings(deadline=None)
@given(
    st.lists(st.sampled_from([*r"\{}$%&#_^~-'`", "a", "5", " ", r"\foo", r"\textbf", "{b}", r"\'", r"\textless"]), max_size=30)
)
def test_bibtex_no_latex_loses_letters_or_digits(parts: list[str]) -> None:
    latex = "".join(parts)
    text, _ = decode_latex(latex)
    bare = re.sub(r"\\[A-Za-z]+|\\.", "", latex)
    assert sum(map(str.isalnum, text)) >= sum(map(str.isalnum, bare))


def test_bibtex_a_field_that_an_entry_has_twice(tmp_path: Path) -> None:
    text = (
        "@string{lan = {The Lancet}}\n"
        "@article{a, title={A}, keywords={x}, Abstract={First.}, journal=lan, keywords={y},"
        " abstract={Second.}, note={}, note={}}\n"
        "@article{a, title={B}, abstract={B.}, journal=lan}\n"
    )
    documents, notes = read_with_notes(tmp_path, text)
    assert [(one.abstract, one.journal) for one in documents] == [("First.", "The Lancet"), ("B.", "The Lancet")]
    assert notes == ["the entry in line 2: it has abstract, keywords twice; the first was read"]


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
    skip = SkipBad(5)
    assert [record.title for record in read(path, on_bad=skip) if isinstance(record, Document)] == ["A", "C"]
    assert [fault.record for fault in skip.faults] == ["the entry in line 2"]


def test_bibtex_names_are_split_one_by_one(tmp_path: Path) -> None:
    [document] = read_all(tmp_path, "@article{a, title={A}, abstract={A.}, Author={Doe, Jo and a, b, c, d and {The Group}}}\n")
    assert document.authors == (Author("Doe", "Jo"), Author("a, b, c, d"), Author("The Group"))


def test_a_table_that_holds_a_formula_is_no_bibtex(tmp_path: Path) -> None:
    assert detect_format(write(tmp_path, "Title,Abstract\n@SUM(A1),Garlic helped.\n@IF(A1=2),Garlic failed.\n")) == "csv"


# --- every reader


@pytest.mark.parametrize(
    "error", [KeyError("x"), RecursionError(), UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"), IndexError("y")]
)
def test_whatever_a_library_raises_is_one_records_fault(error: Exception) -> None:
    def make(piece: int) -> int:
        if piece == 2:
            raise error
        if piece == 3:
            raise RecordError("expected a number below 3")
        return piece

    skip = SkipBad(2)
    assert list(make_records(Path("x"), [(f"record {n}", n) for n in (1, 2, 3, 4)], make, skip)) == [1, 4]
    assert [fault.record for fault in skip.faults] == ["record 2", "record 3"]
    assert all("\n" not in str(fault) for fault in skip.faults)


def test_a_note_stops_nothing(tmp_path: Path) -> None:
    skip = SkipBad(0)
    skip(Note("x", "line 1", "read as UTF-16"))
    assert (len(skip.notes), skip.faults) == (1, [])
    with pytest.raises(BadRecord):
        skip(BadRecord("x", "line 2", "expected more"))


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


TAGGED = {"ris": "TY  - JOUR\nTI  - {}\nAB  - {}\nER  - \n\n", "nbib": "PMID- {n}\nTI  - {}\nAB  - {}\n\n"}


@pytest.mark.parametrize("format", TAGGED)
@settings(deadline=None)
@given(PAPERS)
def test_as_many_records_and_as_much_text_come_out_as_went_in(format: str, papers: list[tuple[list[str], list[str]]]) -> None:
    count, abstracts = count_out(
        "".join(TAGGED[format].format(title[0], "\n      ".join(lines), n=n) for n, (title, lines) in enumerate(papers, 1))
    )
    assert count == len(papers)
    assert list(map(squeeze, abstracts)) == [squeeze(abstract) for _, abstract in papers]


@settings(deadline=None)
@given(PAPERS)
def test_bibtex_as_many_records_and_as_many_words_come_out_as_went_in(papers: list[tuple[list[str], list[str]]]) -> None:
    texts = [re.sub(r'[{}"\\]', "", " ".join(abstract)) for _, abstract in papers]
    count, abstracts = count_out("".join(f"@article{{k, abstract = {{{text}}}\n}}\n" for text in texts))
    assert count == len(papers)
    letters = ["".join(filter(str.isalnum, text)) for text in (" ".join(texts), " ".join(abstracts))]
    assert letters[0] == letters[1]


@settings(deadline=None)
@given(
    st.text(alphabet="TYERABI -\n\r\tx", max_size=200),
    st.sampled_from(["TY  - JOUR\n", "TY - JOUR\n", "PMID- 7\n", "@article{a,\n"]),
)
def test_any_text_is_read_or_refused_in_one_sentence(text: str, start: str) -> None:
    try:
        count_out(start + text)
    except BadInput as error:
        assert "\n" not in str(error)


def test_ris_with_an_indent_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="holds no RIS record: expected lines that begin with `TY  - ` and no indent"):
        read_all(tmp_path, "  TY  - JOUR\n  AB  - Zinc helped.\n  ER  - \n")
