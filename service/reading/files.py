"""A paper in a file: what indexes/readers/paper.py reads, and the formats of texts to check that are not plain text."""

from __future__ import annotations

from pathlib import Path

from indexes.readers.paper import parse_paper, read_paper
from retrieval.core.paper import Paper
from service.checking.readers.reading import is_document, read_file


def read_paper_file(path: Path, format: str = "auto") -> Paper:
    """The paper in a file, also one of Word's or a PDF, whose headings begin its sections; raises `BadInput` if there is none."""
    if format != "auto" or not is_document(path):
        return read_paper(path, format)
    passage = read_file(path)
    lines = (f"{'# ' * (one.kind == 'heading')}{' '.join(passage.text[one.start : one.end].split())}" for one in passage.blocks)
    return parse_paper("\n\n".join(lines).encode(), "text", str(path))
