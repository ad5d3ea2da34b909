"""The sentences of a text: which of them make a claim that papers can support or contradict, and why the others do not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from nli.text.headings import find_heading_kind, looks_like_heading
from nli.text.sentences import sentence_spans
from retrieval.core.paper import SectionKind
from retrieval.core.values import Span
from service.checking.checkable import Reason, claim_in
from service.checking.citations import LEADING, Cited, cited_in, numbers_in
from service.checking.readers.passage import Block, Passage

_LISTED = re.compile(r"^(?:references?|bibliography|literature cited|works cited|sources|further reading)\b", re.IGNORECASE)
_ENTRY = re.compile(r"^\s*(?:\[(\d{1,3})\]|\(?(\d{1,3})[.)])\s+")
_MARKER = re.compile(r"^\s*(?:[-*•–]|\(?\d{1,3}[.)]|\[\d{1,3}\])\s+")
# "… fever.[1] It also …": the sentence ends after the bracket.
_BRACKETED = re.compile(r"[.?!](?:\[[\d,;– -]+\])+\s+(?=[A-Z“\"])")
_HASH = re.compile(r"^#{1,6}\s+")


@dataclass(frozen=True, slots=True)
class TextSentence:
    """A sentence of a text: `text[start:end]`. `claim` is the part of it that is grounded; `reason` says why it makes no claim.

    `cited` are the papers that it names; `unresolved` are numbers of references that name no paper; `row` is its row in a list,
    from 1.
    """

    index: int
    block: int
    start: int
    end: int
    claim: str
    reason: Reason | None
    cited: tuple[Cited, ...] = ()
    unresolved: tuple[int, ...] = ()
    row: int = 0


def sentences_of(passage: Passage) -> tuple[TextSentence, ...]:
    """The sentences of a text in order, including headings."""
    numbered = _references(passage)
    found: list[TextSentence] = []
    for place, block, span, section in _spans(passage):
        start, end = span
        words = passage.text[start:end]
        links = [link for link in passage.links if start <= link.start < end]
        cited, unresolved = list(cited_in(words, links)), []
        for number in numbers_in(words):
            named = numbered.get(number, ())
            cited += named
            unresolved += [] if named else [number]
        claim: str = ""
        reason: Reason | None = "references" if section == "references" else "heading"
        if section not in ("references", "heading"):
            claim, reason = claim_in(words, section, given=block.kind == "claim", whole=block.kind not in ("item", "cell"))
        one = TextSentence(
            len(found), place, start, end, claim, reason, tuple(dict.fromkeys(cited)), tuple(unresolved), block.row
        )
        found.append(one)
    return tuple(found)


_Section = SectionKind | Literal["references", "heading"]


def _spans(passage: Passage) -> Iterator[tuple[int, Block, Span, _Section]]:
    """Each sentence with its block and the kind of its section; a heading is one sentence."""
    section: _Section = "other"
    for place, block in enumerate(passage.blocks):
        start, end = block.start, block.end
        words = passage.text[start:end]
        if block.kind == "claim":
            yield place, block, (start, end), "abstract"
        elif _is_heading(block, words):
            bare = _HASH.sub("", words).strip(" :")
            known = find_heading_kind(bare)
            section = "references" if _LISTED.match(bare) else known or ("other" if section == "references" else section)
            yield place, block, (start, end), "heading"
        else:
            marker = _MARKER.match(words) if block.kind in ("item", "paragraph") else None
            begin = start + marker.end() if marker else start
            if section == "references":
                yield place, block, (start, end), section
            else:
                yield from ((place, block, span, section) for span in _sentences(passage.text, begin, end))


def _is_heading(block: Block, words: str) -> bool:
    return block.kind == "heading" or (block.kind == "paragraph" and "\n" not in words and (
        looks_like_heading(words) or bool(_HASH.match(words)) or bool(_LISTED.match(words) and len(words.split()) <= 3)
    ))  # fmt: skip


def _sentences(text: str, start: int, end: int) -> list[Span]:
    """The sentences of a span, each with the citations after its full stop."""
    cut: list[Span] = []
    for first, last in sentence_spans(text, start, end):
        for match in _BRACKETED.finditer(text, first, last):
            cut.append((first, match.start() + len(match[0].rstrip())))
            first = match.end()
        cut.append((first, last))
    found: list[Span] = []
    for first, last in cut:
        leading = LEADING.match(text, first, last) if found else None
        if leading:
            found[-1] = (found[-1][0], first + len(leading[0].rstrip()))
            first = leading.end()
        if first < last:
            found.append((first, last))
    return found


def _references(passage: Passage) -> Mapping[int, tuple[Cited, ...]]:
    """The papers that the entries of a list of references name, by the entry's number or else its position."""
    listed = [passage.text[span[0] : span[1]] for _, _, span, section in _spans(passage) if section == "references"]
    found: dict[int, tuple[Cited, ...]] = {}
    for order, entry in enumerate(_entries(listed), 1):
        number = _ENTRY.match(entry)
        links = [link for link in passage.links if passage.text[link.start : link.end] in entry]
        found.setdefault(int(number[1] or number[2]) if number else order, cited_in(entry, links))
    return found


def _entries(listed: Sequence[str]) -> list[str]:
    """The entries of a list of references; if a whole list is one block, each line is an entry."""
    return [
        line for one in listed for line in (one.split("\n") if sum(map(bool, map(_ENTRY.match, one.split("\n")))) > 1 else [one])
    ]
