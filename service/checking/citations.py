"""Citations in a text: PMIDs, DOIs and numbers that refer to its list of references; and a sentence without them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from retrieval.store.documents import Documents
from retrieval.store.rows import Entry
from service.checking.readers.passage import Link

# An index's own document ids may contain letters; PMIDs contain none.
_PMID = re.compile(
    r"\bPMIDs?\b\s*[:#]?\s*((?:\d{1,9}|[a-z][\w-]*\d)(?:\s*(?:[,;]|and)\s*(?:PMIDs?\b\s*[:#]?\s*)?\d{4,9}(?!\d))*)", re.IGNORECASE
)
_PUBMED = re.compile(r"pubmed\.ncbi\.nlm\.nih\.gov/(\d{1,9})|ncbi\.nlm\.nih\.gov/pubmed/(\d{1,9})", re.IGNORECASE)
_DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"<>“”]+", re.IGNORECASE)
_ADDRESS = re.compile(r"https?://\S+|\bdoi:\s*\S+", re.IGNORECASE)
_NUMBERS = re.compile(r"\[\s*(\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*)\s*\]")
_INNER = r"(?:[^()\[\]]|\([^()]*\))*"
_HOLDS = rf"(?:\bPMIDs?\b|\bPMCID\b|\bdoi\b|\b10\.\d{{4,9}}/|https?://){_INNER}"
_NAME = r"(?:[A-Z][\w'’.-]*|et al\.?|and|&|de|van|von|der)"
_AUTHOR = rf"(?:see |e\.g\.,? |reviewed in )?[A-Z][\w'’.-]+(?:,? {_NAME})*,? (?:19|20)\d{{2}}[a-z]?"
_GROUP = re.compile(rf"\s*(?:{_NUMBERS.pattern}|\({_INNER}{_HOLDS}\)|\[{_INNER}{_HOLDS}\]|\({_AUTHOR}(?:\s*[;,]\s*{_AUTHOR})*\))")
LEADING = re.compile(rf"(?:{_GROUP.pattern}[.,;]?)+\s*")
"""Citations at the beginning of a sentence: they belong to the sentence before."""
_MOST_IN_RANGE = 30


@dataclass(frozen=True, slots=True)
class CitedPaper:
    """A paper that a sentence cites: `id` is its PMID (or an index's own id), or its DOI in lower case."""

    kind: Literal["pmid", "doi"]
    id: str


def find_cited(store: Documents, citation: CitedPaper) -> Entry | None:
    """The cited document, or None if the index does not hold it; a DOI may also be a document's id."""
    entry = store.get_by_doi(citation.id) if citation.kind == "doi" else None
    return entry or store.get(citation.id)


def cited_in(text: str, links: Iterable[Link] = ()) -> tuple[CitedPaper, ...]:
    """The papers named by PMID or DOI in a text or in the addresses of its links, once each and in order."""
    citations: list[CitedPaper] = []
    for piece in (text, *(link.address for link in links)):
        at: list[tuple[int, CitedPaper]] = []
        for match in _PMID.finditer(piece):
            ids = re.findall(r"[a-z]?[\w-]*\d", match[1], re.IGNORECASE)
            at += [(match.start() + order, CitedPaper("pmid", one)) for order, one in enumerate(ids)]
        at += [(match.start(), CitedPaper("pmid", match[1] or match[2])) for match in _PUBMED.finditer(piece)]
        at += [(match.start(), CitedPaper("doi", _trim(match[0]))) for match in _DOI.finditer(piece)]
        citations += [one for _, one in sorted(at, key=lambda pair: pair[0])]
    return tuple(dict.fromkeys(citations))


def numbers_in(text: str) -> tuple[int, ...]:
    """The numbers by which a sentence cites its list of references: "[2, 4–6]" is 2, 4, 5 and 6."""
    numbers: list[int] = []
    for match in _NUMBERS.finditer(text):
        for part in re.split(r"[,;]", match[1]):
            ends = [int(one) for one in re.findall(r"\d+", part)]
            first, last = ends[0], ends[-1]
            numbers += range(first, last + 1) if first <= last < first + _MOST_IN_RANGE else ends
    return tuple(dict.fromkeys(numbers))


def without_citations(text: str) -> str:
    """The words of a sentence on one line, without its citations and addresses."""
    bare = _ADDRESS.sub(" ", _PMID.sub(" ", _GROUP.sub("", text)))
    line = " ".join(_DOI.sub(" ", bare).split())
    return re.sub(r"\s+([.,;:?!])", r"\1", re.sub(r"[(\[]\s*[,;.:]*\s*[)\]]", "", line)).strip()


def _trim(doi: str) -> str:
    """A DOI without the punctuation after it; a closing bracket is part of it if it was opened in it."""
    while doi and (doi[-1] in ".,;:'’”" or (doi[-1] in ")]" and doi.count(doi[-1]) > doi.count("(" if doi[-1] == ")" else "["))):
        doi = doi[:-1]
    return doi.lower()
