"""Markdown as the text that a reader sees, by markdown-it: no markup, code or HTML; a link's address is kept with its words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from service.checking.readers.passage import BlockKind, Link, Passage, Writing
from service.checking.readers.raised import Pieces

if TYPE_CHECKING:
    from markdown_it.token import Token


def read_markdown(text: str) -> Passage:
    """The headings, paragraphs, list entries and table cells of a Markdown text; its code and its HTML are left out."""
    from markdown_it import MarkdownIt

    writing = Writing()
    tags: list[str] = []
    for token in MarkdownIt("commonmark").enable("table").parse(text):
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
        elif words := _words(token):
            pieces.add(words, raised)
    return pieces.finish()


def _words(token: Token) -> str:
    if token.type in ("text", "code_inline"):
        return token.content
    return "\n" if token.type in ("softbreak", "hardbreak") else ""
