"""The text of JATS XML, as PubMed Central has it (https://jats.nlm.nih.gov/archiving/), in its order and block by block.

Read are the abstract and the body: the paper's own abstract, not a translation, an editor's or a summary for others. References
and the sources of formulas are left out, as are the marks that point to references and notes: a superscript 12 is not one of the
study's numbers. Tables and figures come as elements, for those who read them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

from lxml import etree

from counterpoint.indexes.readers.base.markup import add_child, add_text, find_name
from counterpoint.nli.text.headings import continue_section, find_heading_kind
from counterpoint.retrieval.core.errors import BadInput
from counterpoint.retrieval.core.values import SectionKind

FLOATS = frozenset("table-wrap fig".split())
# Elements outside the paper's running text: they hold no sentence of its argument.
_LEFT_AWAY = FLOATS | frozenset(
    "table ref-list disp-formula disp-formula-group supplementary-material media graphic inline-graphic fn fn-group tex-math "
    "label object-id sec-meta".split()
)
_GROUPS = frozenset("table-wrap-group fig-group".split())
# Elements that stand apart from the text around them, also inside a paragraph.
_BLOCKS = _GROUPS | frozenset(
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


@dataclass(frozen=True, slots=True)
class Piece:
    """A heading or a paragraph on one line, or (`element`) a table or figure that stands here; `section` is the heading above."""

    text: str
    kind: SectionKind
    section: str = ""
    heading: bool = False
    element: etree._Element | None = None


def parse_articles(stream: IO[bytes], where: str) -> Iterator[etree._Element]:
    """Every article of the XML, each once it is complete; what answers an article is inside it.

    Raises `BadInput`, in one sentence, where the XML is cut off or broken, or holds no article.
    """
    options = {"resolve_entities": False, "no_network": True, "remove_comments": True, "remove_pis": True}
    articles, found = etree.iterparse(stream, ("end",), tag="{*}article", **options), False
    try:
        for _, article in articles:
            found = True
            yield article
            _forget(article)
    except etree.XMLSyntaxError as fault:
        raise BadInput(
            f"{where} is not whole XML (line {fault.lineno or 1}: {fault.msg}): expected JATS as PubMed Central provides it; "
            "it may be cut off; fetch it again."
        ) from None
    except ValueError as error:
        raise BadInput(f"{where} cannot be read as XML ({error}): expected JATS as PubMed Central provides it.") from None
    if not found:
        raise BadInput(f"{where} is XML of another kind: expected JATS with an <article>, got <{find_name(articles.root)}>.")


def _forget(element: etree._Element) -> None:
    """Free an article and what stands before it."""
    parent = element.getparent()
    if parent is not None:
        for earlier in list(parent):
            parent.remove(earlier)


def walk(element: etree._Element, kind: SectionKind, fixed: bool = False, section: str = "") -> Iterator[Piece]:
    """The text below `element` in its order, each block by itself; `fixed` says that headings do not change the kind."""
    name = find_name(element)
    if name == "sec":
        title = read_words(find_first(element, "title"))
        kind, section = kind if fixed else _find_kind(element, title, kind), title or section
    words, floats = [element.text or ""], list[etree._Element]()
    for child in element:
        child_name = find_name(child)
        if child_name in FLOATS:
            floats.append(child)
        elif child_name not in _LEFT_AWAY and any(find_name(one) in _BLOCKS for one in child.iter()):
            yield from _finish(words, floats, kind, section, name)
            yield from walk(child, kind, fixed, section)
        else:
            add_child(child, words, is_left_away)
        words.append(child.tail or "")
    yield from _finish(words, floats, kind, section, name)


def _finish(words: list[str], floats: list[etree._Element], kind: SectionKind, section: str, name: str) -> Iterator[Piece]:
    """The block that ends here and the tables and figures that stand in it, both emptied."""
    if text := join_words(words):
        yield Piece(text, kind, section, heading=name == "title")
    for element in floats:
        yield Piece("", kind, section, element=element)
    words.clear()
    floats.clear()


def _find_kind(section: etree._Element, title: str, parent: SectionKind) -> SectionKind:
    """The kind of a section by its heading or else by its type ("materials|methods")."""
    marked = section.get("sec-type", "").replace("|", " and ").replace("-", " ")
    if marked and find_heading_kind(title) is None and (kind := find_heading_kind(marked)):
        return kind
    return continue_section(title, parent) if title else parent


def find_meta(article: etree._Element) -> etree._Element | None:
    """What the front says of the article itself."""
    return find_first(find_first(article, "front"), "article-meta")


def find_abstract(article: etree._Element) -> etree._Element | None:
    """The paper's own abstract: of several, the English one, else the one in the paper's language, by type and then by order."""
    language = article.get(_LANG, "en")
    meta = find_meta(article)
    found = [
        element
        for element in ([] if meta is None else meta)
        if find_name(element) in ("abstract", "trans-abstract") and read_words(element)
    ]

    def rank(element: etree._Element) -> tuple[bool, int, bool, bool]:
        kind = (element.get("abstract-type") or "").lower()
        title = read_words(find_first(element, "title"))
        is_other = kind not in _OWN_TYPES or bool(_OTHER_HEADING.match(title))
        spoken = element.get(_LANG, language if find_name(element) == "abstract" else "")[:2].lower()
        foreign = 0 if spoken == "en" else 1 if spoken == language[:2].lower() else 2
        return is_other, foreign, kind not in ("", "normal"), find_name(element) != "abstract"

    own = [element for element in found if not rank(element)[0]]
    return min(own or [element for element in found if element.get("abstract-type") != "graphical"], key=rank, default=None)


def replace_marks(article: etree._Element) -> None:
    """Put signs for the marks of references and notes, so that what stands around them can go with them.

    In a table the marks of its notes stay: "0.04*" is what it says.
    """
    references = {element.get("id") for element in article.iter("{*}ref")} - {None}

    def cites(element: etree._Element) -> bool:
        return find_name(element) == "xref" and (element.get("ref-type") == "bibr" or element.get("rid") in references)

    for element in list(article.iter("{*}xref", "{*}sup")):
        words = "".join(map(str, element.itertext())) if find_name(element) == "xref" else ""
        if find_name(element) == "sup" and any(map(cites, element.iter())):
            _replace(element, _RAISED)
        elif words and cites(element):
            if find_first(element, "sup", deep=True) is not None:
                _replace(element, _RAISED)
            elif _REFERENCE.fullmatch(words):
                _replace(element, f"[{_RAISED}]" if words.strip()[0] in "[(" else f"{_OPEN}{words}{_CLOSE}")
        elif words and element.get("ref-type") in _NOTES and _SYMBOL.fullmatch(words):
            if not any(find_name(outer) == "table-wrap" for outer in element.iterancestors()):
                _replace(element, _RAISED)
            elif not len(element):
                element.tag = "sup"  # a number of a note is no digit of the number before it


def _replace(element: etree._Element, text: str) -> None:
    for child in list(element):
        element.remove(child)
    element.text = text


def find_first(element: etree._Element | None, name: str, deep: bool = False) -> etree._Element | None:
    """The first child of this name, or with `deep` the first element below; None if there is none."""
    if element is None:
        return None
    return next((inner for inner in (element.iter() if deep else element) if find_name(inner) == name), None)


def read_words(element: etree._Element | None) -> str:
    """The text of an element on one line, without what is left out."""
    pieces = list[str]()
    if element is not None:
        add_text(element, pieces, is_left_away)
    return join_words(pieces)


def join_words(pieces: list[str]) -> str:
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


def is_left_away(element: etree._Element) -> bool:
    """Whether an element is not read, such as a table or a formula's source."""
    return find_name(element) in _LEFT_AWAY
