"""One article in JATS XML, as PubMed Central gives it (https://jats.nlm.nih.gov/archiving/): title, abstract, body.

References, tables, figures and formulas' markup are left out, as are the marks that point to references: a superscript 12 is not
one of the study's numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from lxml import etree

from indexes.readers.markup import add_child, add_text, find_name
from nli.text.headings import Part, continue_section, find_heading_kind
from nli.text.sentences import sentence_spans
from retrieval.core.errors import BadInput
from retrieval.core.paper import SectionKind

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
# Types of further abstracts that are not the main one.
_OTHER_ABSTRACTS = frozenset("graphical teaser toc key-points highlights video".split())


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


def read(raw: bytes, where: str) -> JatsArticle:
    """The first article of the XML; raises `BadInput`, in one sentence, if the XML is cut off, broken or of another kind."""
    root = _parse(raw, where)
    article = root if find_name(root) == "article" else _find_first(root, "article", deep=True)
    if article is None:
        raise BadInput(f"{where} is XML of another kind: expected JATS with an <article>, got <{find_name(root)}>.")
    # What answers the article (reviews, letters, replies) is inside it, with a front of its own.
    meta = _find_first(_find_first(article, "front"), "article-meta")
    result = JatsArticle(title=_read_words(_find_first(_find_first(meta, "title-group"), "article-title")))
    for one in [] if meta is None else meta:
        if find_name(one) == "article-id" and one.get("pub-id-type") in ("pmc", "pmcid", "pmid"):
            result.id = result.id or _read_words(one)
        if find_name(one) == "abstract" and one.get("abstract-type") not in _OTHER_ABSTRACTS:
            _read_section(one, result, "abstract", fixed=True)
    body = _find_first(article, "body")
    if body is not None:
        _read_section(body, result, "introduction" if result.parts else "other", fixed=False)
    return result


def _parse(raw: bytes, where: str) -> etree._Element:
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
        if any(find_name(one) in _BLOCKS for one in child.iter()) and not _is_left_away(child):
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
    return next((one for one in (element.iter() if deep else element) if find_name(one) == name), None)


def _read_words(element: etree._Element | None) -> str:
    """The text of an element on one line, without what is left out."""
    pieces = list[str]()
    if element is not None:
        add_text(element, pieces, _is_left_away)
    return _join_words(pieces)


def _join_words(pieces: list[str]) -> str:
    return " ".join("".join(pieces).split())


def _is_left_away(element: etree._Element) -> bool:
    """Whether an element is not read: a table, a formula's source, or a superscript that cites."""
    name = find_name(element)
    if name in _LEFT_AWAY:
        return True
    cites = [one for one in element.iter() if find_name(one) == "xref" and one.get("ref-type") == "bibr"]
    return (name == "sup" and bool(cites)) or (
        name == "xref" and bool(cites) and _find_first(element, "sup", deep=True) is not None
    )
