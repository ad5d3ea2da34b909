"""Word's DOCX by python-docx: headings, paragraphs, list entries and table cells, in reading order."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from typing import TYPE_CHECKING
from zipfile import BadZipFile, ZipFile

from retrieval.core.errors import BadInput
from service.checking.readers.passage import BlockKind, Passage, Writing

if TYPE_CHECKING:
    from docx.oxml.xmlchemy import BaseOxmlElement
    from docx.table import Table
    from docx.text.paragraph import Paragraph

MOST_UNPACKED = 200_000_000
"""Bytes of all parts of the file, unpacked; a large file is mostly pictures."""
MOST_WRITTEN = 30_000_000
"""Bytes of its XML parts, which are held in memory as trees of about twenty times their size."""
_MOST_PARTS = 5_000
_MOST_PARAGRAPHS = 50_000
"""The longest books have fewer. Each takes half a millisecond, and a small file may contain a million empty ones."""
_DEEPEST = 4
"""Tables within tables; deeper ones are left out."""


def read_docx(raw: bytes, name: str) -> Passage:
    """The text of a DOCX file; raises `BadInput` for a file that is damaged, no DOCX, or unpacks to far more than it should."""
    _check_parts(raw, name)
    from docx import Document

    try:
        document = Document(BytesIO(raw))
        _check_paragraphs(document.element.body, name)
        writing = Writing()
        for text, kind in _blocks(document.iter_inner_content(), {}):
            writing.add(text, kind)
        return writing.done()
    except BadInput:
        raise
    except RecursionError:
        raise BadInput(f"{name} is nested too deeply to be read; save it again, or copy its text.") from None
    except Exception:
        # A damaged part may raise nearly anything: KeyError, an XML error, an error of the package's own.
        raise BadInput(f"{name} is damaged: its parts cannot be read as DOCX; save it again, or copy its text.") from None


def _check_parts(raw: bytes, name: str) -> None:
    """Refuse a ZIP bomb before anything is unpacked; zipfile never unpacks more of a part than its declared size."""
    try:
        with ZipFile(BytesIO(raw)) as archive:
            parts = archive.infolist()
    except (BadZipFile, ValueError, OSError, NotImplementedError):
        raise BadInput(f"{name} is damaged: it cannot be unpacked as DOCX; save it again, or copy its text.") from None
    if any(part.flag_bits & 1 for part in parts):
        raise BadInput(f"{name} has a password; save it without one.")
    if len(parts) > _MOST_PARTS or sum(part.file_size for part in parts) > MOST_UNPACKED:
        raise BadInput(f"{name} unpacks to more than {MOST_UNPACKED // 1_000_000} MB or {_MOST_PARTS:,} parts; copy its text.")
    if sum(part.file_size for part in parts if part.filename.endswith((".xml", ".rels"))) > MOST_WRITTEN:
        raise BadInput(f"{name} unpacks to more than {MOST_WRITTEN // 1_000_000} MB of text and marks; check it in parts.")
    if "word/document.xml" not in {part.filename for part in parts}:
        raise BadInput(f"{name} is a ZIP file, not a DOCX; give plain text, Markdown, DOCX, PDF or CSV.")


def _check_paragraphs(body: BaseOxmlElement, name: str) -> None:
    from docx.oxml.ns import qn

    if any(place >= _MOST_PARAGRAPHS for place, _ in enumerate(body.iter(qn("w:p")))):
        raise BadInput(f"{name} has more than {_MOST_PARAGRAPHS:,} paragraphs; check it in parts.")


def _blocks(
    contents: Iterator[Paragraph | Table], kinds: dict[str | None, BlockKind], depth: int = 0
) -> Iterator[tuple[str, BlockKind]]:
    from docx.table import Table

    for one in contents:
        if not isinstance(one, Table):
            yield one.text, "cell" if depth else _kind(one, kinds)
        elif depth < _DEEPEST:
            # A cell that spans several columns or rows is listed once for each.
            cells = {id(cell._tc): cell for row in one.rows for cell in row.cells}
            for cell in cells.values():
                yield from _blocks(cell.iter_inner_content(), kinds, depth + 1)


def _kind(paragraph: Paragraph, kinds: dict[str | None, BlockKind]) -> BlockKind:
    """The kind of a paragraph, by its style; `kinds` caches it for each style, because looking up a style's name is slow."""
    style = paragraph._p.style
    if style not in kinds:
        kinds[style] = _kind_of_style(paragraph)
    return kinds[style]


def _kind_of_style(paragraph: Paragraph) -> BlockKind:
    style = (paragraph.style.name or "") if paragraph.style else ""
    if style.startswith(("Heading", "Title", "Subtitle")):
        return "heading"
    return "item" if style.startswith("List") else "paragraph"
