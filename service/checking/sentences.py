"""The sentences of a text: which of them make a claim that papers can support or contradict, and why the others do not."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from counterpoint.indexes.readers.prose.passage import Block, Link, Passage
from counterpoint.nli.text.headings import find_heading_kind, looks_like_heading
from counterpoint.nli.text.sentences import sentence_spans
from counterpoint.retrieval.core.characters import fold_accents
from counterpoint.retrieval.core.values import SectionKind, Span
from counterpoint.service.checking.checkable import Reason, claim_in
from counterpoint.service.checking.citations import (
    FAMILY,
    CitedPaper,
    cited_in,
    leading_citations,
    named_in,
    numbers_in,
    read_named,
)

_LIST_HEADING = re.compile(r"^(?:references?|bibliography|literature cited|works cited|sources|further reading)\b", re.IGNORECASE)
_ENTRY = re.compile(r"^\s*(?:\[(\d{1,3})\]|\(?(\d{1,3})[.)])\s+")
_FIRST = re.compile(FAMILY)
_NAMES_FIRST = re.compile(r"\s*[A-Z][\w'’-]+,? [^\n]{0,300}\b(?:19|20)\d\d")
_YEAR = re.compile(r"\b(?:19|20)\d\d[a-z]?\b")
MOST_OF_ENTRY = 500
"""The most characters of an entry in the list of references that are read."""
_MARKER = re.compile(r"^\s*(?:[-*•–]|\(?\d{1,3}[.)]|\[\d{1,3}\])\s+")
_HASH = re.compile(r"^#{1,6}\s+")


@dataclass(frozen=True, slots=True)
class TextSentence:
    """A sentence of a text: `text[start:end]`. `claim` is the part of it that is grounded; `reason` says why it makes no claim.

    `cited` are the papers that it names; `unresolved` are numbers that are in no list of references; `row` is its row in a list,
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
        # Beside a PMID or a DOI, a name is that paper's.
        for one in () if citations else named_in(words):
            citations += references.get(_key_of(*read_named(one)[:2])) or (one,)
        for number in numbers_in(words):
            papers = references.get(number, ())
            citations += papers
            unresolved += [] if papers else [number]
        claim: str = ""
        reason: Reason | None = "references" if section == "references" else "heading"
        if section not in ("references", "heading"):
            claim, reason = claim_in(words, section, given=block.kind == "claim")
        cited = tuple(dict.fromkeys(citations))
        sentences.append(TextSentence(len(sentences), place, start, end, claim, reason, cited, tuple(unresolved), block.row))
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


def _references(passage: Passage, links: Sequence[Link]) -> Mapping[int | str, tuple[CitedPaper, ...]]:
    """The papers that the entries of a list of references name, by the entry's number or else its position, and by the first
    author with the year ("smith 2010"), if only one entry has both."""
    spans = [span for _, _, span, section in _spans(passage) if section == "references"]
    references: dict[int | str, tuple[CitedPaper, ...]] = {}
    for order, (start, end) in enumerate(_entries(passage.text, spans), 1):
        entry = passage.text[start:end]
        number = _ENTRY.match(entry)
        words = " ".join(entry[number.end() if number else 0 :].split())[:MOST_OF_ENTRY]
        papers = _papers_of(words, cited_in(entry, _links_within(links, start, end)))
        references.setdefault(int(number[1] or number[2]) if number else order, papers)
        first = _FIRST.match(words)
        for year in dict.fromkeys(_YEAR.findall(words)):
            if first is None:
                break
            key = _key_of(first[0], year)
            references[key] = () if key in references else papers
    return references


def _papers_of(entry: str, cited: tuple[CitedPaper, ...]) -> tuple[CitedPaper, ...]:
    """What an entry names: one paper, unless it has several PMIDs or DOIs; "title" if it has neither."""
    if len({one.kind for one in cited}) < len(cited):
        return cited
    return (replace(cited[0], entry=entry),) if cited else (CitedPaper("title", entry, entry),)


def _key_of(family: str, year: str) -> str:
    return f"{fold_accents(family.split(' ')[-1]).lower()} {year}"


def _entries(text: str, spans: Sequence[Span]) -> Iterator[Span]:
    """The entries of a list of references; in a list that is one block, a line that begins as an entry does is a new one."""
    for start, end in spans:
        lines = list(re.finditer(r"[^\n]+", text[start:end]))
        begins = [match.start() for match in lines if _ENTRY.match(match[0])]
        if len(begins) < 2:
            begins = [match.start() for match in lines if _NAMES_FIRST.match(match[0])]
        if len(begins) < 2:
            yield start, end
            continue
        for first, behind in pairwise([*begins, end - start]):
            yield start + first, start + first + len(text[start + first : start + behind].rstrip())


def _links_within(links: Sequence[Link], start: int, end: int) -> Sequence[Link]:
    """Those of the links, which are in the order of their beginnings, that begin within a span."""
    return links[bisect_left(links, start, key=_begin) : bisect_left(links, end, key=_begin)]


def _begin(link: Link) -> int:
    return link.start
