"""Reading a text to check: what each format gives, and the one sentence for every file that cannot be used."""

from __future__ import annotations

import time
import zipfile
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

import pytest
from pypdf import PdfWriter
from pypdf.generic import (
    ArrayObject,
    DecodedStreamObject,
    DictionaryObject,
    NameObject,
    NumberObject,
    PdfObject,
    TextStringObject,
)

from counterpoint.indexes.readers.base import apart
from counterpoint.indexes.readers.pdf import lines as pdf_lines
from counterpoint.indexes.readers.prose import docx as docx_reader
from counterpoint.indexes.readers.prose import pdf as pdf_reader
from counterpoint.indexes.readers.prose.passage import Passage
from counterpoint.retrieval.core.errors import BadInput
from counterpoint.service.checking import parse
from counterpoint.service.checking.parse import read_bytes, read_text
from tests.helpers.texts import docx, pdf


def shown(passage: Passage) -> list[tuple[str, str]]:
    return [(block.kind, passage.text[block.start : block.end]) for block in passage.blocks]


def test_plain_text_has_paragraphs_and_entries() -> None:
    text = "One line\ngoes on.\n\n- First entry.\n- Second\n  entry.\n\n \nLast."
    assert shown(read_text(text, "text")) == [
        ("paragraph", "One line\ngoes on."), ("item", "- First entry."), ("item", "- Second\n  entry."), ("paragraph", "Last."),
    ]  # fmt: skip


def test_markdown_is_read_as_it_is_seen_and_its_code_is_left_out() -> None:
    words = "Aspirin **reduces** [fever](https://pubmed.ncbi.nlm.nih.gov/17/) `x`."
    text = f"# Title\n\n{words}\n\n- one\n\n```\ncode\n```\n\n|a|b|\n|-|-|\n|1|2|\n\n<div>html</div>"
    passage = read_text(text)
    assert shown(passage) == [
        ("heading", "Title"), ("paragraph", "Aspirin reduces fever x."), ("item", "one"),
        ("cell", "a"), ("cell", "b"), ("cell", "1"), ("cell", "2"),
    ]  # fmt: skip
    (link,) = passage.links
    assert (passage.text[link.start : link.end], link.address) == ("fever", "https://pubmed.ncbi.nlm.nih.gov/17/")


def test_docx_gives_headings_entries_and_each_cell_once() -> None:
    raw = docx(("Heading 1", "Results"), ("Normal", "Aspirin reduces fever."), ("List Bullet", "An entry."), table=[["A", "B"]])
    assert shown(read_bytes(raw, "a.docx")) == [
        ("heading", "Results"), ("paragraph", "Aspirin reduces fever."), ("item", "An entry."), ("cell", "A"), ("cell", "B"),
    ]  # fmt: skip


def test_pdf_lines_become_paragraphs_without_page_numbers_and_running_heads() -> None:
    lines = ("{drug} reduces the risk of myocardial infarc-", "tion in men who have taken {drug} for", "fever, {drug} alone.")
    drugs = enumerate(("Aspirin", "Zetapril", "Volimab", "Omegane"), 7)
    pages = [[f"Journal of Tests 2020, {n}", *(line.format(drug=drug, n=n) for line in lines), f"{n}"] for n, drug in drugs]
    passage = read_bytes(pdf(pages), "a.pdf")
    assert "of myocardial infarction in men who have taken Volimab for fever, Volimab alone." in passage.text
    assert "Journal of Tests" not in passage.text and "10\n" not in passage.text and not passage.text.endswith("10")


def _embedded(shown: str, letters: Mapping[int, str], rotation: int = 0) -> bytes:
    """A PDF as Chromium and LibreOffice print it: codes of two bytes (Identity-H), and a table of their letters (/ToUnicode)."""
    writer, name = PdfWriter(), NameObject
    codes = {letter: code for code, letter in letters.items()}
    known: dict[PdfObject, PdfObject] = {name("/Type"): name("/Font"), name("/BaseFont"): name("/A")}
    system = {name("/Registry"): TextStringObject("Adobe"), name("/Ordering"): TextStringObject("Identity")}
    inner = DictionaryObject(known | {name("/Subtype"): name("/CIDFontType2"), name("/DW"): NumberObject(500)})
    inner[name("/CIDSystemInfo")] = DictionaryObject(system | {name("/Supplement"): NumberObject(0)})
    font = DictionaryObject(known | {name("/Subtype"): name("/Type0"), name("/Encoding"): name("/Identity-H")})
    font[name("/DescendantFonts")] = ArrayObject([writer._add_object(inner)])
    if letters:
        table = DecodedStreamObject()
        rows = "".join(f"<{code:04x}> <{ord(letter):04x}>\n" for code, letter in letters.items())
        space = "1 begincodespacerange <0000> <ffff> endcodespacerange"
        table.set_data(f"begincmap {space} {len(letters)} beginbfchar {rows} endbfchar".encode())
        font[name("/ToUnicode")] = writer._add_object(table)
    page = writer.add_blank_page(595, 842)
    fonts = DictionaryObject({name("/F1"): writer._add_object(font)})
    page[name("/Resources")] = DictionaryObject({name("/Font"): fonts})
    words = ["".join(f"{codes.get(letter, ord(letter) - 29):04x}" for letter in line) for line in shown.split("\n")]
    drawn = DecodedStreamObject()
    drawn.set_data(f"BT /F1 10 Tf 50 700 Td 14 TL {''.join(f'<{line}> Tj T* ' for line in words)} ET".encode())
    page[name("/Contents")] = writer._add_object(drawn)
    page.rotate(rotation)
    out = BytesIO()
    writer.write(out)
    return out.getvalue()


_PRINTED = (
    "Background: Zetapril is given to adults with high blood\npressure. Cough occurred in 38 of 206 participants, and\n"
    "falls were as frequent as with placebo."
)
_LETTERS = dict(enumerate(sorted(set(_PRINTED) - {"\n"}), 3))


@pytest.mark.parametrize("rotation", [0, 90, 180])
def test_codes_of_two_bytes_are_read_by_the_table_of_their_font(rotation: int) -> None:
    assert read_bytes(_embedded(_PRINTED, _LETTERS, rotation), "printed.pdf").text == _PRINTED.replace("\n", " ")


def test_a_pdf_whose_fonts_have_no_table_is_refused() -> None:
    with pytest.raises(BadInput, match=r"^printed\.pdf has no readable text layer: .*; recognise its text \(OCR\) first\.$"):
        read_bytes(_embedded(_PRINTED, {}), "printed.pdf")


def test_a_reader_that_crashes_takes_nothing_with_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "pypdfium2.py").write_text("import os\nos.abort()\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(BadInput, match=r"^a\.pdf is damaged, or takes more than 120 seconds .*; save it again"):
        read_bytes(pdf([["Aspirin reduces fever."]]), "a.pdf")


def test_letters_that_ghostscript_swapped_and_those_that_tex_joins_are_read() -> None:
    table = {3: " ", 4: "e", 5: "n", 6: "t", 7: "昀", 8: "椀", 9: "."}
    assert read_bytes(_embedded("te昀椀 昀昀t 昀椀t.", table), "a.pdf").text == "tefi fft fit."
    joined = pdf([["The di@erence was signi#cant in the o~ce."]])
    for sign, code in (("@", "033"), ("#", "034"), ("~", "036")):
        joined = joined.replace(sign.encode(), f"\\{code}".encode())
    assert read_bytes(joined, "a.pdf").text == "The difference was significant in the office."


def test_a_word_split_at_the_end_of_a_line_is_joined_and_a_compound_keeps_its_hyphen() -> None:
    lines = ["Zetapril lowered the systolic pres-", "sure in placebo-", "controlled trials of men with TNF-", "alpha above 5."]
    shown = "Zetapril lowered the systolic pressure in placebo-controlled trials of men with TNF-alpha above 5."
    assert read_bytes(pdf([lines]), "a.pdf").text == shown


def test_small_print_at_the_foot_of_a_page_does_not_interrupt_a_sentence() -> None:
    lines = ["Zinc does not help.", "Aspirin reduces fever in adults and in", "@", "children who weigh more than others."]
    foot = b"/F1 7 Tf (A footnote.) Tj /F1 11 Tf T*"
    text = read_bytes(pdf([lines[:3], lines[3:]]).replace(b"(@) Tj T*", foot), "a.pdf").text
    assert (
        text
        == "Zinc does not help.\n\nAspirin reduces fever in adults and in children who weigh more than others.\n\nA footnote."
    )


@pytest.mark.parametrize(
    ("drawn", "shown"),
    [
        ("(In adults.) Tj 5 Ts /F1 7 Tf (12,13) Tj 0 Ts /F1 11 Tf ( Zinc in 10) Tj 5 Ts (6) Tj 0 Ts ( cells.) Tj",
         "In adults.[12,13] Zinc in 10^6 cells."),
        ("(Zinc in 10) Tj /F1 7 Tf 47.7 4 Td (9) Tj /F1 11 Tf 3.9 -4 Td (m of adults) Tj /F1 7 Tf 60 4 Td (3) Tj",
         "Zinc in 10^9m of adults[3]"),
        ("1 0 0 1 72 720 Tm (In adults.) Tj 0.6 0 0 0.6 125 724 Tm (4) Tj 1 0 0 1 135 720 Tm (Zinc fell.) Tj",
         "In adults.[4] Zinc fell."),
        ("(Zinc in H) Tj /F1 7 Tf 43.4 -3 Td (2) Tj /F1 11 Tf 4 3 Td (O) Tj", "Zinc in H2O"),
    ],
)  # fmt: skip
def test_superscripts_in_a_pdf_are_told_apart(drawn: str, shown: str) -> None:
    assert pdf_reader.read_pdf(pdf([["@"]]).replace(b"(@) Tj T*", drawn.encode()), "a.pdf").text == shown


def test_a_list_of_claims_keeps_its_rows() -> None:
    passage = read_bytes(b"First claim here.\n\nSecond claim here.\n", "claims", "lines")
    assert [(block.kind, block.row) for block in passage.blocks] == [("claim", 1), ("claim", 3)]


@pytest.mark.parametrize("raw", [b'id,Claim\n1,"One, two."\n2,\n3,Three.\n', b"id;claim\n1;One, two.\n2;\n3;Three.\n"])
def test_a_column_of_a_table_is_read_whatever_separates_it(raw: bytes) -> None:
    passage = read_bytes(raw, "claims.csv")
    assert [(passage.text[one.start : one.end], one.row) for one in passage.blocks] == [("One, two.", 2), ("Three.", 4)]


def _bomb() -> bytes:
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("word/document.xml", b"0" * 2_000_000)
    return out.getvalue()


def _zip(name: str, content: bytes) -> bytes:
    out = BytesIO()
    with zipfile.ZipFile(out, "w") as packed:
        packed.writestr(name, content)
    return out.getvalue()


@pytest.mark.parametrize(
    ("raw", "name", "told"),
    [
        (b"", "a.txt", "is empty"),
        (b"\xff\x00\x01abc\x80", "a.txt", "is not a text file; give plain text"),
        ("é".encode("latin-1") + b" abc", "a.txt", "is not encoded in UTF-8"),
        (b"%PDF-1.7\nrubbish", "a.pdf", "is damaged: it cannot be read as PDF"),
        (pdf([["Secret."]], password="x"), "a.pdf", "has a password"),
        (b"claim\n \n", "a.csv", "has no claim in its column “claim”"),
        (pdf([[], []]), "a.pdf", "has no text layer"),
        (docx(("Normal", "Cut off."))[:-40], "a.docx", "is damaged"),
        (_zip("readme.txt", b"x"), "a.zip", "is a ZIP file, not a DOCX"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1rest", "a.doc", "is an old Word file or has a password"),
        (
            b"id,text\n1,x\n",
            "a.csv",
            "has no column “claim”; its columns are id, text; rename one to “claim”, or name it with --column",
        ),
        (b'claim\n"open\n', "a.csv", "cannot be read as CSV"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_told_in_one_sentence(raw: bytes, name: str, told: str) -> None:
    with pytest.raises(BadInput) as found:
        read_bytes(raw, name)
    message = str(found.value)
    assert message.startswith(f"{name} {told}") and message.endswith(".") and "\n" not in message


def test_a_small_docx_of_very_many_paragraphs_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docx_reader, "_MOST_PARAGRAPHS", 2)
    kept = docx(("Heading 1", "Results"), ("Normal", "Aspirin reduces fever."))
    assert len(docx_reader.read_docx(kept, "a.docx").blocks) == 2
    with pytest.raises(BadInput, match=r"^a\.docx has more than 2 paragraphs; check it in parts\.$"):
        docx_reader.read_docx(docx(("Normal", "One."), ("Normal", "Two."), table=[["Three."]]), "a.docx")


@pytest.mark.parametrize(("limit", "of"), [("MOST_UNPACKED", ""), ("MOST_WRITTEN", " of text and marks")])
def test_a_bomb_is_refused(monkeypatch: pytest.MonkeyPatch, limit: str, of: str) -> None:
    monkeypatch.setattr(docx_reader, limit, 1_000_000)
    with pytest.raises(BadInput, match=f"unpacks to more than 1 MB{of}"):
        docx_reader.read_docx(_bomb(), "bomb.docx")


def _endless() -> bytes:
    """A small PDF whose page draws a form that draws another ten times, and so on."""
    writer = PdfWriter()
    page, inner = writer.add_blank_page(595, 842), None
    for _ in range(9):
        form = DecodedStreamObject()
        form.set_data(b"BT (x) Tj ET " if inner is None else b"/F Do " * 10)
        form[NameObject("/Type")], form[NameObject("/Subtype")] = NameObject("/XObject"), NameObject("/Form")
        forms = DictionaryObject() if inner is None else DictionaryObject({NameObject("/F"): inner})
        form[NameObject("/Resources")] = DictionaryObject({NameObject("/XObject"): forms})
        inner = writer._add_object(form)
    page[NameObject("/Resources")] = DictionaryObject({NameObject("/XObject"): DictionaryObject({NameObject("/F"): inner})})
    drawn = DecodedStreamObject()
    drawn.set_data(b"/F Do")
    page[NameObject("/Contents")] = writer._add_object(drawn)
    out = BytesIO()
    writer.write(out)
    return out.getvalue()


@pytest.mark.parametrize(("limit", "most"), [("MOST_SECONDS", 1), ("MOST_MEMORY", 40_000_000)])
def test_a_file_that_would_take_forever_or_fill_the_memory_is_given_up(
    limit: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(apart, limit, most)
    began = time.monotonic()
    with pytest.raises(
        BadInput, match=r"^a\.pdf is damaged, or takes more than \d+ seconds or [\d,]+ MB of memory to be read; save it again"
    ):
        read_bytes(_endless(), "a.pdf")
    assert time.monotonic() - began < 30


def test_too_many_pages_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf_lines, "MOST_PAGES", 2)
    with pytest.raises(BadInput, match="has 3 pages and at most 2 are read"):
        pdf_reader.read_pdf(pdf([["One."], ["Two."], ["Three."]]), "book.pdf")


def test_a_long_markdown_text_is_read_apart_and_as_a_short_one(monkeypatch: pytest.MonkeyPatch) -> None:
    short = "# Title\n\nAspirin reduces [fever](https://a.org).\n\n- one\n"
    whole = read_text(short, "markdown")
    monkeypatch.setattr(parse, "_MOST_MARKDOWN", 10)
    assert read_text(short, "markdown") == whole
    monkeypatch.setattr(apart, "MOST_SECONDS", 1)
    with pytest.raises(BadInput, match="takes more than 1 seconds"):
        read_text("\t\n- -" * 40_000, "markdown")


@pytest.mark.parametrize(
    "begin", ["<!DOCTYPE html><html>", '<?xml version="1.0"?>\n<html xmlns="x">', "<!-- a -->\n<div>", "<p>", "<b>"]
)
def test_html_is_read_as_it_is_seen(begin: str) -> None:
    text = (
        f"{begin}<head><title>Not shown</title><style>p{{color:red}}</style></head><body><h1>Tea</h1><script>alert(1)</script>"
        "<p>Tea <b>reduces</b>\n fever &lt;5%&nbsp;in <i>adults</i>.<sup>3</sup> See <a href='https://pubmed.ncbi.nlm.nih.gov/17'>it</a>."
        "<p hidden>Hidden.</p>10<sup>9</sup>/L<ul><li>Entry<li>Other</ul><table><tr><td>Cell</table><!-- no --></body>"
    )
    passage = read_text(text)
    assert shown(passage) == [
        ("heading", "Tea"), ("paragraph", "Tea reduces fever <5%\xa0in adults.[3] See it."), ("paragraph", "10^9/L"),
        ("item", "Entry"), ("item", "Other"), ("cell", "Cell"),
    ]  # fmt: skip
    (link,) = passage.links
    assert (passage.text[link.start : link.end], link.address) == ("it", "https://pubmed.ncbi.nlm.nih.gov/17")


def test_superscripts_in_markdown_are_told_apart() -> None:
    text = "**Tea** lowers counts of 10<sup>9</sup>/L in adults.<sup>3</sup> Zinc does not."
    assert read_text(text).text == "Tea lowers counts of 10^9/L in adults.[3] Zinc does not."


@pytest.mark.parametrize(
    ("text", "name", "told"),
    [
        ("{\\rtf1\\ansi Tea {\\b helps}.\\par}", "a.rtf", "is RTF; save it as .docx or as plain text"),
        ("\\section{One} Tea \\emph{helps}~\\cite{a}.", "a.txt", "is LaTeX; give its PDF"),
        ("Tea helps.", "a.tex", "is LaTeX; give its PDF"),
        ("\\documentclass[a]{b}", "The text", "is LaTeX; give its PDF"),
        ('<?xml version="1.0"?><a>Tea helps.</a>', "a.xml", "is XML; give the text as plain text"),
        ("<article><p>Tea helps.</p></article>", "a.nxml", "is XML; give the text as plain text"),
    ],
)
def test_marks_of_other_languages_are_told(text: str, name: str, told: str) -> None:
    with pytest.raises(BadInput, match=rf"^{name} {told}"):
        read_text(text, "auto", name)


def test_a_sign_alone_makes_no_markdown_html_or_latex() -> None:
    for text in ("2 * 3 **is** six.", "<5% of adults had fever.", "p <b and 3> 2 held.", "Costs were \\$5 in \\alpha."):
        assert read_text(text).text == text
