"""A file of Word, PDF, HTML or Markdown as a passage, read in a process of its own."""

from __future__ import annotations

from typing import Any, Literal

from indexes.readers.base import apart
from indexes.readers.prose.passage import Block, Link, Passage, check_length


def read_apart(kind: Literal["docx", "pdf", "html", "markdown"], raw: bytes, name: str) -> Passage:
    """The text of a file; raises `BadInput` for one that cannot be read, or not within the limits on time and memory."""
    text, blocks, links = apart.read_apart(f"{__name__}:encode_{kind}", raw, name)
    return Passage(text, tuple(Block(*one) for one in blocks), tuple(Link(*one) for one in links))


def encode_docx(raw: bytes, name: str) -> Any:
    """The passage of a Word file, as JSON; the same for the other formats below."""
    from indexes.readers.prose.docx import read_docx

    return _encode(read_docx(raw, name), name)


def encode_pdf(raw: bytes, name: str) -> Any:
    """PDF."""
    from indexes.readers.prose.pdf import read_pdf

    return _encode(read_pdf(raw, name), name)


def encode_html(raw: bytes, name: str) -> Any:
    """HTML in UTF-8."""
    from indexes.readers.prose.markup import read_html

    return _encode(read_html(raw.decode()), name)


def encode_markdown(raw: bytes, name: str) -> Any:
    """Markdown in UTF-8."""
    from indexes.readers.prose.markup import read_markdown

    return _encode(read_markdown(raw.decode()), name)


def _encode(passage: Passage, name: str) -> Any:
    check_length(passage.text, name)
    blocks = [(one.start, one.end, one.kind, one.row) for one in passage.blocks]
    return passage.text, blocks, [(one.start, one.end, one.address) for one in passage.links]
