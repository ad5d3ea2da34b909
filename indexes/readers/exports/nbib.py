"""PubMed's own export (.nbib, "PubMed" format); https://www.nlm.nih.gov/bsd/mms/medlineelements.html."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from indexes.readers.base.fields import read_pmid
from indexes.readers.base.kinds import BOOK, CHAPTER
from indexes.readers.base.records import OnBad, Record, RecordError, make_records, raise_bad
from indexes.readers.base.source import read_text_lines
from indexes.readers.exports.entry import Fields, clean_prose, make_document, parse_author
from indexes.readers.exports.tagged import Tags, join_texts, read_tags
from retrieval.core.values import Author, Notice

_BEGINS = re.compile(r"\s*PMID *- ")
_TAG = re.compile(r"([A-Z][A-Z0-9]{1,3}) *-(?: |$)")
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
    return make_records(path, _split(path, on_bad), _make_document, on_bad)


def _split(path: Path, on_bad: OnBad) -> Iterator[tuple[str, list[str]]]:
    """The lines of each record: a PMID begins one, and so does, after an empty line, a tag that the record before has already.

    An empty line alone ends nothing: some programs leave one in the middle of an abstract.
    """
    number, began, lines, tags, after_gap = 0, 0, list[str](), set[str](), False
    for place, line in read_text_lines(path, on_bad):
        if not line.strip():
            after_gap = True
            continue
        if found := _TAG.match(line):
            if lines and (found[1] == "PMID" or (after_gap and found[1] in tags)):
                number += 1
                yield f"record {number} (line {began})", lines
                lines, tags = [], set()
            tags.add(found[1])
        began = began if lines else place
        lines.append(line)
        after_gap = False
    if lines:
        yield f"record {number + 1} (line {began})", lines


def _make_document(lines: list[str]) -> Record:
    tags = read_tags(lines, _TAG.match)
    pmid = read_pmid(join_texts(tags, "PMID"))
    if not pmid:
        raise RecordError('expected a PMID in "PMID- ", got a record without one')
    return make_document(_read_fields(tags, pmid))


def _read_fields(tags: Tags, pmid: str) -> Fields:
    title, book = join_texts(tags, "TI"), join_texts(tags, "BTI")
    return Fields(
        title=title or join_texts(tags, "TT") or book,
        abstract=join_texts(tags, "AB"),
        journal=join_texts(tags, "JT", "TA") or book,
        date=join_texts(tags, "DP"),
        authors=_read_authors(tags),
        types=[*tags.get("PT", []), *([CHAPTER if title else BOOK] if book else [])],
        mesh=[heading.lstrip("*").partition("/")[0] for heading in tags.get("MH", [])],
        notices=[Notice(kind, target) for tag, kind in _NOTICES.items() for target in _PMID.findall(join_texts(tags, tag))],
        pmid=pmid,
        doi=_find_doi(tags),
        pmcid=join_texts(tags, "PMC"),
        retracted=any(tag in tags for tag in _RETRACTING),
    )


def _read_authors(tags: Tags) -> list[Author]:
    """People by their full names, or as cited if there are none, then the groups."""
    people = [parse_author(name) for name in tags.get("FAU") or tags.get("AU", [])]
    return [*people, *(Author(clean_prose(name)) for name in tags.get("CN", []))]


def _find_doi(tags: Tags) -> str:
    """The id that is marked as a DOI, among ids of other kinds."""
    places = [*tags.get("AID", []), *join_texts(tags, "LID").split("]")]
    return next((place for place in places if "[doi" in place), "")
