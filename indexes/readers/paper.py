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
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lxml import etree

from indexes.readers.base import source
from indexes.readers.markup import add_child, add_text, find_name
from nli.text.headings import Part, continue_section, find_heading_kind, looks_like_heading, place_sentences
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
    article = _parse_jats(raw, where)
    return _check_paper(article.text, article.parts, where, article.title, article.id)


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


# Elements outside the paper's running text: they hold no sentence of its argument.
_LEFT_AWAY = frozenset(
    "table-wrap table-wrap-group table fig fig-group ref-list disp-formula disp-formula-group supplementary-material media "
    "graphic inline-graphic fn fn-group tex-math label object-id sec-meta".split()
)
# Elements that stand apart from the text around them, also inside a paragraph.
_BLOCKS = frozenset(
    "p title sec list list-item def-list def-item term def disp-quote boxed-text statement speech speaker verse-group verse-line "
    "preformat attrib app-group app ack".split()
)
# An abstract of another type, or under such a heading, is not the paper's own unless there is no other.
_OWN_TYPES = ("", "normal", "main", "structured", "section", "summary", "short", "executive-summary", "longsummary", "precis")
_OTHER_HEADING = re.compile(
    r"(?:research )?highlights|key (?:points|messages)|(?:author|editor|lay|plain|graphical|visual|video|teaser|significance)\b"
    r"|what (?:is|this|are)\b|résumé|resumen|zusammenfassung|resumo|riassunto|samenvatting",
    re.IGNORECASE,
)
_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
# Marks are replaced by characters that no text contains (Unicode's noncharacters): a raised one, and both ends of another.
_RAISED, _OPEN, _CLOSE = "\ufdd0", "\ufdd1", "\ufdd2"
_NOTES = frozenset("table-fn fn author-notes corresp aff".split())
_SYMBOL = re.compile(r"\W{0,4}(?:\w|[*†‡§¶#‖]{1,3}|\d{1,3})\W{0,2}")
_REFERENCE = re.compile(r"\W{0,3}[A-Z]?\d{1,4}[a-z*†]{0,2}\W{0,2}(?:\s*[,–—-]\s*\d{1,4})*\W{0,2}")
_BETWEEN = r"[\s,;:–—−‐-]*"
_ONE = rf"(?:{_RAISED}|{_OPEN}[^{_CLOSE}]*{_CLOSE})"
_IN_BRACKETS = rf"[\[(]{_BETWEEN}{_ONE}(?:{_BETWEEN}{_ONE})*{_BETWEEN}[\])]"
_MARKS = re.compile(
    rf"(?P<before>[,;]?\s*)(?:{_IN_BRACKETS}(?:{_BETWEEN}{_IN_BRACKETS})*|{_RAISED}(?:{_BETWEEN}{_RAISED})*"
    # A number that a style raises; one that stands by itself may be a word of the sentence ("as in reference 12").
    rf"|(?<=[^\s\[(/–—-]){_OPEN}[^{_CLOSE}]*{_CLOSE}(?:\s*[,;–—-]\s*{_ONE})*)(?P<after>\s*[.,;:!?)\]]?)"
)
_ENDS_OF_MARKS = re.compile(f"[{_OPEN}{_CLOSE}]")


@dataclass(slots=True)
class JatsArticle:
    """What was read: `text` with one paragraph or heading per line, and the sentences in it."""

    text: str = ""
    parts: list[Part] = field(default_factory=list)
    title: str = ""
    id: str = ""

    def add(self, words: str, heading: bool, kind: SectionKind | None) -> None:
        """Append a heading, or a paragraph split into sentences, to the text."""
        if not words:
            return
        start = len(self.text)
        self.text += f"{words}\n"
        spans = [(start, start + len(words))] if heading else sentence_spans(self.text, start, start + len(words))
        self.parts += [Part(*span, heading, kind) for span in spans]


def _parse_jats(raw: bytes, where: str) -> JatsArticle:
    """The article of the XML; raises `BadInput`, in one sentence, if the XML is cut off, broken, or not of one article."""
    root = _parse_tree(raw, where)
    articles = [root] if find_name(root) == "article" else [inner for inner in root.iter() if find_name(inner) == "article"]
    if not articles:
        raise BadInput(f"{where} is XML of another kind: expected JATS with an <article>, got <{find_name(root)}>.")
    if len(articles) > 1:
        raise BadInput(f"{where} has {len(articles):,} articles: expected one paper; save each article as a file of its own.")
    article = articles[0]
    _replace_marks(article)
    # What answers the article (reviews, letters, replies) is inside it, with a front of its own.
    meta = _find_first(_find_first(article, "front"), "article-meta")
    result = JatsArticle(title=_read_words(_find_first(_find_first(meta, "title-group"), "article-title")))
    for element in [] if meta is None else meta:
        if find_name(element) == "article-id" and element.get("pub-id-type") in ("pmc", "pmcid", "pmid"):
            result.id = result.id or _read_words(element)
    abstract = None if meta is None else _find_abstract(meta, article.get(_LANG, "en"))
    if abstract is not None:
        _read_section(abstract, result, "abstract", fixed=True)
    body = _find_first(article, "body")
    if body is not None:
        _read_section(body, result, "introduction" if result.parts else "other", fixed=False)
    return result


def _find_abstract(meta: etree._Element, language: str) -> etree._Element | None:
    """The paper's own abstract: of several, the English one, else the one in the paper's language, by type and then by order."""
    found = [element for element in meta if find_name(element) in ("abstract", "trans-abstract") and _read_words(element)]

    def rank(element: etree._Element) -> tuple[bool, int, bool, bool]:
        kind = (element.get("abstract-type") or "").lower()
        title = _read_words(_find_first(element, "title"))
        is_other = kind not in _OWN_TYPES or bool(_OTHER_HEADING.match(title))
        spoken = element.get(_LANG, language if find_name(element) == "abstract" else "")[:2].lower()
        foreign = 0 if spoken == "en" else 1 if spoken == language[:2].lower() else 2
        return is_other, foreign, kind not in ("", "normal"), find_name(element) != "abstract"

    own = [element for element in found if not rank(element)[0]]
    return min(own or [element for element in found if element.get("abstract-type") != "graphical"], key=rank, default=None)


def _replace_marks(article: etree._Element) -> None:
    """Put signs for the marks of references and notes, so that what stands around them can go with them."""
    references = {element.get("id") for element in article.iter() if find_name(element) == "ref"} - {None}

    def cites(element: etree._Element) -> bool:
        return find_name(element) == "xref" and (element.get("ref-type") == "bibr" or element.get("rid") in references)

    for element in list(article.iter()):
        words = "".join(map(str, element.itertext())) if find_name(element) == "xref" else ""
        if find_name(element) == "sup" and any(map(cites, element.iter())):
            _replace(element, _RAISED)
        elif words and cites(element):
            if _find_first(element, "sup", deep=True) is not None:
                _replace(element, _RAISED)
            elif _REFERENCE.fullmatch(words):
                _replace(element, f"[{_RAISED}]" if words.strip()[0] in "[(" else f"{_OPEN}{words}{_CLOSE}")
        elif words and element.get("ref-type") in _NOTES and _SYMBOL.fullmatch(words):
            _replace(element, _RAISED)


def _replace(element: etree._Element, text: str) -> None:
    for child in list(element):
        element.remove(child)
    element.text = text


def _parse_tree(raw: bytes, where: str) -> etree._Element:
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True)
    try:
        return etree.fromstring(raw, parser)
    except etree.XMLSyntaxError as error:
        line = error.lineno or 1
        raise BadInput(
            f"{where} is not whole XML (line {line}: {error.msg}): expected JATS as PubMed Central provides it; "
            "it may be cut off; fetch it again."
        ) from None
    except ValueError as error:
        raise BadInput(f"{where} cannot be read as XML ({error}): expected JATS as PubMed Central provides it.") from None


def _read_section(element: etree._Element, target: JatsArticle, kind: SectionKind, fixed: bool) -> None:
    """The text below `element` in its order, each block by itself; `fixed` says that headings do not change the kind."""
    name = find_name(element)
    if name == "sec" and not fixed:
        kind = _find_kind(element, kind)
    words = [element.text or ""]
    for child in element:
        if any(find_name(inner) in _BLOCKS for inner in child.iter()) and not _is_left_away(child):
            target.add(_join_words(words), name == "title", kind)
            words = []
            _read_section(child, target, kind, fixed)
        else:
            add_child(child, words, _is_left_away)
        words.append(child.tail or "")
    target.add(_join_words(words), name == "title", kind)


def _find_kind(section: etree._Element, parent: SectionKind) -> SectionKind:
    """The kind of a section by its heading or else by its type ("materials|methods")."""
    title = _read_words(_find_first(section, "title"))
    marked = section.get("sec-type", "").replace("|", " and ").replace("-", " ")
    if marked and find_heading_kind(title) is None and (kind := find_heading_kind(marked)):
        return kind
    return continue_section(title, parent) if title else parent


def _find_first(element: etree._Element | None, name: str, deep: bool = False) -> etree._Element | None:
    """The first child of this name, or with `deep` the first element below; None if there is none."""
    if element is None:
        return None
    return next((inner for inner in (element.iter() if deep else element) if find_name(inner) == name), None)


def _read_words(element: etree._Element | None) -> str:
    """The text of an element on one line, without what is left out."""
    pieces = list[str]()
    if element is not None:
        add_text(element, pieces, _is_left_away)
    return _join_words(pieces)


def _join_words(pieces: list[str]) -> str:
    """One line of text, without marks of references and what separated or enclosed them."""
    text = "".join(pieces)
    if _RAISED in text or _OPEN in text:
        text = _ENDS_OF_MARKS.sub("", _MARKS.sub(_drop_marks, text))
    return " ".join(text.split())


def _drop_marks(marks: re.Match[str]) -> str:
    """What remains of marks and the punctuation around them: one sign, and a full stop only if none stands before."""
    sign = marks["after"].strip()
    if not sign:
        return marks["before"] + marks["after"]
    return "" if sign == "." and marks.string[: marks.start()].endswith(".") else sign


def _is_left_away(element: etree._Element) -> bool:
    """Whether an element is not read, such as a table or a formula's source."""
    return find_name(element) in _LEFT_AWAY
