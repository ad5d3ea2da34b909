"""The sentences of a text: which of them make a claim that papers can support or contradict, and why the others do not."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from nli.text.headings import find_heading_kind, looks_like_heading
from nli.text.sentences import sentence_spans
from retrieval.core.values import SectionKind, Span
from service.checking.checkable import Reason, claim_in
from service.checking.citations import CitedPaper, cited_in, leading_citations, numbers_in
from service.checking.readers.passage import Block, Link, Passage

_LIST_HEADING = re.compile(r"^(?:references?|bibliography|literature cited|works cited|sources|further reading)\b", re.IGNORECASE)
_ENTRY = re.compile(r"^\s*(?:\[(\d{1,3})\]|\(?(\d{1,3})[.)])\s+")
_MARKER = re.compile(r"^\s*(?:[-*•–]|\(?\d{1,3}[.)]|\[\d{1,3}\])\s+")
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
    cited: tuple[CitedPaper, ...] = ()
    unresolved: tuple[int, ...] = ()
    row: int = 0


def sentences_of(passage: Passage) -> tuple[TextSentence, ...]:
    """The sentences of a text in order, including headings."""
    links = sorted(passage.links, key=_begin)
    references = _references(passage, links)
    sentences: list[TextSentence] = []
    for place, block, span, section in _spans(passage):
        start, end = span
        words = passage.text[start:end]
        citations, unresolved = list(cited_in(words, _links_within(links, start, end))), []
        for number in numbers_in(words):
            papers = references.get(number, ())
            citations += papers
            unresolved += [] if papers else [number]
        claim: str = ""
        reason: Reason | None = "references" if section == "references" else "heading"
        if section not in ("references", "heading"):
            claim, reason = claim_in(words, section, given=block.kind == "claim", whole=block.kind not in ("item", "cell"))
        one = TextSentence(
            len(sentences), place, start, end, claim, reason, tuple(dict.fromkeys(citations)), tuple(unresolved), block.row
        )
        sentences.append(one)
    return tuple(sentences)


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
            kind = find_heading_kind(bare)
            section = "references" if _LIST_HEADING.match(bare) else kind or ("other" if section == "references" else section)
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
        looks_like_heading(words) or bool(_HASH.match(words)) or bool(_LIST_HEADING.match(words) and len(words.split()) <= 3)
    ))  # fmt: skip


def _sentences(text: str, start: int, end: int) -> list[Span]:
    """The sentences of a span, each with the citations after its full stop."""
    spans: list[Span] = []
    for first, last in sentence_spans(text, start, end):
        behind = leading_citations(text, first, last) if spans else first
        if behind > first:
            spans[-1] = (spans[-1][0], first + len(text[first:behind].rstrip()))
        if behind < last:
            spans.append((behind, last))
    return spans


def _references(passage: Passage, links: Sequence[Link]) -> Mapping[int, tuple[CitedPaper, ...]]:
    """The papers that the entries of a list of references name, by the entry's number or else its position."""
    spans = [span for _, _, span, section in _spans(passage) if section == "references"]
    references: dict[int, tuple[CitedPaper, ...]] = {}
    for order, (start, end) in enumerate(_entries(passage.text, spans), 1):
        entry = passage.text[start:end]
        number = _ENTRY.match(entry)
        place = int(number[1] or number[2]) if number else order
        references.setdefault(place, cited_in(entry, _links_within(links, start, end)))
    return references


def _entries(text: str, spans: Sequence[Span]) -> Iterator[Span]:
    """The entries of a list of references; if a whole list is one block, each line is an entry."""
    for start, end in spans:
        lines = text[start:end].split("\n")
        if sum(map(bool, map(_ENTRY.match, lines))) < 2:
            yield start, end
            continue
        for line in lines:
            yield start, start + len(line)
            start += len(line) + 1


def _links_within(links: Sequence[Link], start: int, end: int) -> Sequence[Link]:
    """Those of the links, which are in the order of their beginnings, that begin within a span."""
    return links[bisect_left(links, start, key=_begin) : bisect_left(links, end, key=_begin)]


def _begin(link: Link) -> int:
    return link.start
