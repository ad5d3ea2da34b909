"""Reading one paper for its evidence: sentences, plain text, or the JATS XML of PubMed Central.

Each format yields a text and its parts, headings and sentences with their offsets; what a heading stands for is the same for
all of them (nli.text.headings). Of JATS (https://jats.nlm.nih.gov/archiving/), title, abstract and body are read: the paper's
own abstract, not a translation, an editor's or a summary for others. References, tables, figures and formulas' markup are left
out, as are the marks that point to references and notes: a superscript 12 is not one of the study's numbers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

from lxml import etree

from indexes.readers.base import source
from indexes.readers.full_text import jats
from nli.text.headings import Part, find_heading_kind, looks_like_heading, place_sentences
from nli.text.roles import find_abstract_end
from nli.text.sentences import sentence_spans
from retrieval.core.characters import replace_surrogates
from retrieval.core.errors import BadInput
from retrieval.core.values import Paper, SectionKind

MOST_SENTENCES = 20_000
"""A book has fewer; a file with more is not a paper, and the models would read every sentence of it."""
MOST_BYTES = 50_000_000

Parts = tuple[str, list[Part]]
_LINE = re.compile(r"[^\n]*\n?")
_GAP = re.compile(r"\n[ \t]*\n")
_MARKDOWN = re.compile(r"#{1,6}\s+")


def read_paper(path: Path, format: str = "auto") -> Paper:
    """The paper in a file, gzipped or not; raises `BadInput`, in one sentence, if the file holds none.

    `format` is "list" (a JSON list of sentences), "lines" (a sentence per line), "text" or "jats"; "auto" goes by the file's name
    and its first character: XML, a JSON list, else text.
    """
    if format != "auto" and format not in FORMATS:
        raise BadInput(f"There is no paper format {format!r}; expected auto, {', '.join(FORMATS)}.")
    return parse_paper(_read_content(path), format, str(path))


def parse_paper(raw: bytes, format: str = "auto", where: str = "The paper") -> Paper:
    """The paper in a file's content; `where` is what errors call it."""
    return FORMATS[_detect_format(raw) if format == "auto" else format](raw, where)


def make_paper(
    sentences: Sequence[str],
    kinds: Sequence[SectionKind | None] = (),
    *,
    headings: Sequence[bool] = (),
    where: str = "The paper",
    id: str = "",
) -> Paper:
    """A paper given as its sentences, one per line of its text.

    `kinds` is what their source says about them, `headings` which of them are headings; if `headings` is empty, a short sentence
    whose words name a section is one.
    """
    texts = [" ".join(sentence.split()) for sentence in sentences]
    parts, start = [], 0
    for row, words in enumerate(texts):
        heading = headings[row] if headings else looks_like_heading(words)
        is_markdown = heading and bool(_MARKDOWN.match(words))
        parts.append(Part(start, start + len(words), heading, kinds[row] if kinds else None, is_markdown))
        start += len(words) + 1
    text = "\n".join(texts)
    return _check_paper(text, parts if kinds else mark_abstract(text, parts), where, id=id)


def mark_abstract(text: str, parts: Sequence[Part]) -> list[Part]:
    """The parts, with those of the abstract marked as such if no heading names it (nli.text.roles)."""
    if any(part.heading and find_heading_kind(text[part.start : part.end]) == "abstract" for part in parts):
        return list(parts)
    end = find_abstract_end(text, parts)
    return [replace(part, kind="abstract") if row < end else part for row, part in enumerate(parts)]


def _read_content(path: Path) -> bytes:
    with source.open_source(path) as stream:
        try:
            raw = stream.read(MOST_BYTES + 1)
        except source.READ_ERRORS as error:
            raise source.make_broken_error(path, "somewhere", error) from error
    if not raw.strip():
        raise BadInput(f"{path} is empty: expected a paper, as a list of sentences, text or JATS XML.")
    if len(raw) > MOST_BYTES:
        raise BadInput(f"{path} has more than {MOST_BYTES // 1_000_000} MB: expected one paper; split it into papers.")
    return raw


def _detect_format(raw: bytes) -> str:
    start = raw.lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(b"<"):
        return "jats"
    return "list" if re.match(rb"\[\s*(\"|\]|$)", start) or _is_json(start) else "text"


def _is_json(start: bytes) -> bool:
    """Whether this is JSON of any kind; a text may begin with a bracket too ("[Retracted] …")."""
    if not start.startswith((b"[", b"{")):
        return False
    try:
        json.loads(start)
    except (ValueError, RecursionError):
        return False
    return True


def _decode(raw: bytes, where: str) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(f"{where} is not UTF-8 text (byte {error.start}): expected UTF-8; convert it first.") from None


def _read_list(raw: bytes, where: str) -> Paper:
    try:
        data: Any = json.loads(_decode(raw, where))
    except (ValueError, RecursionError):
        raise BadInput(
            f"{where} is not a whole JSON list: expected a list of sentences; it may be cut off, write it again."
        ) from None
    if not isinstance(data, list):
        raise BadInput(f"{where} contains JSON that is not a list: expected a list of sentences, each a text.")
    for number, sentence in enumerate(data):
        if not isinstance(sentence, str):
            raise BadInput(f"{where}, entry {number}: expected a sentence as text, got {type(sentence).__name__}.")
    return make_paper(data, where=where)


def _read_lines(raw: bytes, where: str) -> Paper:
    return make_paper([line for line in _decode(raw, where).splitlines() if line.strip()], where=where)


def _read_text(raw: bytes, where: str) -> Paper:
    """Running text; a line that reads as a heading, or begins with Markdown's #, begins a section.

    What stands under references, acknowledgements and the like is not the paper's argument and is left out, as in JATS.
    """
    text = _decode(raw, where).replace("\r\n", "\n")
    parts: list[Part] = []
    body_start = 0
    for line in _LINE.finditer(text):
        words = line.group().strip()
        marker = _MARKDOWN.match(words)
        if marker or (words and looks_like_heading(words)):
            parts += [Part(*span) for span in _split_paragraphs(text, body_start, line.start())]
            start = line.start() + line.group().index(words) + (marker.end() if marker else 0)
            end = line.start() + line.group().index(words) + len(words)
            parts.append(Part(start, end, heading=True, marked=bool(marker)))
            body_start = line.end()
    parts += [Part(*span) for span in _split_paragraphs(text, body_start, len(text))]
    return _check_paper(text, mark_abstract(text, _drop_back_matter(text, parts)), where)


def _drop_back_matter(text: str, parts: Sequence[Part]) -> list[Part]:
    """The parts without those from a heading of the back matter to the next heading of a section."""
    body: list[Part] = []
    left_away = False
    for part in parts:
        kind = find_heading_kind(text[part.start : part.end]) if part.heading else None
        left_away = kind == "other" if kind else left_away
        if not left_away:
            body.append(part)
    return body


def _split_paragraphs(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The sentences of a stretch of text; a blank line always ends one."""
    spans: list[tuple[int, int]] = []
    for gap in _GAP.finditer(text, start, end):
        spans += sentence_spans(text, start, gap.start())
        start = gap.end()
    return spans + sentence_spans(text, start, end)


def _read_jats(raw: bytes, where: str) -> Paper:
    [article, *others] = jats.parse_articles(BytesIO(raw), where)
    if others:
        raise BadInput(f"{where} has {1 + len(others):,} articles: expected one paper; save each article as a file of its own.")
    jats.replace_marks(article)
    meta = jats.find_meta(article)
    numbers = [] if meta is None else [one for one in meta if one.get("pub-id-type") in ("pmc", "pmcid", "pmid")]
    abstract, body = jats.find_abstract(article), jats.find_first(article, "body")
    text, parts = "", list[Part]()
    places: list[tuple[etree._Element | None, SectionKind]] = [(abstract, "abstract")]
    places.append((body, "other" if abstract is None else "introduction"))
    for element, kind in places:
        for piece in [] if element is None else jats.walk(element, kind, fixed=element is abstract):
            if not piece.text:
                continue
            start, end = len(text), len(text) + len(piece.text)
            text += f"{piece.text}\n"
            spans = [(start, end)] if piece.heading else sentence_spans(text, start, end)
            parts += [Part(*span, piece.heading, piece.kind) for span in spans]
    title = jats.read_words(jats.find_first(jats.find_first(meta, "title-group"), "article-title"))
    return _check_paper(text, parts, where, title, next(filter(None, map(jats.read_words, numbers)), ""))


def _check_paper(text: str, parts: Sequence[Part], where: str, title: str = "", id: str = "") -> Paper:
    text = replace_surrogates(text)
    sentences = place_sentences(text, [part for part in parts if part.start < part.end])
    if not any(not sentence.heading for sentence in sentences):
        raise BadInput(f"{where} contains no sentence: expected the text of a paper; check the file and its format.")
    if len(sentences) > MOST_SENTENCES:
        raise BadInput(f"{where} has {len(sentences):,} sentences, more than {MOST_SENTENCES:,}: expected one paper.")
    return Paper(text, sentences, title, id)


FORMATS: dict[str, Callable[[bytes, str], Paper]] = {
    "list": _read_list,
    "lines": _read_lines,
    "text": _read_text,
    "jats": _read_jats,
}
