"""The one paper to read: a file of any format that is read elsewhere too, what was sent, or a paper of an index."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from io import BytesIO
from pathlib import Path

from counterpoint.indexes.readers.base import source
from counterpoint.indexes.readers.base.fields import RecordError
from counterpoint.indexes.readers.full_text.article import read_article as read_jats_article
from counterpoint.indexes.readers.full_text.jats import parse_articles
from counterpoint.indexes.readers.full_text.pdf import read_pdf_text
from counterpoint.indexes.readers.prose.article import read_article, read_sentences
from counterpoint.nli.long_text import list_sentences
from counterpoint.retrieval.core.characters import replace_surrogates
from counterpoint.retrieval.core.english import format_count
from counterpoint.retrieval.core.errors import BadInput
from counterpoint.retrieval.core.values import FullText, Sentence
from counterpoint.retrieval.index import Documents
from counterpoint.service.checking.parse import MOST_BYTES, read_bytes
from counterpoint.service.queries.papers import find_paper

MOST_SENTENCES = 20_000
"""A book has fewer; a file with more is not a paper, and the models would read every sentence of it."""
_JATS = re.compile(rb"<(?:\?xml|!doctype\s+article|(?:pmc-)?article|oai-pmh)", re.IGNORECASE)
_LIST = re.compile(rb"\[\s*[\"\]]")


def read_paper_file(path: Path) -> FullText:
    """The paper in a file: JATS XML, Word, PDF, HTML, Markdown, plain text or a JSON list of sentences, gzipped or not.

    Raises `BadInput`, in one sentence, if the file holds none.
    """
    with source.open_source(path) as stream:
        try:
            return parse_paper(stream.read(MOST_BYTES + 1), str(path))
        except source.READ_ERRORS as error:
            raise source.make_broken_error(path, "somewhere", error) from error


def parse_paper(raw: bytes, name: str = "The paper") -> FullText:
    """The paper in a file's content; `name` is what errors call it, and its extension may determine the format."""
    if not raw.strip():
        raise BadInput(f"{name} is empty: expected a paper.")
    start, plain = raw[:1000].lstrip(b"\xef\xbb\xbf \t\r\n"), name.lower().removesuffix(".gz")
    if _JATS.match(start) or plain.endswith((".xml", ".nxml")):
        return parse_jats(raw, name)
    if _LIST.match(start) or plain.endswith(".json"):
        return read_sentences(_parse_list(raw, name))
    if b"%PDF-" in raw[:1000] and len(raw) <= MOST_BYTES:
        with suppress(RecordError):  # no paper as it is printed, but perhaps a text that can be read all the same
            return read_pdf_text(raw, name, Path(name).name)
    return read_article(read_bytes(raw, name), Path(name).name)


def parse_jats(raw: bytes, name: str = "The paper") -> FullText:
    """The one article in JATS XML; raises `BadInput` if there are several or none."""
    if len(raw) > MOST_BYTES:
        raise BadInput(f"{name} has more than {MOST_BYTES // 1_000_000} MB: expected one paper; save it by itself.")
    [article, *others] = parse_articles(BytesIO(raw), name)
    if others:
        raise BadInput(f"{name} has {1 + len(others):,} articles: expected one paper; save each article as a file of its own.")
    try:
        return read_jats_article(article, Path(name).name)
    except RecordError as error:
        raise BadInput(f"{name} holds no paper that can be read: {error}.") from None


def _parse_list(raw: bytes, name: str) -> list[str]:
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        hint = "expected a list of sentences; it may be cut off, write it again"
        raise BadInput(f"{name} is not a whole JSON list: {hint}.") from None
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise BadInput(f"{name} contains JSON that is not a list of sentences, each a text.")
    return [replace_surrogates(one) for one in found]


def take_paper(store: Documents, id: str, documents: int) -> FullText:
    """The paper of an index that a PMID, a DOI or an id names, with its full text if the index has it."""
    entry = find_paper(store, id, documents)
    record, text = replace(entry.document, spans=tuple(entry.spans)), store.full_texts([entry.pmid]).get(entry.pmid)
    return FullText(record, text.blocks if text else (), text.format if text else "text", text.source if text else "")


def list_candidates(paper: FullText, k: int, name: str = "The paper") -> Sequence[Sentence]:
    """The sentences that may be chosen; raises `BadInput` if there are none, too many for a paper, or not `k` to choose."""
    sentences = list_sentences(paper)
    if not sentences:
        raise BadInput(f"{name} contains no sentence: expected the text of a paper; check the file and its format.")
    if len(sentences) > MOST_SENTENCES:
        raise BadInput(f"{name} has {len(sentences):,} sentences, more than {MOST_SENTENCES:,}: expected one paper.")
    if k < 1:
        raise BadInput(f"k is {k}: expected the number of sentences to choose, at least 1.")
    if k > len(sentences):
        raise BadInput(f"k is {k:,} and the paper has {format_count(len(sentences), 'sentence')}; ask for at most that many.")
    return sentences
