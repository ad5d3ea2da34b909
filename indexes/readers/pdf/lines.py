"""The lines of a PDF's pages, by PDFium: words with their places, in the order in which they are drawn."""

from __future__ import annotations

import ctypes
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from counterpoint.indexes.readers.base.raised import write_raised
from counterpoint.retrieval.core.errors import BadInput

if TYPE_CHECKING:
    from pypdfium2 import PdfPage, PdfTextPage  # type: ignore[import-untyped]

MOST_PAGES = 500
OPEN, CLOSE = "\ufdd0", "\ufdd1"
"""Around a superscript that points to a reference or a note; no text contains these characters (Unicode's noncharacters)."""
# Ghostscript 10.0 wrote the letters of "ff", "fi", "fl" and "ti" with their two bytes swapped.
_SWAPPED = re.compile("(?<=[a-zA-Z])[昀椀氀琀]+|[昀椀氀琀]+(?=[a-zA-Z])")
# The codes of letters that TeX joins, and of its dashes and quotation marks, in fonts that say nothing else about them.
_TEX = {
    code: letters
    for first, row in ((0x0B, "ff fi fl ffi ffl"), (0x10, "“ ” „"), (0x15, "– —"), (0x1B, "ff fi fl ffi ffl"))
    for code, letters in enumerate(row.split(), first)
}
_GOES_ON = re.compile(rf"{CLOSE}\s*[,;–—-]?\s*$")
_JOINED = {chr(0xFB00 + place): letters for place, letters in enumerate("ff fi fl ffi ffl st st".split())}
_BOLD = re.compile(r"bold|black|heavy|demi|[-,_](?:b|bd)$|cmb|ptmb|nimbus.*medi", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Word:
    """A word with its left and right edge, in points from the left of the page."""

    text: str
    left: float
    right: float


@dataclass(slots=True, eq=False)
class Line:
    """Words on one line; `size` and `font` are those of most of its characters, and `height` is where they stand.

    `bold` says whether the font's name does; a font without a name has one that holds on its page alone.
    """

    words: list[Word]
    size: float
    height: float
    font: str
    page: int
    bold: bool = False
    text: str = field(init=False)
    left: float = field(init=False)
    right: float = field(init=False)

    def __post_init__(self) -> None:
        self.text = " ".join(word.text for word in self.words)
        self.left, self.right = self.words[0].left, max(word.right for word in self.words)


@dataclass(slots=True)
class _Piece:
    """Characters of one size and font at one height, without a blank in them; `joined` says that none stands before them."""

    text: str
    size: float
    height: float
    font: str
    left: float
    right: float
    joined: bool

    def is_above(self, line: _Piece) -> bool:
        """Whether this is a superscript of the line: smaller and a little higher, or lifted and no larger."""
        rise = (self.height - line.height) / line.size
        return 0.1 < rise < 0.9 and (self.size < 0.85 * line.size or (self.size <= line.size and rise > 0.25))


def read_pages(raw: bytes, name: str) -> tuple[list[list[Line]], bool, dict[str, str]]:
    """The lines of each page of a PDF, whether most pages are wider than high, and what the file says of itself ("Title", …).

    Raises `BadInput` for one that is damaged, has a password, too many pages, or no text layer.
    """
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
    pages, wide = list[list[Line]](), 0
    for place in range(len(document)):
        try:
            page = document[place]
        except pypdfium2.PdfiumError:
            pages.append([])  # it is as good as empty
            continue
        pages.append(_read_page(page, place + 1))
        width, height = page.get_size()
        wide += width > 1.15 * height
        page.close()
    if not any(pages):
        raise BadInput(f"{name} has no text layer, only images; recognise its text (OCR) first.")
    return pages, wide > len(pages) / 2, document.get_metadata_dict(skip_empty=True)


def _read_page(page: PdfPage, number: int) -> list[Line]:
    text, turned = page.get_textpage(), 0
    # Lines are found where the text is upright, whatever way the page is shown.
    if count := text.count_chars():
        turned = _find_rotation(text, count)
    if page.get_rotation() != turned:
        text.close()
        page.set_rotation(turned)
        text = page.get_textpage()
        count = text.count_chars()
    lines = [_join_pieces(pieces, number) for pieces in _split_lines(text, count, turned, number) if pieces]
    text.close()
    return lines


def _find_rotation(text: PdfTextPage, count: int) -> int:
    """By how many degrees the page must be turned for most of its text to be upright: 0, 90, 180 or 270."""
    from pypdfium2.raw import FPDFText_GetCharAngle

    some = range(0, count, max(1, count // 200))
    turns = Counter(round(FPDFText_GetCharAngle(text, place) / (math.pi / 2)) % 4 for place in some)
    return 90 * int(turns.most_common(1)[0][0])


def _split_lines(text: PdfTextPage, count: int, turned: int, number: int) -> Iterator[list[_Piece]]:
    """The pieces of each line, in the order in which they are drawn."""
    from pypdfium2 import raw

    page, x, y, matrix, box = text.raw, ctypes.c_double(), ctypes.c_double(), raw.FS_MATRIX(), raw.FS_RECTF()
    at, name, flags = (ctypes.byref(x), ctypes.byref(y)), ctypes.create_string_buffer(100), ctypes.c_int()
    pieces, size, font, drawn, blank, last, ended = list[_Piece](), 1.0, "", 0, True, -1, False

    def end_piece() -> None:
        nonlocal last
        if last >= 0 and pieces:
            raw.FPDFText_GetLooseCharBox(page, last, box)
            edges = (box.right, box.top, -box.left, -box.bottom)
            pieces[-1].right = max(pieces[-1].left, edges[turned // 90])
        last = -1

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
            item = raw.FPDFText_GetTextObject(page, place)
            address = ctypes.addressof(item.contents) if item else 0
            if address != drawn or not address:
                drawn = address
                raw.FPDFText_GetMatrix(page, place, matrix)
                size = raw.FPDFText_GetFontSize(page, place) * math.hypot(matrix.c, matrix.d) or 1.0
                raw.FPDFText_GetFontInfo(page, place, name, 100, flags)
                used = raw.FPDFTextObj_GetFont(item) if item else None
                font = name.value.decode("latin-1") or f"{number}/{ctypes.addressof(used.contents) if used else 0}"
            raw.FPDFText_GetCharOrigin(page, place, *at)
            height = (y.value, -x.value, -y.value, x.value)[turned // 90]
            left = (x.value, y.value, -x.value, -y.value)[turned // 90]
            before = pieces[-1] if pieces else None
            if ended and before:
                # PDFium ends a line at a superscript.
                if abs(height - before.height) < 0.6 * max(size, before.size) and -0.3 < (left - before.right) / size < 0.6:
                    blank = blank or left - before.right > 0.12 * size
                else:
                    yield pieces
                    pieces, blank, before = [], True, None
            ended = False
            if before is None or blank or before.font != font or max(abs(before.size - size), abs(before.height - height)) > 0.01:
                end_piece()
                pieces.append(_Piece(_JOINED.get(letter, letter), size, height, font, left, left, not blank))
            else:
                before.text += _JOINED.get(letter, letter)
            blank, last = False, place
        else:
            end_piece()
            blank = blank or letter not in "\r\n"
        if ends:
            end_piece()
            ended = True
    end_piece()
    yield pieces


def _join_pieces(pieces: Sequence[_Piece], page: int) -> Line:
    letters = Counter[tuple[float, float, str]]()
    for piece in pieces:
        letters[piece.size, piece.height, piece.font] += len(piece.text)
    size, height, font = letters.most_common(1)[0][0]
    starts = [piece for piece in pieces if not piece.joined]
    if starts and pieces[0].size < 1.6 * size and sum(piece.size > 1.1 * size for piece in starts) > len(starts) / 2:
        size = pieces[0].size  # small capitals behind full ones
    main = _Piece("", size, height, font, 0, 0, False)
    words, text = list[Word](), ""
    after = False
    for piece in pieces:
        shown, is_above = piece.text, piece.is_above(main)
        if is_above and words:
            shown = write_raised(text[-20:], shown)
            if shown == f"[{piece.text}]" or _GOES_ON.search(text):
                shown = f"{OPEN}{piece.text}{CLOSE}"
        # A blank may be missing behind a superscript, and stands before one only by its own width.
        is_apart = after and not is_above and piece.joined and piece.left - words[-1].right > 0.12 * piece.size
        if words and (piece.joined or is_above) and not is_apart:
            words[-1] = Word(words[-1].text + shown, words[-1].left, piece.right)
        else:
            words.append(Word(shown, piece.left, piece.right))
        text, after = text + shown, is_above
    found = [Word(_unswap(word.text), word.left, word.right) for word in words]
    named = Counter[str]()
    for piece in pieces:
        named[piece.font] += len(piece.text)
    font = named.most_common(1)[0][0]
    return Line(found, size, height, font, page, bool(_BOLD.search(font)) and not font[:1].isdigit())


def _unswap(text: str) -> str:
    return _SWAPPED.sub(lambda match: "".join(chr(ord(letter) >> 8) for letter in match[0]), text)
