"""Reading whole papers from files, folders and archives: `for text in read_full_texts(path, on_bad): …`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from indexes.readers.base.fields import OnBad, make_records, raise_bad
from indexes.readers.full_text.article import read_article
from indexes.readers.full_text.jats import parse_articles
from retrieval.core.errors import BadInput, BadRecord
from retrieval.core.values import FullText

SUFFIXES = (".nxml", ".xml")


def read_full_texts(path: Path, on_bad: OnBad = raise_bad) -> Iterator[FullText]:
    """The papers in a file or below a folder, sorted by name; `on_bad` is told of what cannot be read, once for each.

    Raises `BadInput` for a path that is no file or folder, or a folder without a file of these kinds.
    """
    files = sorted(file for file in path.rglob("*") if file.suffix.lower() in SUFFIXES) if path.is_dir() else [path]
    if not files:
        raise BadInput(f"{path} holds no paper: expected files ending in {', '.join(SUFFIXES)}; name another folder.")
    for file in files:
        yield from _read_file(file, on_bad)


def _read_file(path: Path, on_bad: OnBad) -> Iterator[FullText]:
    try:
        with path.open("rb") as stream:
            articles = ((f"article {number}", article) for number, article in enumerate(parse_articles(stream, str(path)), 1))
            yield from make_records(path, articles, lambda article: read_article(article, path.name), on_bad)
    except BadRecord:
        raise
    except BadInput as error:
        on_bad(BadRecord(path, "the file", str(error).removeprefix(f"{path} ")))
