"""The text of XML elements, and what their markup says about it: which characters are raised, where a fraction's bar is."""

from __future__ import annotations

import html
from collections.abc import Callable

from lxml import etree

from counterpoint.indexes.readers.base.fields import write_raised


def find_name(element: etree._Element) -> str:
    """The element's name without its namespace; "" for comments and entities."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def add_text(element: etree._Element, pieces: list[str], is_left_away: Callable[[etree._Element], bool]) -> None:
    """Append the text of an element and of those in it to `pieces`; an exponent follows "^", what a fraction divides by "/"."""
    if element.text:
        pieces.append(element.text)
    for child in element:
        add_child(child, pieces, is_left_away)
        if child.tail:
            pieces.append(child.tail)


def add_child(child: etree._Element, pieces: list[str], is_left_away: Callable[[etree._Element], bool]) -> None:
    """Append the text of an element that follows `pieces`, unless it is left out."""
    if is_left_away(child):
        return
    tag = child.tag
    if not isinstance(tag, str):
        pieces.append(html.unescape(child.text or ""))  # an entity such as &alpha;, whose definition is not fetched
        return
    if tag == "sup" or (tag[:1] == "{" and _is_last_of(child, "msup", "msubsup")):
        raised = list[str]()
        add_text(child, raised, is_left_away)
        pieces.append(write_raised(pieces[-1] if pieces else "", "".join(raised)))
        return
    if tag == "break" or (tag == "b" and _follows_bold(child)):
        pieces.append(" ")
    elif tag[:1] == "{" and _is_last_of(child, "mfrac"):
        pieces.append("/")
    add_text(child, pieces, is_left_away)


def _is_last_of(element: etree._Element, *parents: str) -> bool:
    parent = element.getparent()
    return parent is not None and find_name(parent) in parents and parent[-1] is element


def _follows_bold(element: etree._Element) -> bool:
    """Whether it stands directly behind another bold element: case reports have their facts in bold, a line each."""
    before = element.getprevious()
    return before is not None and before.tag == "b" and not before.tail
