"""Reading whole papers from files, folders and archives: `for text in read_full_texts(path, on_bad): …`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from io import BytesIO
from pathlib import Path

from counterpoint.indexes.readers.base.fields import OnBad, make_records, raise_bad
from counterpoint.indexes.readers.full_text.archives import find_files
from counterpoint.indexes.readers.full_text.article import read_article
from counterpoint.indexes.readers.full_text.jats import parse_articles
from counterpoint.indexes.readers.full_text.pdf import read_pdf_text
from counterpoint.retrieval.core.errors import BadInput, BadRecord
from counterpoint.retrieval.core.values import FullText


def read_full_texts(path: Path, on_bad: OnBad = raise_bad) -> Iterator[FullText]:
    """The papers in a file, an archive or below a folder of both, sorted by name; `on_bad` is told once of each that cannot
    be read.

    Raises `BadInput` for a path that is no file or folder, or a folder without a file of these kinds.
    """
    for name, raw in find_files(path, on_bad):
        source = name if "!" in name else Path(name).name
        try:
            if b"%PDF-" in raw[:1024]:
                yield from make_records(Path(name), [("the file", raw)], partial(read_pdf_text, name=name, source=source), on_bad)
                continue
            if name.lower().endswith(".pdf"):
                on_bad(
                    BadRecord(
                        Path(name), "the file", "expected a PDF, got another kind of file, perhaps a web page; fetch it again"
                    )
                )
                continue
            articles = ((f"article {number}", one) for number, one in enumerate(parse_articles(BytesIO(raw), name), 1))
            yield from make_records(Path(name), articles, partial(read_article, source=source), on_bad)
        except BadRecord:
            raise
        except BadInput as error:
            on_bad(BadRecord(Path(name), "the file", str(error).removeprefix(f"{name} ")))
