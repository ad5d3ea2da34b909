"""Exports whose lines begin with a tag: RIS and PubMed's own (.nbib).

Every reference manager and database exports RIS, some with one blank after the tag instead of two. PubMed's tags:
https://www.nlm.nih.gov/bsd/mms/medlineelements.html.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from re import Match

from counterpoint.indexes.readers.base.fields import BOOK, CHAPTER, OnBad, Record, RecordError, make_records, raise_bad, read_pmid
from counterpoint.indexes.readers.base.source import read_text_lines
from counterpoint.indexes.readers.exports.entry import Fields, clean_prose, make_document, parse_author
from counterpoint.retrieval.core.errors import BadInput, BadRecord
from counterpoint.retrieval.core.values import Author, Notice

Tags = dict[str, list[str]]
"""The texts of each tag, in their order."""


def read_tags(lines: Iterable[str], match_tag: Callable[[str], Match[str] | None]) -> Tags:
    """The tags of one record; `match_tag` finds one at the beginning of a line.

    A line without a tag continues the text before it, on a line of its own, so all that follows the first tag is kept.
    """
    tags: dict[str, list[list[str]]] = {}
    text = list[str]()
    for line in lines:
        if found := match_tag(line):
            text = [line[found.end() :].strip()]
            tags.setdefault(found[1], []).append(text)
        elif line.strip():
            text.append(line.strip())
    return {tag: ["\n".join(text) for text in texts] for tag, texts in tags.items()}


def join_texts(tags: Tags, *names: str) -> str:
    """All texts of the first of these tags that has any, joined by line breaks."""
    return next((text for name in names if (text := "\n".join(tags.get(name, ())).strip())), "")


_TYPE = re.compile(r"TY( {1,2}|\t)-(?: |$|(?=[A-Z]))")
# A line of an abstract may begin like the last tag: "ER - positive tumours".
_END = re.compile(r"ER(?: {0,2}|\t)-\s*$")
_RIS_TAG = re.compile(r"((?!ER)[A-Z][A-Z0-9])  -(?: |$|(?=\S))")
_RIS_BEGINS = re.compile(rf"^{_TYPE.pattern}", re.MULTILINE)
_NLM = re.compile(r"pubmed|medline|\bnlm\b", re.IGNORECASE)
# The full name before abbreviations.
_JOURNALS = ("JF", "T2", "JO", "JA", "J2")
_IDS = ("UR", "N1", "C2", "C7", "M1", "M3", "AN", "RN", "U1", "C5")
_SHORTEST = 7
"""Digits in a PMID, at least, where nothing but the tag tells that it is one: the tag may hold a user's own number."""


def is_ris(head: str) -> bool:
    """Whether a text contains the line that gives a record's type, or begins with another tag of RIS."""
    head = head.lstrip()
    return not head.startswith(("{", "[", "<")) and bool(_RIS_BEGINS.search(head) or _RIS_TAG.match(head))


def read_ris(path: Path, on_bad: OnBad = raise_bad) -> Iterator[Record]:
    """The records of one file, in its order; a file without records is refused."""
    return make_records(path, _split_ris(path, on_bad), _make_ris_document, on_bad)


def _split_ris(path: Path, on_bad: OnBad) -> Iterator[tuple[str, list[str]]]:
    """The lines of each record, from the end of the one before to its own, or to the next type where the end is missing."""
    number, began, lines, blanks = 0, 0, list[str](), ""
    for place, line in read_text_lines(path, on_bad):
        if (found := _TYPE.match(line)) and blanks in ("", found[1]):
            if blanks:
                number += 1
                yield f"record {number} (line {began})", [*lines, line]
            # Some databases write a heading, or a number, before a record.
            if blanks or not any(map(_begins_with_tag, lines)):
                lines = []
            blanks = found[1]
        if lines or line.strip():
            began = began if lines else place
            lines.append(line)
        if _END.match(line):
            if len(lines) > 1:
                number += 1
                yield f"record {number} (line {began})", lines
            lines, blanks = [], ""
    if blanks or any(map(_begins_with_tag, lines)):
        hint = "expected `ER  - ` at the end of the record, reached the end of the file; it is cut off, so export it again."
        raise BadRecord(path, f"the record in line {began}", hint)
    if not number:
        raise BadInput(f"{path} holds no RIS record: expected lines that begin with `TY  - ` and no indent; export it again.")


def _begins_with_tag(line: str) -> bool:
    return bool(_RIS_TAG.match(line) or _short_tag().match(line))


def _make_ris_document(lines: list[str]) -> Record:
    kind = next(filter(None, map(_TYPE.match, lines)), None)
    if kind is None:
        raise RecordError("expected `TY  - ` before `ER  - `, got a record without a type")
    if not _END.match(lines[-1]):
        raise RecordError(f"expected `ER  - ` at the end of the record, got another type ({lines[-1].strip()[:40]})")
    match_tag = _RIS_TAG.match if kind[1] == "  " else _short_tag().match
    tags = read_tags(lines[:-1], match_tag)
    fields = Fields(
        title=join_texts(tags, "TI", "T1"),
        abstract=join_texts(tags, "AB", "N2"),
        journal=join_texts(tags, *_JOURNALS),
        date=join_texts(tags, "PY", "Y1", "DA"),
        authors=[parse_author(name) for name in tags.get("AU") or tags.get("A1", [])],
        types=tags.get("TY", [])[:1],
        pmid=_find_pmid(tags),
        doi=join_texts(tags, "DO"),
        ids=[text for tag in _IDS for text in tags.get(tag, [])],
    )
    return make_document(fields)


@cache
def _short_tag() -> re.Pattern[str]:
    """A tag with one blank or a tab; only the known ones, since a text may well have "CO - " at the beginning of a line."""
    from rispy.config import TAG_KEY_MAPPING

    known = {*TAG_KEY_MAPPING, "BT", "CT", "U1", "U2", "U3", "U4", "U5"} - {"ER"}
    return re.compile(rf"({'|'.join(sorted(known))})(?: {{1,2}}|\t)-(?: |$)")


def _find_pmid(tags: Tags) -> str:
    """The PMID in a tag that has one only in some databases: MEDLINE's number, and Embase's reference to it."""
    database = f"{join_texts(tags, 'DB')} {join_texts(tags, 'DP')}".strip()
    if _NLM.search(database):
        return join_texts(tags, "AN", "U1")
    if "embase" in database.lower():
        return join_texts(tags, "C5")
    likely = (read_pmid(text) for tag in ("AN", "U1", "C5") for text in tags.get(tag, []))
    return "" if database else next((pmid for pmid in likely if len(pmid) >= _SHORTEST), "")


_NBIB_BEGINS = re.compile(r"\s*PMID *- ")
_NBIB_TAG = re.compile(r"([A-Z][A-Z0-9]{1,3}) *-(?: |$)")
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
    return bool(_NBIB_BEGINS.match(head))


def read_nbib(path: Path, on_bad: OnBad = raise_bad) -> Iterator[Record]:
    """The records of one file, in its order."""
    return make_records(path, _split_nbib(path, on_bad), _make_nbib_document, on_bad)


def _split_nbib(path: Path, on_bad: OnBad) -> Iterator[tuple[str, list[str]]]:
    """The lines of each record: a PMID begins one, and so does, after an empty line, a tag that the record before has already.

    An empty line alone ends nothing: some programs leave one in the middle of an abstract.
    """
    number, began, lines, tags, after_gap = 0, 0, list[str](), set[str](), False
    for place, line in read_text_lines(path, on_bad):
        if not line.strip():
            after_gap = True
            continue
        if found := _NBIB_TAG.match(line):
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


def _make_nbib_document(lines: list[str]) -> Record:
    tags = read_tags(lines, _NBIB_TAG.match)
    pmid = read_pmid(join_texts(tags, "PMID"))
    if not pmid:
        raise RecordError('expected a PMID in "PMID- ", got a record without one')
    title, book = join_texts(tags, "TI"), join_texts(tags, "BTI")
    # People by their full names, or as cited if there are none, then the groups.
    people = [parse_author(name) for name in tags.get("FAU") or tags.get("AU", [])]
    groups = [Author(clean_prose(name)) for name in tags.get("CN", [])]
    ids = [*tags.get("AID", []), *join_texts(tags, "LID").split("]")]
    fields = Fields(
        title=title or join_texts(tags, "TT") or book,
        abstract=join_texts(tags, "AB"),
        journal=join_texts(tags, "JT", "TA") or book,
        date=join_texts(tags, "DP"),
        authors=[*people, *groups],
        types=[*tags.get("PT", []), *([CHAPTER if title else BOOK] if book else [])],
        mesh=[heading.lstrip("*").partition("/")[0] for heading in tags.get("MH", [])],
        notices=[Notice(kind, target) for tag, kind in _NOTICES.items() for target in _PMID.findall(join_texts(tags, tag))],
        pmid=pmid,
        doi=next((place for place in ids if "[doi" in place), ""),
        pmcid=join_texts(tags, "PMC"),
        retracted=any(tag in tags for tag in _RETRACTING),
    )
    return make_document(fields)
