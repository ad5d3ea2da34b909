"""A file of Word, PDF, HTML or Markdown as a passage, read in a process of its own."""

from __future__ import annotations

from typing import Literal

from counterpoint.indexes.readers.base import apart
from counterpoint.indexes.readers.prose.passage import Block, Link, Passage

Kind = Literal["docx", "pdf", "html", "markdown"]
_READERS: dict[Kind, str] = {
    "docx": "docx:read_docx", "pdf": "pdf:read_pdf", "html": "markup:read_html", "markdown": "markup:read_markdown",
}  # fmt: skip


def read_apart(kind: Kind, raw: bytes, name: str) -> Passage:
    """The text of a file, HTML and Markdown in UTF-8; raises `BadInput` for one that cannot be read, or not within the limits on
    time and memory."""
    text, blocks, links = apart.read_apart(f"{__package__}.{_READERS[kind]}", raw, name)
    return Passage(text, tuple(Block(*one) for one in blocks), tuple(Link(*one) for one in links))
