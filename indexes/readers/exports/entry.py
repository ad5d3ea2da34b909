"""One record of an export as a document: the parts that these formats write alike, and which records are of one paper.

In an export, a paper without an abstract is not an error, nor is one that occurs twice. Records without a PMID get an id.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from counterpoint.indexes.readers.base.fields import (
    BREAK,
    Omission,
    clean_text,
    decode_entities,
    find_doi,
    find_kind,
    find_pmcid,
    find_pmid,
    is_only_ids,
    is_retracted,
    join_parts,
    read_pmid,
    strip_mark,
)
from counterpoint.nli.text.headings import looks_like_heading
from counterpoint.retrieval.core.values import Author, Document, Notice, Section

# A heading in an abstract: in tags made for one, in bold, or in plain words before a colon or on a line of their own.
_HEADING = re.compile(
    r"<(?:jats:)?(?P<tag>h[1-6]|title)\b[^<>]*>(?P<title>.{0,200}?)</(?:jats:)?(?P=tag)\s*>"
    r"|<(?:jats:)?(?P<bold>b|strong|bold)\b[^<>]*>\s*(?P<words>[^<>]{3,80}?)\s*</(?:jats:)?(?P=bold)\s*>\s*(?P<colon>:?)",
    re.IGNORECASE | re.DOTALL,
)
_LABEL = re.compile(r"(?:^|(?<=[.!?;)\]%])\s+|\n\s*)(?P<words>[A-Z][A-Za-z,/&() -]{2,60}?)[^\S\n]*(?::\s+|\n\s*)(?=\S)")
_BETWEEN_TAGS = re.compile(r"<[^<>]{1,200}>|\n")
_WHOLE = frozenset({"abstract", "summary"})
_YEAR = re.compile(r"\b(?:1[5-9]|20)[0-9]{2}\b")
# Databases write a person's initials after the family name: "van den Berg JA".
_INITIALS = re.compile(r"(?P<family>.+) (?P<given>[A-Z]{1,4}|(?:[A-Z]\.-?){1,4})\.?")


@dataclass(slots=True)
class Fields:
    """What an export says about a paper, in its own words; `ids` are notes and addresses that may be its PMID, PMCID or DOI."""

    title: str = ""
    abstract: str = ""
    journal: str = ""
    date: str = ""
    authors: Iterable[Author] = ()
    types: Iterable[str] = ()
    mesh: Iterable[str] = ()
    notices: Iterable[Notice] = ()
    pmid: str = ""
    doi: str = ""
    pmcid: str = ""
    ids: Iterable[str] = ()
    retracted: bool = False


def make_document(fields: Fields) -> Document | Omission:
    """The document, or, if it has no abstract, the omission that is counted in its place."""
    title, (abstract, sections) = clean_prose(fields.title), split_abstract(fields.abstract)
    notes = [text for text in fields.ids if text]
    ids = [line for text in notes for line in _BETWEEN_TAGS.split(text) if is_only_ids(line)]
    year = _YEAR.search(fields.date)
    doi = find_doi(fields.doi) or next(filter(None, map(find_doi, ids)), "")
    pmcid = find_pmcid(fields.pmcid) or next(filter(None, map(find_pmcid, ids)), "")
    pmid = read_pmid(fields.pmid) or next(filter(None, map(find_pmid, ids)), "")
    document_id = pmid or doi or pmcid or make_id(title, abstract, year.group() if year else "")
    if not abstract:
        return Omission(document_id)
    types = tuple(dict.fromkeys(filter(None, (find_kind(name) or clean_text(name) for name in fields.types))))
    return Document(
        pmid=document_id,
        title=title,
        abstract=abstract,
        year=int(year.group()) if year else None,
        journal=clean_prose(fields.journal),
        types=types,
        notices=tuple(fields.notices),
        sections=sections,
        retracted=fields.retracted or is_retracted("", notes=notes),
        authors=tuple(author for author in fields.authors if author.family),
        doi=doi,
        pmcid=pmcid,
        mesh=tuple(dict.fromkeys(filter(None, map(clean_text, fields.mesh)))),
    )


def make_id(title: str, abstract: str, year: str) -> str:
    """An id for a paper that has none: the same for the same title and year, whichever program exported it."""
    words = "".join(letter for letter in (strip_mark(title) or abstract).casefold() if letter.isalnum())
    return f"ref-{hashlib.sha256(f'{words} {year}'.encode()).hexdigest()[:12]}"


def clean_prose(text: str) -> str:
    """Running text on one line with single spaces, without HTML's and publishers' tags and entities."""
    return " ".join(clean_text(text).split())


def split_abstract(text: str) -> tuple[str, tuple[Section, ...]]:
    """An abstract and its sections: its headings, in markup or in plain words, become their labels."""
    text = decode_entities(text)
    headings = [*_find_headings(text)] if "<" in text else []
    if not headings:
        text = BREAK.sub("\n", text)
        headings = _find_labels(text)
    starts = [("", 0), *((label, end) for label, _, end in headings)]
    ends = [*(start for _, start, _ in headings), len(text)]
    return join_parts([(label, clean_prose(text[start:end])) for (label, start), end in zip(starts, ends, strict=True)])


def _find_headings(text: str) -> Iterator[tuple[str, int, int]]:
    """The headings that tags mark, with their offsets; words in bold are one if they name a section or end with a colon."""
    for found in _HEADING.finditer(text):
        words = clean_prose(found["title"] or found["words"] or "")
        label = words.rstrip(" :.")
        if found["tag"] or looks_like_heading(f"{label}.") or (words + found["colon"]).endswith(":"):
            yield "" if label.lower() in _WHOLE else label, *found.span()


def _find_labels(text: str) -> list[tuple[str, int, int]]:
    """The same for words before a colon: those that name a section, and beside one of these others in capital letters."""
    found = [(match["words"], match.start("words"), match.end()) for match in _LABEL.finditer(text)]
    known = [row for row in found if looks_like_heading(f"{row[0]}.")]
    known += [row for row in found if known and row not in known and row[0].isupper() and len(row[0]) > 3]
    named = [("" if label.lower() in _WHOLE else label, start, end) for label, start, end in known]
    return sorted(named, key=lambda row: row[1])


def parse_author(text: str) -> Author:
    """A name as exports write it: "Family, Given", "Family, Given, Jr.", "Family AB", or the name of a group."""
    parts = [clean_prose(part) for part in text.split(",")]
    if len(parts) > 1 and parts[0]:
        return Author(parts[0], parts[1], ", ".join(filter(None, parts[2:])))
    name = clean_prose(text).strip(", ")
    behind = _INITIALS.fullmatch(name)
    return Author(behind["family"], behind["given"]) if behind else Author(name)


_SUBTITLE = re.compile(r"[:.?!(\[–—]|\s-\s")
_BEGINNING = 200


def is_same(paper: Document, other: Document) -> bool:
    """Whether two records with one DOI are the same paper: by their titles, one of which may lack the subtitle, or abstracts."""
    first, second = strip_mark(paper.title), strip_mark(other.title)
    whole = {list_letters(first), list_letters(second)}
    if (
        len(whole) == 1
        or "" in whole
        or list_letters(_main(first)) == list_letters(second)
        or list_letters(_main(second)) == list_letters(first)
    ):
        return True
    beginning = list_letters(paper.abstract)[:_BEGINNING]
    return bool(beginning) and beginning == list_letters(other.abstract)[:_BEGINNING]


def _main(title: str) -> str:
    """The title without its subtitle."""
    found = _SUBTITLE.search(title.lstrip("[( "))
    return title.lstrip("[( ")[: found.start()] if found else title


def list_letters(text: str) -> str:
    """The letters and digits of a text in lower case, without accents: what two spellings of one title share."""
    return "".join(letter for letter in unicodedata.normalize("NFKD", text).casefold() if letter.isalnum())
