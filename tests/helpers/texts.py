"""A small index and a text over it, hostile where text can be; small PDF and DOCX files, and files of the data folder."""

from __future__ import annotations

import csv
import gzip
import json
import zipfile
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from docx import Document
from pypdf import PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

MEASURED = {
    row["pmid"]
    for path in (Path(__file__).parents[2] / "eval/claims").glob("ordinary*.csv")
    for row in csv.DictReader(path.open(encoding="utf-8", newline=""))
}
"""The papers of the claims that figures are measured on."""

HOSTILE = "<script>alert(1)</script> | *x*"
DOCUMENTS: list[dict[str, Any]] = [
    {"pmid": "1", "title": f"Against it {HOSTILE}", "abstract": "Zeta is against pressure.", "year": 1999, "journal": "J. Test"},
    {"pmid": "2", "title": "Best", "abstract": "Omega is for sugar.", "year": 2001},
    {"pmid": "3", "title": "Neither", "abstract": "Kappa was given to adults."},
    {"pmid": "4", "title": "Empty", "abstract": ""},
    *({"pmid": f"x{i}", "title": "", "abstract": f"Filler number {i}."} for i in range(20)),
]
TEXT = f"# A {HOSTILE} title\n\nDoes zeta help? Zeta lowers pressure (PMID 1, PMID 77).\n\n=Omega lowers {HOSTILE} sugar [3]."


def pdf(pages: Sequence[Sequence[str]], password: str = "") -> bytes:
    """A PDF with these lines on its pages, in Helvetica; a page without lines is blank."""
    writer = PdfWriter()
    font = {"/Type": NameObject("/Font"), "/Subtype": NameObject("/Type1"), "/BaseFont": NameObject("/Helvetica")}
    fonts = DictionaryObject({NameObject("/F1"): DictionaryObject({NameObject(key): value for key, value in font.items()})})
    for lines in pages:
        page = writer.add_blank_page(595, 842)
        page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
        drawn = DecodedStreamObject()
        shown = "".join(f"({line}) Tj T*\n" for line in lines)
        drawn.set_data(f"BT /F1 11 Tf 50 800 Td 14 TL\n{shown}ET".encode("latin-1"))
        page[NameObject("/Contents")] = writer._add_object(drawn)
    if password:
        writer.encrypt(password, algorithm="RC4-128")
    out = BytesIO()
    writer.write(out)
    return out.getvalue()


Drawn = tuple[float, float, float, str]
"""From the left and from the foot of the page, the size of its letters ("-" before it: bold), and a text."""


def draw_pdf(
    pages: Sequence[Sequence[Drawn]], said: Mapping[str, str] | None = None, size: tuple[int, int] = (595, 842)
) -> bytes:
    """A PDF with texts at these places, drawn in this order, in Times and, where the size is negative, in bold type.

    `said` is what the file says of itself (Title, Author).
    """
    writer, name = PdfWriter(), NameObject
    fonts = DictionaryObject()
    for key, base in (("/F1", "/Times-Roman"), ("/F2", "/Times-Bold")):
        font = {"/Type": "/Font", "/Subtype": "/Type1", "/BaseFont": base, "/Encoding": "/WinAnsiEncoding"}
        fonts[name(key)] = DictionaryObject({name(part): name(value) for part, value in font.items()})
    for drawn in pages:
        page = writer.add_blank_page(*size)
        page[name("/Resources")] = DictionaryObject({name("/Font"): fonts})
        content = DecodedStreamObject()
        parts = []
        for left, height, points, text in drawn:
            shown = text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
            parts.append(f"BT /F{1 + (points < 0)} {abs(points)} Tf {left} {height} Td ({shown}) Tj ET")
        content.set_data("\n".join(parts).encode("cp1252"))
        page[name("/Contents")] = writer._add_object(content)
    writer.add_metadata({f"/{key}": value for key, value in (said or {}).items()})
    out = BytesIO()
    writer.write(out)
    return out.getvalue()


def docx(*blocks: tuple[str, str], table: Sequence[Sequence[str]] = ()) -> bytes:
    """A DOCX of (style, text) paragraphs and, behind them, a table."""
    document = Document()
    for style, text in blocks:
        document.add_paragraph(text, style=style)
    if table:
        made = document.add_table(rows=len(table), cols=len(table[0]))
        for row, texts in zip(made.rows, table, strict=True):
            for cell, text in zip(row.cells, texts, strict=True):
                cell.text = text
    out = BytesIO()
    document.save(out)
    return out.getvalue()


_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def word(body: str, main: str = "word/document.xml", namespace: str = _WORD, prolog: str = "", **parts: str) -> bytes:
    """A DOCX written by hand: the content of its body, and of `parts` such as styles and footnotes; hyperlink is an address."""
    names = (
        f'xmlns:w="{namespace}" xmlns:r="{_RELATIONS}" xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" '
        'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" xmlns:wps="urn:wps" xmlns:v="urn:v"'
    )
    folder, _, file = main.rpartition("/")
    inside = {kind: f"{kind}.xml" for kind in parts} | {
        "hyperlink": f'{escape(parts.get("hyperlink", ""))}" TargetMode="External'
    }
    relations = "".join(f'<Relationship Id="{kind}" Type="{_RELATIONS}/{kind}" Target="{inside[kind]}"/>' for kind in parts)
    files = {
        "_rels/.rels": f'<Relationships><Relationship Type="{_RELATIONS}/officeDocument" Target="/{main}"/></Relationships>',
        f"{folder}/_rels/{file}.rels": f"<Relationships>{relations}</Relationships>",
        main: f"{prolog}<w:document {names}><w:body>{body}</w:body></w:document>",
    } | {f"{folder}/{kind}.xml": f"<w:{kind} {names}>{text}</w:{kind}>" for kind, text in parts.items() if kind != "hyperlink"}
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in files.items():
            packed.writestr(name, content)
    return out.getvalue()


def write_rows(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Gzip JSON lines, in a folder that is made if need be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(f"{json.dumps(row)}\n" for row in rows)
