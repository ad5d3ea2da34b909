"""Files that tests write for the readers, and what the readers make of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings

from counterpoint.indexes.readers import Record, SkipBad, read
from counterpoint.retrieval.core.values import Document

# Without a limit of time, as a busy machine is no fault of ours.
QUICK = settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
LONG = settings(QUICK, max_examples=100)

PYSERINI: dict[str, Any] = {"id": "7", "contents": "Rest\nBed rest did not help."}
COUNTERPOINT: dict[str, Any] = {"pmid": "7", "title": "Rest", "abstract": "Bed rest did not help."}
SCIFACT: dict[str, Any] = {"doc_id": 7, "title": "Rest", "abstract": ["Bed rest was tried.", "It did not help."]}

SET = "<PubmedArticleSet>{}</PubmedArticleSet>"


def write(folder: Path, content: str | bytes, name: str = "library") -> Path:
    """A file with this content."""
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def lines(*records: Any) -> str:
    """Objects, or raw text where a fault is wanted, one a line."""
    return "".join((item if isinstance(item, str) else json.dumps(item)) + "\n" for item in records)


def documents(path: Path, **options: Any) -> list[Document]:
    """Every document of a file."""
    return [record for record in read(path, **options) if isinstance(record, Document)]


def read_text(folder: Path, content: str | bytes, **options: Any) -> list[Document]:
    """Every document of a file with this content."""
    return documents(write(folder, content), **options)


def read_one(folder: Path, content: str | bytes, **options: Any) -> Document:
    """The one document of a file with this content."""
    [document] = read_text(folder, content, **options)
    return document


def read_leniently(path: Path, **options: Any) -> tuple[list[Record], SkipBad]:
    """Every record of a file, and what was left out of it or noted."""
    skip = SkipBad(1000)
    return list(read(path, on_bad=skip, **options)), skip


def article(inside: str = "", after: str = "", pmid: str = '<PMID Version="1">7</PMID>') -> str:
    """A citation with `inside` in its <Article> and `after` behind that."""
    citation = f"{pmid}<Article>{inside}</Article>{after}"
    return f"<PubmedArticle><MedlineCitation>{citation}</MedlineCitation></PubmedArticle>"


ARTICLE = article("<ArticleTitle>Rest</ArticleTitle><Abstract><AbstractText>Bed rest did not help.</AbstractText></Abstract>")
