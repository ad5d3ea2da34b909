"""PDF with a text layer, by pypdf: lines are joined into paragraphs; running heads and page numbers are left out."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any

from nli.text.headings import looks_like_heading
from retrieval.core.errors import BadInput
from service.checking.readers.passage import Passage, Writing, write_raised

if TYPE_CHECKING:
    from pypdf import PageObject, PdfReader

MOST_PAGES = 500
_RUNNING_HEAD_PAGES = 3
"""A first or last line that occurs on this many pages is a running head."""
_NUMBER = re.compile(r"\d+")
_PAGE_NUMBER = re.compile(r"^(?:page\s*)?\d{1,4}(?:\s*(?:of|/)\s*\d{1,4})?$", re.IGNORECASE)
_HYPHEN = re.compile(r"(?<=[a-z])-$")
# The first parts of compounds; any other word that ends a line with a hyphen was split there.
_COMPOUND = re.compile(
    r"\b(?:alpha|beta|gamma|non|low|high|long|short|well|double|single|placebo|self|post|anti|multi|evidence|population|meta|dose)-$",
    re.IGNORECASE,
)
_SHOWS = (b"Tj", b"TJ", b"'", b'"')
"""The operators that show characters."""
_ENDS = re.compile(r"""[.?!:]['"”’)\]\d,–-]*$""")


def read_pdf(raw: bytes, name: str) -> Passage:
    """The text of a PDF; raises `BadInput` for one that is damaged, has a password or too many pages, or holds only images."""
    from pypdf import PdfReader
    from pypdf.errors import DependencyError

    # pypdf reports what it works around in a file on standard error.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        reader = PdfReader(BytesIO(raw))
        needs_password = reader.is_encrypted and not reader.decrypt("")
    except DependencyError:
        needs_password = True
    except MemoryError:
        raise
    except Exception:
        raise _damage_error(name) from None
    if needs_password:
        raise BadInput(f"{name} has a password; save it without one.")
    return _join(_pages(reader, name), name)


def _pages(reader: PdfReader, name: str) -> list[list[str]]:
    """The lines of each page; raises `BadInput` if the pages are damaged, too many or without text."""
    try:
        count = len(reader.pages)
        if count <= MOST_PAGES:
            texts = [_page_text(page) for page in reader.pages]
    except MemoryError:
        raise
    except Exception:
        # A damaged file may raise nearly anything.
        raise _damage_error(name) from None
    if count > MOST_PAGES:
        raise BadInput(f"{name} has {count:,} pages and at most {MOST_PAGES} are read; check it in parts.")
    pages = [[line.strip() for line in text.split("\n")] for text in texts]
    if not any(line for lines in pages for line in lines):
        raise BadInput(f"{name} has no text layer, only images; recognise its text (OCR) first.")
    return pages


@dataclass(frozen=True, slots=True)
class _Piece:
    """Characters of one size at one height; `rise` is how far they are lifted off their own line."""

    text: str
    size: float
    height: float
    rise: float

    def is_above(self, line: _Piece) -> bool:
        """Whether this is a superscript of the line: lifted, or smaller and a little higher."""
        return self.rise > 0 or (self.size < 0.85 * line.size and 0.1 < (self.height - line.height) / line.size < 0.9)


def _page_text(page: PageObject) -> str:
    """The text of a page, with its superscripts told apart from what they follow."""
    from pypdf.generic import NameObject

    content = page.get_contents()
    if content is None:
        return ""
    content.operations = list(_with_breaks(content.operations))
    page[NameObject("/Contents")] = content
    pieces: list[_Piece] = []
    rises = [0.0, 0.0]  # now, and when characters were last shown

    def note_rise(operator: bytes, operands: list[Any], *_: object) -> None:
        if operator == b"Ts":
            rises[0] = float(operands[0])
        elif operator in _SHOWS:
            rises[1] = rises[0]

    def note_text(text: str, _: object, matrix: Sequence[float], __: object, size: float) -> None:
        scale = abs(matrix[3])
        pieces.append(_Piece(text, abs(size) * scale, matrix[5], rises[1]))

    text = page.extract_text(visitor_operand_before=note_rise, visitor_text=note_text)
    return _join_pieces(pieces) if "".join(piece.text for piece in pieces) == text else text


def _with_breaks(operations: Sequence[tuple[list[Any], bytes]]) -> Iterator[tuple[list[Any], bytes]]:
    """The operations of a page, each change of size or height followed by one that names the font again: it ends a piece."""
    font: list[Any] = []
    for operands, operator in operations:
        yield operands, operator
        if operator == b"Tf":
            font = operands
        elif operator in (b"Tm", b"Ts") and font:
            yield font, b"Tf"


def _join_pieces(pieces: Sequence[_Piece]) -> str:
    line: _Piece | None = None
    parts: list[str] = []
    for piece in pieces:
        bare = piece.text.strip(" ")
        if line and bare and "\n" not in bare and piece.is_above(line):
            before = "".join(parts[-3:]).rstrip(" ")
            parts[-3:] = [before, write_raised(before[-20:], bare), piece.text[len(piece.text.rstrip(" ")) :]]
        else:
            line = piece if bare.strip() else line
            parts.append(piece.text)
    return "".join(parts)


def _damage_error(name: str) -> BadInput:
    return BadInput(f"{name} is damaged: it cannot be read as PDF; save it again, or copy its text.")


def _join(pages: Sequence[Sequence[str]], name: str) -> Passage:
    """One passage: a line is joined to the next unless it is short and ends a sentence, or is a heading."""
    heads = Counter(_edge(line) for lines in pages for line in {*lines[:1], *lines[-1:]} if line)
    lines = [
        line
        for page in pages
        for place, line in enumerate(page)
        if not _PAGE_NUMBER.match(line) and not (place in (0, len(page) - 1) and heads[_edge(line)] >= _RUNNING_HEAD_PAGES)
    ]
    widths = sorted(len(line) for line in lines if line)
    full = 0.75 * widths[len(widths) * 3 // 4] if widths else 0
    writing = Writing()
    paragraph = previous_line = ""
    for line in lines:
        if _stands_alone(previous_line, line, full):
            writing.add(paragraph)
            paragraph = ""
        previous_line = line
        if not line or looks_like_heading(line):
            # An empty line within a sentence is the gap between two columns or pages.
            if line or _ENDS.search(paragraph):
                writing.add(paragraph)
                paragraph = ""
            if line:
                writing.add(line, "heading")
            continue
        paragraph = _with_line(paragraph, line)
        if len(line) < full and _ENDS.search(line):
            writing.add(paragraph)
            paragraph = ""
    writing.add(paragraph)
    return writing.done()


def _stands_alone(line: str, next_line: str, full: float) -> bool:
    """Whether a line is a title: short, without a full stop, and followed by a capital letter."""
    return bool(line) and len(line) < full and line[-1].isalnum() and next_line[:1].isupper()


def _with_line(paragraph: str, line: str) -> str:
    """A paragraph with one more line; a word split at the end of a line is rejoined."""
    if not _HYPHEN.search(paragraph):
        return f"{paragraph} {line}".strip()
    return (paragraph if _COMPOUND.search(paragraph) else paragraph[:-1]) + line


def _edge(line: str) -> str:
    """A running head with its numbers masked, since they differ from page to page."""
    return _NUMBER.sub("#", line)
