"""Citations in a text: PMIDs, DOIs, authors with a year, numbers of a list of references; and a sentence without them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from counterpoint.indexes.readers.base.fields import DOI, clean_doi
from counterpoint.indexes.readers.prose.passage import Link
from counterpoint.nli.text.sentences import REFERENCES
from counterpoint.retrieval.index import Documents
from counterpoint.retrieval.store.documents import Entry

# An index's own document ids may contain letters; PMIDs contain none. Every repetition over what a text may repeat is bounded,
# so that no text takes more than a time in proportion to its length.
_NAMED = r"\bPMIDs?(?![a-z])[\s:#\"]{0,5}"
_PMID = re.compile(
    rf"{_NAMED}((?:\d{{1,9}}|[a-z][\w-]{{0,99}}\d)(?:\s{{0,3}}(?:[,;]|and)\s{{0,3}}(?:{_NAMED})?\d{{4,9}}(?!\d))*)", re.IGNORECASE
)
_AGAIN, _ID = re.compile(_NAMED, re.IGNORECASE), re.compile(r"[\w-]*\d")
_PUBMED = re.compile(
    r"(?:pubmed\.ncbi\.nlm\.nih\.gov/|ncbi\.nlm\.nih\.gov/pubmed/|europepmc\.org/(?:article|abstract)/MED/)(\d{1,9})",
    re.IGNORECASE,
)
_PMCID = re.compile(r"\bPMC(?:ID)?[\s:#]{0,5}(?:PMC\s{0,3})?(\d{3,9})\b", re.IGNORECASE)
_BEHIND_DOI = re.compile(r"(?:[/.](?:full|abstract|e?pdf|html|meta|long))*(?:[?&#].*)?$")
_NUMBER = re.compile(r"\d{4,9}")
_OWN_ID = re.compile(r"[A-Za-z][\w.:-]*\d[\w.:-]*")
_ADDRESS = re.compile(r"https?://(?:[^\s<>]|<[^\s<>]{1,40}>)+|\bdoi:\s{0,3}\S+", re.IGNORECASE)
_NUMBERS = re.compile(r"\[\s*(\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*)\s*\]")
_RAISED = re.compile(rf"[.?!]['\"”’)\]]*({REFERENCES})\s*$")
_DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_BRACKETS = re.compile(r"[(\[](?:[^()\[\]]|\([^()]{0,200}\)){1,1000}[)\]]")
_HOLDS = re.compile(r"\bPMIDs?(?![a-z])|\bPMCID\b|\bdoi\b|\b10\.\d{4,9}/|https?://", re.IGNORECASE)
_NAME = r"(?:[A-Z][\w'’.-]*|et al\.?|and|&|de|van|von|der)"
_AUTHOR = rf"(?:see |e\.g\.,? |reviewed in )?[A-Z][\w'’.-]+(?:,? {_NAME})*,? (?:19|20)\d{{2}}[a-z]?"
_AUTHORS = re.compile(rf"\({_AUTHOR}(?:\s*[;,]\s*{_AUTHOR})*\)")
FAMILY = r"(?:(?:de|der|den|van|von|la|le|di|del|da|dos) ){0,3}[A-Z][\w'’-]{1,40}"
_NAMED_YEAR = re.compile(
    rf"(?P<first>{FAMILY})(?P<others>(?:, {FAMILY}){{0,6}},? (?:and|&) {FAMILY}|,? et al\.?|,? and colleagues)?"
    r",? (?P<open>[(\[])?(?P<year>(?:19|20)\d\d[a-z]?)\b"
)
_MOST_IN_RANGE = 30
_LONGEST_MARK = 60
"""The references after a full stop have at most so many characters."""


@dataclass(frozen=True, slots=True)
class CitedPaper:
    """A paper that a sentence cites.

    `id` is its PMID (or an index's own id), its PMCID, its DOI in lower case, the words of an entry in the list of references
    that names none of them, or authors and year ("Smith et al. 2010"). `entry` has the words of the entry, if there is one.
    """

    kind: Literal["pmid", "pmcid", "doi", "title", "author"]
    id: str
    entry: str = ""


def find_cited(store: Documents, citation: CitedPaper) -> Entry | None:
    """The document with the PMID, PMCID or DOI, or None if the index does not hold it; each may also be a document's own id."""
    if citation.kind == "doi":
        # An address may go on behind the DOI.
        for doi in dict.fromkeys((citation.id, _BEHIND_DOI.sub("", citation.id))):
            if entry := store.get_by_doi(doi):
                return entry
    return (store.get_by_pmcid(citation.id) if citation.kind == "pmcid" else None) or store.get(citation.id)


def named_in(text: str) -> tuple[CitedPaper, ...]:
    """The papers cited by authors and year, once each: "(Smith et al., 2010)", "Smith (2010)", but not "in March 2020"."""
    brackets = [match.span() for match in _BRACKETS.finditer(text)]
    found = [
        CitedPaper("author", " ".join(f"{match['first']} {(match['others'] or '').lstrip(',')} {match['year']}".split()))
        for match in _NAMED_YEAR.finditer(text)
        if match["others"] or match["open"] or any(start < match.start() < end for start, end in brackets)
    ]
    return tuple(dict.fromkeys(found))


def read_named(citation: CitedPaper) -> tuple[str, str, bool]:
    """The first author's family name of a citation by authors and year, the year, and whether it names more authors."""
    match = _NAMED_YEAR.match(citation.id)
    return (match["first"], match["year"], bool(match["others"])) if match else ("", "", False)


def cited_in(text: str, links: Iterable[Link] = ()) -> tuple[CitedPaper, ...]:
    """The papers named by PMID or DOI in a text or in the addresses of its links, once each and in order."""
    citations: list[CitedPaper] = []
    for piece in (text, *(link.address for link in links)):
        at: list[tuple[int, CitedPaper]] = []
        for match in _PMID.finditer(piece):
            ids = _ID.findall(_AGAIN.sub(" ", match[1]))
            at += [(match.start() + order, CitedPaper("pmid", one)) for order, one in enumerate(ids)]
        at += [(match.start(), CitedPaper("pmid", match[1])) for match in _PUBMED.finditer(piece)]
        at += [(match.start(), CitedPaper("pmcid", f"PMC{match[1]}")) for match in _PMCID.finditer(piece)]
        at += [(match.start(), CitedPaper("doi", doi)) for match in DOI.finditer(piece) if (doi := clean_doi(match[0]))]
        citations += [one for _, one in sorted(at, key=lambda pair: pair[0])]
    return tuple(dict.fromkeys(citations))


def list_ids(text: str, store: Documents | None = None) -> tuple[tuple[CitedPaper, ...], bool]:
    """The papers that a typed text names by id, and whether it has no other content.

    A number alone is a PMID, whatever blanks are in it; with a `store`, a word is a document's id if it is one there.
    """
    text = re.sub(r"\b(10\.\d{4,9})\s*/\s*", r"\1/", " ".join(text.split()))
    numbers = re.split(r"[,;\s]+", _AGAIN.sub("", text).strip(" ,;.#"))
    several = all(len(one) > 6 for one in numbers)
    if ids := [one for one in (numbers if several else ["".join(numbers)]) if _NUMBER.fullmatch(one)]:
        return tuple(CitedPaper("pmid", one) for one in ids), True
    if _OWN_ID.fullmatch(text) and store is not None and store.get(text):
        return (CitedPaper("pmid", text),), True
    found = cited_in(text)
    return found, bool(found) and not re.search(r"[^\W\d_]{3,}", re.sub("doi|pmc(?:id)?", "", without_citations(text).casefold()))


def numbers_in(text: str) -> tuple[int, ...]:
    """The numbers by which a sentence cites its list of references: "[2, 4–6]" is 2, 4, 5 and 6."""
    numbers: list[int] = []
    raised = _find_raised(text)
    for listed in (*(match[1] for match in _NUMBERS.finditer(text)), *([raised[1].strip("[]")] if raised else [])):
        for part in re.split(r"[,;]", listed):
            ends = [int(one) for one in re.findall(r"\d+", part)]
            first, last = ends[0], ends[-1]
            numbers += range(first, last + 1) if first <= last < first + _MOST_IN_RANGE else ends
    return tuple(dict.fromkeys(numbers))


def without_citations(text: str) -> str:
    """The words of a sentence on one line, without its citations and addresses."""
    if raised := _find_raised(text):
        text = text[: raised.start(1) - len(raised.string)]
    bare = _ADDRESS.sub(" ", _PMID.sub(" ", _BRACKETS.sub(lambda match: "" if _is_citation(match[0]) else match[0], text)))
    line = " ".join(DOI.sub(" ", bare).split())
    return re.sub(r"\s+([.,;:?!])", r"\1", re.sub(r"[(\[<]\s*[,;.:]*\s*[)\]>]", "", line)).strip()


def leading_citations(text: str, start: int, end: int) -> int:
    """Where the citations at the beginning of `text[start:end]` end, which belong to the sentence before; `start` without any."""
    place = start
    while (match := _BRACKETS.match(text, place, end)) and _is_citation(match[0]):
        place = match.end()
        place += text[place : place + 1] in (".", ",", ";")
        place += len(text[place:end]) - len(text[place:end].lstrip())
    return place


def _find_raised(text: str) -> re.Match[str] | None:
    """The numbers of references right after the sentence's full stop, in the last characters of the text."""
    return _RAISED.search(text[-_LONGEST_MARK:].translate(_DIGITS))


def _is_citation(bracket: str) -> bool:
    """Whether a pair of brackets holds numbers of references, authors with years, or what names a paper."""
    return bool(_NUMBERS.fullmatch(bracket) or _HOLDS.search(bracket) or _AUTHORS.fullmatch(bracket))
