"""One record of an export as a document: the parts that these formats write alike, and which records are of one paper.

In an export, a paper without an abstract is not an error, nor is one that occurs twice. Records without a PMID get an id.
"""

from __future__ import annotations

import hashlib
import html
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from indexes.readers.base.fields import (
    Omission,
    clean_text,
    find_doi,
    find_kind,
    find_pmcid,
    find_pmid,
    is_only_ids,
    is_retracted,
    mark_raised,
    read_pmid,
    strip_mark,
)
from retrieval.core.values import Author, Document, Notice

# Publishers' tags that Crossref passes on, and a few of HTML's; "p < 0.05 and q > 2" contains none of them.
_TAGS = "p|b|i|u|em|strong|sub|sup|span|div|br|sec|title|h[1-6]|italic|bold|list|list-item|label|sc"
_TAG = re.compile(rf"</?(?:jats:)?({_TAGS})(?:\s+[\w:-]+\s*=\s*(?:\"[^\"]*\"|'[^']*'))*\s*/?>", re.IGNORECASE)
_BREAKING = re.compile("p|div|br|sec|title|h[1-6]|list|list-item", re.IGNORECASE)
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
    title, abstract = clean_prose(fields.title), clean_prose(fields.abstract)
    notes = [text for text in fields.ids if text]
    ids = [line for text in notes for line in _TAG.sub("\n", text).splitlines() if is_only_ids(line)]
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
    if "<" in text:
        text = mark_raised(text)
        text = _TAG.sub(lambda tag: " " if _BREAKING.fullmatch(tag[1]) else "", text)
    if "&" in text:
        text = html.unescape(text)
    return " ".join(clean_text(text).split())


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


@dataclass(frozen=True, slots=True)
class Paper:
    """What a record says of which paper it is."""

    pmid: str
    doi: str
    title: str
    abstract: str


def is_same(paper: Paper, other: Paper) -> bool:
    """Whether two records with one DOI are the same paper: by their titles, one of which may lack the subtitle, or abstracts."""
    first, second = strip_mark(paper.title), strip_mark(other.title)
    whole = {_letters(first), _letters(second)}
    if len(whole) == 1 or "" in whole or _letters(_main(first)) == _letters(second) or _letters(_main(second)) == _letters(first):
        return True
    return _letters(paper.abstract)[:_BEGINNING] == _letters(other.abstract)[:_BEGINNING]


def _main(title: str) -> str:
    """The title without its subtitle."""
    found = _SUBTITLE.search(title.lstrip("[( "))
    return title.lstrip("[( ")[: found.start()] if found else title


def _letters(text: str) -> str:
    return "".join(letter for letter in unicodedata.normalize("NFKD", text).casefold() if letter.isalnum())
