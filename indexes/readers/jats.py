"""One article in JATS XML, as PubMed Central gives it (https://jats.nlm.nih.gov/archiving/): title, abstract, body.

References, tables, figures and formulas' markup are left out, as are the marks that point to references: a superscript 12 is not
one of the study's numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from lxml import etree

from nli.text.headings import Part, continue_section
from nli.text.sentences import sentence_spans
from retrieval.core.errors import BadInput
from retrieval.core.paper import SectionKind

# Elements outside the paper's running text: they hold no sentence of its argument.
_LEFT_AWAY = frozenset(
    "table-wrap table-wrap-group table fig fig-group ref-list disp-formula disp-formula-group supplementary-material media "
    "graphic inline-graphic fn fn-group tex-math label object-id".split()
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
    article = root if _get_tag(root) == "article" else next((one for one in root.iter() if _get_tag(one) == "article"), None)
    if article is None:
        raise BadInput(f"{where} is XML of another kind: expected JATS with an <article>, got <{_get_tag(root)}>.")
    result = JatsArticle(title=_read_words(_find_first(article, "article-title")))
    result.id = _read_words(
        next(
            (
                one
                for one in article.iter()
                if _get_tag(one) == "article-id" and one.get("pub-id-type") in ("pmc", "pmcid", "pmid")
            ),
            None,
        )
    )
    for abstract in (one for one in article.iter() if _get_tag(one) == "abstract"):
        if abstract.get("abstract-type") not in _OTHER_ABSTRACTS:
            _read_section(abstract, result, "abstract", fixed=True)
    body = next((one for one in article if _get_tag(one) == "body"), None)
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
    """The paragraphs and sections below `element`, in order; `fixed` says that headings do not change the kind."""
    for child in element:
        tag = _get_tag(child)
        if tag in _LEFT_AWAY:
            continue
        if tag == "title":
            target.add(_read_words(child), True, kind)
        elif tag == "sec":
            title = _read_words(_find_first(child, "title", deep=False))
            _read_section(child, target, kind if fixed or not title else continue_section(title, kind), fixed)
        elif tag == "p":
            target.add(_read_words(child), False, kind)
        else:
            _read_section(child, target, kind, fixed)


def _find_first(element: etree._Element, tag: str, deep: bool = True) -> etree._Element | None:
    return next((one for one in (element.iter() if deep else element) if _get_tag(one) == tag), None)


def _read_words(element: etree._Element | None) -> str:
    """The text of an element on one line, without what is left out."""
    if element is None:
        return ""
    return " ".join(_make_text(element).split())


def _make_text(element: etree._Element) -> str:
    pieces = [element.text or ""]
    for child in element:
        if not _is_left_away(child):
            pieces.append(_make_text(child))
        pieces.append(child.tail or "")
    return "".join(pieces)


def _is_left_away(element: etree._Element) -> bool:
    """Whether an element inside a paragraph is not read: a table, a formula's source, or a superscript that cites."""
    if _get_tag(element) in _LEFT_AWAY:
        return True
    cites = [one for one in element.iter() if _get_tag(one) == "xref" and one.get("ref-type") == "bibr"]
    return bool(cites) and (_get_tag(element) == "sup" or any(_get_tag(one) == "sup" for one in element.iterdescendants()))


def _get_tag(element: etree._Element) -> str:
    """The element's name without its namespace; "" for comments and entities."""
    return str(element.tag).rpartition("}")[2] if isinstance(element.tag, str) else ""
