"""Reading the text to check: a file of any of the formats, standard input, or a text sent over HTTP.

A file's content decides its format; its name only distinguishes Markdown and tables from plain text. Every error is one sentence.
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from pathlib import Path
from typing import Literal

from counterpoint.indexes.readers.exports.table import guess_delimiter
from counterpoint.indexes.readers.prose.passage import Passage, Writing, check_length
from counterpoint.retrieval.core.characters import replace_surrogates
from counterpoint.retrieval.core.errors import BadInput

MOST_BYTES = 50_000_000

_MOST_MARKDOWN = 20_000
"""A longer Markdown text is read in a process of its own; the worst of this length takes about two seconds."""

TextFormat = Literal["auto", "text", "markdown"]
Format = Literal["auto", "text", "markdown", "docx", "pdf", "lines", "csv"]

_OLD_WORD = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ZIP, _PDF = b"PK\x03\x04", b"%PDF-"
_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_MARKDOWN_NAMES, _TABLE_NAMES = (".md", ".markdown"), (".csv", ".tsv")
# Two of these make a text Markdown: one alone may occur in any text.
_MARKS = re.compile(
    r"^#{1,6}[^\S\n]+\S|^[^\S\n]*(?:[-*+]|\d+\.)[^\S\n]+\S|\*\*\S[^*\n]*\*\*|^```|\]\(https?://|</su[bp]>", re.MULTILINE
)
# What a text begins with, or holds, that is none: its marks would become part of its claims.
_HTML = re.compile(
    r"\s*(?:<\?xml[^>]{0,200}>\s*)?(?:<!--.{0,2000}?-->\s*)?"
    r"<(?:!doctype\s+html|(?:html|head|body|main|section|div|p|h[1-6]|[uod]l|table|span|b|i|strong|em)\b[^<>]{0,2000}>)",
    re.IGNORECASE | re.DOTALL,
)
_XML = re.compile(r"\s*<(?:\?xml|!doctype|article|pubmedarticle)", re.IGNORECASE)
_RTF = re.compile(r"\s*\{\\rtf")
_LATEX = re.compile(r"\\(?:documentclass|begin|(?:sub){0,2}section\*?|title|emph|text(?:bf|it)|cite[a-z]{0,9})\s?[{\[]")
_HTML_NAMES, _LATEX_NAMES = (".html", ".htm", ".xhtml"), (".tex", ".ltx")
_ITEM = re.compile(r"^\s*(?:[-*•–]|\(?\d{1,2}[.)])\s+(?=\S)")
_BLANK = re.compile(r"\n[^\S\n]*\n\s*")


def read_file(path: Path, format: Format = "auto", column: str = "") -> Passage:
    """The text or the list of claims in a file; raises `BadInput` if there is none."""
    try:
        with path.open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise BadInput(
            f"{path} cannot be read ({error.strerror}); name a text, Markdown, HTML, DOCX, PDF, CSV or TSV file."
        ) from None
    return read_bytes(raw, str(path), format, column)


def read_bytes(raw: bytes, name: str, format: Format = "auto", column: str = "") -> Passage:
    """The same for a file's content; `name` is what errors call it, and its extension may determine the format.

    Raises `BadInput` for content that is empty, too large or unreadable.
    """
    if len(raw) > MOST_BYTES:
        raise BadInput(f"{name} has more than {MOST_BYTES // 1_000_000} MB; check it in parts.")
    if not raw.strip():
        raise BadInput(f"{name} is empty: expected text, or a table with a column of claims.")
    kind = _sniff(raw, name, column) if format == "auto" else format
    if kind in ("docx", "pdf"):
        from counterpoint.indexes.readers.prose.reading import read_apart

        passage = read_apart(kind, raw, name)
        passage = replace(passage, text=replace_surrogates(passage.text))
    elif kind == "csv":
        passage = read_table(_decode(raw, name), name, column)
    elif kind == "lines":
        passage = read_lines(_decode(raw, name))
    else:
        plain = name.lower().endswith(".txt")  # any other may be Markdown
        return read_text(_decode(raw, name), "markdown" if kind == "markdown" else "text" if plain else "auto", name)
    return _require_text(passage, name)


def read_text(text: str, format: TextFormat = "auto", name: str = "The text") -> Passage:
    """The passage of a text; "auto" takes it for Markdown if it has at least two of Markdown's marks; HTML is known by its tags.

    Raises `BadInput` for a text that is too long, XML, RTF or LaTeX.
    """
    clean = check_length(replace_surrogates(text).replace("\r\n", "\n").replace("\r", "\n"), name)
    if format != "markdown":
        if _HTML.match(clean) or name.lower().endswith(_HTML_NAMES):
            from counterpoint.indexes.readers.prose.reading import read_apart

            return _require_text(read_apart("html", clean.encode(), name), name)
        _check_plain(clean, name)
    marks = format == "auto" and sum(1 for _ in zip(_MARKS.finditer(clean), range(2), strict=False)) == 2
    if format == "markdown" or marks:
        return _require_text(_read_markdown(clean, name), name)
    return _require_text(_plain(clean), name)


def _check_plain(text: str, name: str) -> None:
    """Raises `BadInput` for a text in a language of marks that is not read."""
    if _XML.match(text):
        raise BadInput(f"{name} is XML; give the text as plain text, Markdown, HTML, DOCX or PDF.")
    if _RTF.match(text):
        raise BadInput(f"{name} is RTF; save it as .docx or as plain text.")
    if name.lower().endswith(_LATEX_NAMES) or _LATEX.search(text):
        raise BadInput(f"{name} is LaTeX; give its PDF, or convert it to plain text, Markdown or DOCX (pandoc does).")


def _read_markdown(text: str, name: str) -> Passage:
    """A long text may take its parser a time that grows with the square of its length, so it is read apart."""
    if len(text) > _MOST_MARKDOWN:
        from counterpoint.indexes.readers.prose.reading import read_apart

        return read_apart("markdown", text.encode(), name)
    from counterpoint.indexes.readers.prose.markup import read_markdown

    return read_markdown(text.encode(), name)


def _plain(text: str) -> Passage:
    """Paragraphs between empty lines; a line that looks like a list entry begins a block of its own."""
    writing = Writing()
    for paragraph in _BLANK.split(text):
        lines: list[str] = []
        kind: Literal["paragraph", "item"] = "paragraph"
        for line in paragraph.split("\n"):
            if _ITEM.match(line):
                writing.add("\n".join(lines).strip(), kind)
                lines, kind = [], "item"
            lines.append(line)
        writing.add("\n".join(lines).strip(), kind)
    return writing.done()


def _sniff(raw: bytes, name: str, column: str) -> Format:
    if raw.startswith(_PDF) or _PDF in raw[:1024]:
        return "pdf"
    if raw.startswith(_ZIP):
        return "docx"
    if raw.startswith(_OLD_WORD):
        raise BadInput(f"{name} is an old Word file or has a password; save it as .docx without one.")
    if column or name.lower().endswith(_TABLE_NAMES):
        return "csv"
    return "markdown" if name.lower().endswith(_MARKDOWN_NAMES) else "text"


def _decode(raw: bytes, name: str) -> str:
    try:
        text = raw.decode("utf-16" if raw.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig")
    except UnicodeDecodeError:
        kind = "is not a text file" if _BINARY.search(raw[:4096]) else "is not encoded in UTF-8"
        raise BadInput(f"{name} {kind}; give plain text, Markdown, HTML, CSV or TSV in UTF-8, DOCX or PDF.") from None
    if "\x00" in text:
        raise BadInput(f"{name} is not a text file; give plain text, Markdown, HTML, CSV or TSV in UTF-8, DOCX or PDF.")
    return text


def _require_text(passage: Passage, name: str) -> Passage:
    if not passage.blocks:
        raise BadInput(f"{name} contains no text: expected at least one sentence.")
    check_length(passage.text, name)
    return passage


COLUMN = "claim"
"""The column that is read by default."""


def read_lines(text: str) -> Passage:
    """One claim on each line; empty lines are skipped."""
    writing = Writing()
    for row, line in enumerate(text.splitlines(), 1):
        writing.add(line.strip(), "claim", row=row)
    return writing.done()


def read_table(text: str, name: str, column: str = "") -> Passage:
    """The claims in a column of a CSV file whose first row names the columns; raises `BadInput` if there is none.

    The delimiter is whichever of comma, semicolon, tab and bar is most frequent in the first row. `row` counts the file's rows
    from 1, so that a spreadsheet shows a claim under the same number.
    """
    heading = column or COLUMN
    header = text.lstrip("\n").partition("\n")[0]
    delimiter = guess_delimiter(header)
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error as error:
        raise BadInput(f"{name} cannot be read as CSV ({error}); write it again with the first row naming the columns.") from None
    if not rows:
        raise BadInput(f"{name} is empty; its first row should name the columns.")
    names = [one.strip() for one in rows[0]]
    place = _place(heading, names)
    if place is None:
        columns = ", ".join(one or "(no name)" for one in names[:10])
        advice = "name one of them with --column" if column else f"rename one to “{heading}”, or name it with --column"
        raise BadInput(f"{name} has no column “{heading}”; its columns are {columns}; {advice}.")
    writing = Writing()
    for row, cells in enumerate(rows[1:], 2):
        if place < len(cells):
            writing.add(" ".join(cells[place].split()), "claim", row=row)
    passage = writing.done()
    if not passage.blocks:
        raise BadInput(f"{name} has no claim in its column “{names[place]}”; fill it, or name another with --column.")
    return passage


def _place(heading: str, names: list[str]) -> int | None:
    """The position of the column, or None; case is ignored unless two columns differ only by case."""
    if heading in names:
        return names.index(heading)
    places = [place for place, one in enumerate(names) if one.lower() == heading.lower()]
    return places[0] if len(places) == 1 else None
