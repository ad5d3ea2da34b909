"""PDF with a text layer, by PDFium: lines are joined into paragraphs; running heads and page numbers are left out.

A file can make PDFium crash, so this is only called in a process of its own (`base.apart`).
"""

from __future__ import annotations

import ctypes
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

from indexes.readers.prose.passage import Passage, Writing, write_raised
from indexes.readers.prose.readable import is_readable
from nli.text.headings import looks_like_heading
from retrieval.core.errors import BadInput

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage, PdfTextPage  # type: ignore[import-untyped]

MOST_PAGES = 500
_RUNNING_HEAD_PAGES = 3
"""A line at the top or foot of this many pages is a running head."""
_NUMBER = re.compile(r"\d+")
_PAGE_NUMBER = re.compile(r"^(?:page\s*)?\d{1,4}(?:\s*(?:of|/)\s*\d{1,4})?$", re.IGNORECASE)
_HYPHEN = re.compile(r"(?<=\w)[-\u2010\u00ad]$")
# The first parts of compounds, a name or a number; any other word that ends a line with a hyphen was split there.
_COMPOUND = re.compile(
    r"\b(?:alpha|beta|gamma|non|low|high|long|short|well|double|single|placebo|self|post|anti|multi|evidence|population|meta|dose)-$|(?-i:[A-Z0-9])-$",
    re.IGNORECASE,
)
_ENDS = re.compile(r"""[.?!:]['"”’)\[\]\d,–-]*$""")
# Ghostscript 10.0 wrote the letters of "ff", "fi", "fl" and "ti" with their two bytes swapped.
_SWAPPED = re.compile("(?<=[a-zA-Z])[昀椀氀琀]+|[昀椀氀琀]+(?=[a-zA-Z])")
# The codes of letters that TeX joins, and of its dashes and quotation marks, in fonts that say nothing else about them.
_TEX = {
    code: letters
    for first, row in ((0x0B, "ff fi fl ffi ffl"), (0x10, "“ ” „"), (0x15, "– —"), (0x1B, "ff fi fl ffi ffl"))
    for code, letters in enumerate(row.split(), first)
}
_SAME_SIZE = 0.08
"""Lines whose sizes differ by a larger share than this are not of one paragraph."""
_WIDE = 1.3
"""A gap between two lines of this many times the usual distance separates paragraphs."""


def read_pdf(raw: bytes, name: str) -> Passage:
    """The text of a PDF; raises `BadInput` for one that is damaged, has a password or too many pages, or has no readable text."""
    import pypdfium2
    from pypdfium2.raw import FPDF_ERR_PASSWORD  # type: ignore[import-untyped]

    try:
        document = pypdfium2.PdfDocument(raw)
    except pypdfium2.PdfiumError as error:
        if error.err_code == FPDF_ERR_PASSWORD:
            raise BadInput(f"{name} has a password; save it without one.") from None
        raise BadInput(f"{name} is damaged: it cannot be read as PDF; save it again, or copy its text.") from None
    if len(document) > MOST_PAGES:
        raise BadInput(f"{name} has {len(document):,} pages and at most {MOST_PAGES} are read; check it in parts.")
    pages = [_read_page(page) for page in _load_pages(document)]
    if not any(pages):
        raise BadInput(f"{name} has no text layer, only images; recognise its text (OCR) first.")
    passage = _join(pages)
    if not is_readable(passage.text):
        raise BadInput(
            f"{name} has no readable text layer: its fonts do not say which letters they draw; recognise its text (OCR) first."
        )
    return passage


def _load_pages(document: PdfDocument) -> Iterator[PdfPage]:
    """The pages that can be loaded; one that cannot is as good as empty."""
    from pypdfium2 import PdfiumError

    for number in range(len(document)):
        try:
            page = document[number]
        except PdfiumError:
            continue
        yield page
        page.close()


@dataclass(frozen=True, slots=True)
class _Line:
    """A line with its superscripts told apart; `size` is that of most of its characters and `height` where they stand.

    `after_gap` says that the line before is further away than lines are on its page, or in another column.
    """

    text: str
    size: float
    height: float
    after_gap: bool = False


@dataclass(slots=True)
class _Piece:
    """Characters of one size at one height."""

    text: str
    size: float
    height: float

    def is_above(self, line: _Piece) -> bool:
        """Whether this is a superscript of the line: smaller and a little higher, or lifted and no larger."""
        rise = (self.height - line.height) / line.size
        return 0.1 < rise < 0.9 and (self.size < 0.85 * line.size or (self.size <= line.size and rise > 0.25))


def _read_page(page: PdfPage) -> list[_Line]:
    text, turned = page.get_textpage(), 0
    # Lines are found where the text is upright, whatever way the page is shown.
    if count := text.count_chars():
        turned = _find_rotation(text, count)
    if page.get_rotation() != turned:
        text.close()
        page.set_rotation(turned)
        text = page.get_textpage()
        count = text.count_chars()
    lines = [_join_pieces(pieces) for pieces in _split_lines(text, count, turned) if any(piece.text.strip() for piece in pieces)]
    text.close()
    return _mark_gaps(lines)


def _find_rotation(text: PdfTextPage, count: int) -> int:
    """By how many degrees the page must be turned for most of its text to be upright: 0, 90, 180 or 270."""
    from pypdfium2.raw import FPDFText_GetCharAngle

    some = range(0, count, max(1, count // 200))
    turns = Counter(round(FPDFText_GetCharAngle(text, place) / (math.pi / 2)) % 4 for place in some)
    return 90 * int(turns.most_common(1)[0][0])


def _split_lines(text: PdfTextPage, count: int, turned: int) -> Iterator[list[_Piece]]:
    """The pieces of each line, in the order in which they are drawn."""
    from pypdfium2 import raw

    page, x, y, matrix = text.raw, ctypes.c_double(), ctypes.c_double(), raw.FS_MATRIX()
    at = ctypes.byref(x), ctypes.byref(y)
    pieces: list[_Piece] = []
    for place in range(count):
        code = raw.FPDFText_GetUnicode(page, place)
        letter, ends = chr(code), False
        if code < 0x20:
            if raw.FPDFText_IsGenerated(page, place):
                ends = letter == "\n"
            elif code == 0x02 and raw.FPDFText_IsHyphen(page, place):
                letter, ends = "-", True
            else:
                letter = _TEX.get(code, letter)
        if not letter.isspace():
            raw.FPDFText_GetCharOrigin(page, place, *at)
            raw.FPDFText_GetMatrix(page, place, matrix)
            size = raw.FPDFText_GetFontSize(page, place) * math.hypot(matrix.c, matrix.d)
            height = (y.value, -x.value, -y.value, x.value)[turned // 90]
            last = pieces[-1] if pieces else None
            if last is None or abs(last.size - size) > 0.01 or abs(last.height - height) > 0.01:
                pieces.append(_Piece(letter, size or 1.0, height))
            else:
                last.text += letter
        elif pieces and letter not in "\r\n":
            pieces[-1].text += " "
        if ends:
            yield pieces
            pieces = []
    yield pieces


def _join_pieces(pieces: Sequence[_Piece]) -> _Line:
    main = max(pieces, key=lambda piece: len(piece.text))
    text = ""
    for piece in pieces:
        bare = piece.text.strip(" ")
        if text and bare and piece.is_above(main):
            before = text.rstrip(" ")
            text = before + write_raised(before[-20:], bare) + piece.text[len(piece.text.rstrip(" ")) :]
        else:
            text += f"{piece.text} " if piece.is_above(main) else piece.text
    text = _SWAPPED.sub(lambda match: "".join(chr(ord(letter) >> 8) for letter in match[0]), text)
    return _Line(text.strip(), main.size, main.height)


def _mark_gaps(lines: Sequence[_Line]) -> list[_Line]:
    drops = [above.height - below.height for above, below in pairwise(lines)]
    near = [drop for drop, line in zip(drops, lines[1:], strict=False) if 0 < drop < 3 * line.size]
    usual = median(near) if near else 0.0
    gaps = [True, *(drop > _WIDE * usual or drop < 0 for drop in drops)]
    return [_Line(line.text, line.size, line.height, gap) for line, gap in zip(lines, gaps, strict=False)]


def _join(pages: Sequence[Sequence[_Line]]) -> Passage:
    """One passage: a line is joined to the next unless it is short and ends a sentence, or is a heading.

    Small print at the foot of a page, usually footnotes, follows at the end: the sentence above goes on overleaf.
    """
    heads = Counter(_mask(line) for page in pages for line in _find_edges(page))
    sizes = Counter[float]()
    for line in (line for lines in pages for line in lines):
        sizes[round(2 * line.size) / 2] += len(line.text)
    body, frequency = sizes.most_common(1)[0]
    # Where text was recognised in a picture, every line has a size of its own, which says nothing.
    is_set = frequency > 0.4 * sizes.total()
    lines, notes = list[_Line](), list[_Line]()
    for page in pages:
        outer = {line for line in _find_edges(page) if _PAGE_NUMBER.match(line.text) or heads[_mask(line)] >= _RUNNING_HEAD_PAGES}
        kept = [line for line in page if line not in outer]
        end = len(kept)
        while is_set and end and kept[end - 1].size < (1 - _SAME_SIZE) * body:
            end -= 1
        end = end if end > len(kept) // 2 else len(kept)
        lines += kept[:end]
        notes += kept[end:]
    writing = Writing()
    for part in (lines, notes):
        _write(part, writing, is_set)
    return writing.done()


def _write(lines: Sequence[_Line], writing: Writing, is_set: bool) -> None:
    widths = sorted(len(line.text) for line in lines)
    full = 0.75 * widths[len(widths) * 3 // 4] if widths else 0
    paragraph, previous = "", _Line("", 0, 0)
    for line in lines:
        is_other = is_set and abs(line.size - previous.size) > _SAME_SIZE * line.size
        # A gap within a sentence is that between two columns or pages.
        if is_other or (line.after_gap and _ENDS.search(paragraph)) or _stands_alone(previous.text, line.text, full):
            writing.add(paragraph)
            paragraph = ""
        previous = line
        if looks_like_heading(line.text):
            writing.add(paragraph)
            writing.add(line.text, "heading")
            paragraph = ""
            continue
        paragraph = _with_line(paragraph, line.text)
        if len(line.text) < full and _ENDS.search(line.text):
            writing.add(paragraph)
            paragraph = ""
    writing.add(paragraph)


def _stands_alone(line: str, next_line: str, full: float) -> bool:
    """Whether a line is a title or a row of a table: short, without a full stop, and followed by a capital letter."""
    return bool(line) and len(line) < full and (line[-1].isalnum() or line[-1] in ")]%") and next_line[:1].isupper()


def _with_line(paragraph: str, line: str) -> str:
    """A paragraph with one more line; a word split at the end of a line is rejoined."""
    if not _HYPHEN.search(paragraph):
        return f"{paragraph} {line}".strip()
    return (paragraph if _COMPOUND.search(paragraph) else paragraph[:-1]) + line


def _find_edges(page: Sequence[_Line]) -> set[_Line]:
    """The highest and the lowest line of a page, and beside a page number the next one, too."""
    ordered = sorted(page, key=lambda line: line.height)
    ends = [*ordered[:1], *ordered[-1:]]
    for outer, inner in (ordered[:2], ordered[-1:-3:-1]) if len(ordered) > 1 else ():
        ends += [inner] if _PAGE_NUMBER.match(outer.text) else []
    return set(ends)


def _mask(line: _Line) -> tuple[str, int]:
    """A running head and where it stands, without its numbers, since they differ from page to page."""
    return _NUMBER.sub("#", line.text), round(line.height)
