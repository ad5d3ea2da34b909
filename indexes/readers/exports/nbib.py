"""PubMed's own export (.nbib, "PubMed" format), read by Biopython; https://www.nlm.nih.gov/bsd/mms/medlineelements.html."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from indexes.readers.base.kinds import BOOK, CHAPTER
from indexes.readers.base.records import OnBad, Record, raise_bad
from indexes.readers.base.source import read_text_lines
from indexes.readers.exports.entry import Fields, clean_pmid, make_document, parse_author
from retrieval.core.errors import BadRecord
from retrieval.core.values import Author, Notice

_Tags = dict[str, str | list[str]]

_BEGINS = re.compile(r"\s*PMID ?- ")
_PMID = re.compile(r"PMID:\s*([0-9]{1,9})")
# The tags of PubMed's notices, and their names in its XML.
_NOTICES = {
    "CIN": "CommentIn", "CON": "CommentOn", "EIN": "ErratumIn", "EFR": "ErratumFor", "RIN": "RetractionIn", "ROF": "RetractionOf",
    "PRIN": "PartialRetractionIn", "PROF": "PartialRetractionOf", "CRI": "CorrectedandRepublishedIn",
    "CRF": "CorrectedandRepublishedFrom", "RRI": "RetractedandRepublishedIn", "RRF": "RetractedandRepublishedFrom",
    "RPI": "RepublishedIn", "RPF": "RepublishedFrom", "UIN": "UpdateIn", "UOF": "UpdateOf",
    "ECI": "ExpressionOfConcernIn", "ECF": "ExpressionOfConcernFor",
}  # fmt: skip
_RETRACTING = ("RIN", "RRI")


def is_nbib(head: str) -> bool:
    """Whether a file begins like PubMed's export."""
    return bool(_BEGINS.match(head))


def read(path: Path, on_bad: OnBad = raise_bad) -> Iterator[Record]:
    """The records of one file, in its order."""
    from Bio import Medline

    number, lines = 0, (line for _, line in read_text_lines(path))
    for record in Medline.parse(lines):  # type: ignore[no-untyped-call]  # Biopython has no types
        number += 1
        pmid = clean_pmid(_join(record, "PMID"))
        if not pmid:
            on_bad(BadRecord(path, f"record {number}", 'expected a PMID in "PMID- ", got a record without one'))
            continue
        yield make_document(_read_fields(record, pmid))


def _read_fields(record: _Tags, pmid: str) -> Fields:
    title, book = _join(record, "TI"), _join(record, "BTI")
    return Fields(
        title=title or _join(record, "TT") or book,
        abstract=_join(record, "AB"),
        journal=_join(record, "JT") or _join(record, "TA") or book,
        date=_join(record, "DP"),
        authors=_read_authors(record),
        types=[*_list(record, "PT"), *([CHAPTER if title else BOOK] if book else [])],
        mesh=[heading.lstrip("*").partition("/")[0] for heading in _list(record, "MH")],
        notices=[
            Notice(kind, target) for tag, kind in _NOTICES.items() for target in _PMID.findall(" ".join(_list(record, tag)))
        ],
        pmid=pmid,
        doi=_find_doi(record),
        pmcid=_join(record, "PMC"),
        retracted=any(tag in record for tag in _RETRACTING),
    )


def _read_authors(record: _Tags) -> list[Author]:
    """People by their full names, or as cited if there are none, then the groups."""
    people = [parse_author(name) for name in _list(record, "FAU") or _list(record, "AU")]
    return [*people, *(Author(name.strip()) for name in _list(record, "CN"))]


def _find_doi(record: _Tags) -> str:
    """The id that is marked as a DOI, among ids of other kinds."""
    places = [*_list(record, "AID"), *_join(record, "LID").split("]")]
    return next((place for place in places if "[doi" in place), "")


def _list(record: _Tags, tag: str) -> list[str]:
    value = record.get(tag, [])
    return [value] if isinstance(value, str) else value


def _join(record: _Tags, tag: str) -> str:
    return " ".join(_list(record, tag)).strip()
