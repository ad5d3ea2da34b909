"""Markdown as its reader sees it, by markdown-it, and HTML as a browser shows it, by lxml: no markup, code or scripts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lxml import etree

from counterpoint.indexes.readers.prose.passage import BlockKind, Link, Passage, Pieces, Writing

if TYPE_CHECKING:
    from markdown_it.token import Token


def read_markdown(raw: bytes, name: str) -> Passage:
    """The headings, paragraphs, list entries and table cells of a Markdown text; its code and its HTML are left out."""
    from markdown_it import MarkdownIt

    writing = Writing()
    tags: list[str] = []
    for token in MarkdownIt("commonmark").enable("table").parse(raw.decode()):
        if token.nesting > 0:
            tags.append(token.tag)
        elif token.nesting < 0:
            tags.pop()
        elif token.type == "inline":
            words, links = _render(token.children or [])
            writing.add(words, _kind(tags), links)
    return writing.done()


def _kind(tags: Sequence[str]) -> BlockKind:
    if tags and tags[-1] in ("h1", "h2", "h3", "h4", "h5", "h6"):
        return "heading"
    if tags and tags[-1] in ("td", "th"):
        return "cell"
    return "item" if "li" in tags else "paragraph"


def _render(tokens: Sequence[Token]) -> tuple[str, tuple[Link, ...]]:
    """The visible text of inline Markdown, and its links."""
    pieces = Pieces()
    start, address, raised = 0, "", False
    for token in tokens:
        if token.type == "link_open":
            start, address = len(pieces), str(token.attrGet("href") or "")
        elif token.type == "link_close":
            pieces.link(start, address)
        elif token.type == "html_inline" and token.content.lower() in ("<sup>", "</sup>"):
            raised = token.content.lower() == "<sup>"
        elif token.type in ("text", "code_inline"):
            pieces.add(token.content, raised)
        elif token.type in ("softbreak", "hardbreak"):
            pieces.add("\n", raised)
    return pieces.finish()


_NOT_SHOWN = frozenset("head title script style noscript template svg select button textarea iframe object".split())
_BLOCKS = frozenset(
    "address article aside blockquote body br caption center dd details div dl dt fieldset figcaption figure footer form h1 h2 h3"
    " h4 h5 h6 header hr html legend li main nav ol p pre section summary table tbody td tfoot th thead tr ul".split()
)
_KINDS: dict[str, BlockKind] = {
    "li": "item",
    "td": "cell",
    "th": "cell",
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), "heading"),
}
_SPACE = re.compile(r"[ \t\r\n\f]+")
_HIDDEN = re.compile(r"display\s{0,3}:\s{0,3}none", re.IGNORECASE)


def read_html(raw: bytes, name: str) -> Passage:
    """The text that is shown; every element that begins on a line of its own begins a block."""
    parser = etree.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, no_network=True)
    root = etree.fromstring(raw, parser)
    page = _Page()
    if root is not None:
        walk = etree.iterwalk(root, events=("start", "end"))
        for event, element in walk:
            if event == "start" and _is_hidden(element):
                walk.skip_subtree()
            elif event == "start":
                page.open(element)
            else:
                page.close(element, hidden=_is_hidden(element))
    return page.done()


def _is_hidden(element: etree._Element) -> bool:
    return element.tag in _NOT_SHOWN or "hidden" in element.attrib or bool(_HIDDEN.search(element.get("style", "")))


class _Page:
    """The blocks read so far, and the one that is being read."""

    def __init__(self) -> None:
        self._writing = Writing()
        self._pieces = Pieces()
        self._kinds: list[BlockKind] = []
        self._raised = 0
        self._starts: list[int] = []
        self._spaced = True

    def open(self, element: etree._Element) -> None:
        """Begin an element: its own block if it has one, and the text before its first child."""
        if element.tag in _BLOCKS:
            self._end_block()
        if element.tag in _KINDS:
            self._kinds.append(_KINDS[str(element.tag)])
        self._raised += element.tag == "sup"
        if element.tag == "a":
            self._starts.append(len(self._pieces))
        self._add(element.text or "")

    def close(self, element: etree._Element, hidden: bool) -> None:
        """End an element, and add the text after it."""
        if not hidden:
            if element.tag == "a":
                self._pieces.link(min(self._starts.pop(), len(self._pieces)), element.get("href", ""))
            self._raised -= element.tag == "sup"
            if element.tag in _BLOCKS:
                self._end_block()
            if element.tag in _KINDS:
                self._kinds.pop()
        self._add(element.tail or "")

    def done(self) -> Passage:
        """The passage."""
        self._end_block()
        return self._writing.done()

    def _add(self, text: str) -> None:
        shown = _SPACE.sub(" ", text)
        shown = shown.lstrip(" ") if self._spaced else shown
        if shown:
            self._spaced = shown.endswith(" ")
            self._pieces.add(shown, self._raised > 0)

    def _end_block(self) -> None:
        text, links = self._pieces.finish()
        self._writing.add(text, self._kinds[-1] if self._kinds else "paragraph", links)
        self._pieces, self._spaced = Pieces(), True
