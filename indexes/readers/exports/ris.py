"""RIS, the format that every reference manager and database exports; also with one blank after the tag instead of two."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from indexes.readers.base.fields import read_pmid
from indexes.readers.base.records import OnBad, Record, RecordError, make_records, raise_bad
from indexes.readers.base.source import read_text_lines
from indexes.readers.exports.entry import Fields, make_document, parse_author
from indexes.readers.exports.tagged import Tags, join_texts, read_tags
from retrieval.core.errors import BadInput, BadRecord

_TYPE = re.compile(r"TY( {1,2}|\t)-(?: |$|(?=[A-Z]))")
# A line of an abstract may begin like the last tag: "ER - positive tumours".
_END = re.compile(r"ER(?: {0,2}|\t)-\s*$")
_TAG = re.compile(r"((?!ER)[A-Z][A-Z0-9])  -(?: |$|(?=\S))")
_BEGINS = re.compile(rf"^{_TYPE.pattern}", re.MULTILINE)
_NLM = re.compile(r"pubmed|medline|\bnlm\b", re.IGNORECASE)
# The full name before abbreviations.
_JOURNALS = ("JF", "T2", "JO", "JA", "J2")
_IDS = ("UR", "N1", "C2", "C7", "M1", "M3", "AN", "RN", "U1", "C5")
_SHORTEST = 7
"""Digits in a PMID, at least, where nothing but the tag tells that it is one: the tag may hold a user's own number."""


def is_ris(head: str) -> bool:
    """Whether a text contains the line that gives a record's type, or begins with another tag of RIS."""
    head = head.lstrip()
    return not head.startswith(("{", "[", "<")) and bool(_BEGINS.search(head) or _TAG.match(head))


def read(path: Path, on_bad: OnBad = raise_bad) -> Iterator[Record]:
    """The records of one file, in its order; a file without records is refused."""
    return make_records(path, _split(path, on_bad), _make_document, on_bad)


def _split(path: Path, on_bad: OnBad) -> Iterator[tuple[str, list[str]]]:
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
    return bool(_TAG.match(line) or _short_tag().match(line))


def _make_document(lines: list[str]) -> Record:
    kind = next(filter(None, map(_TYPE.match, lines)), None)
    if kind is None:
        raise RecordError("expected `TY  - ` before `ER  - `, got a record without a type")
    if not _END.match(lines[-1]):
        raise RecordError(f"expected `ER  - ` at the end of the record, got another type ({lines[-1].strip()[:40]})")
    match_tag = _TAG.match if kind[1] == "  " else _short_tag().match
    return make_document(_read_fields(read_tags(lines[:-1], match_tag)))


@cache
def _short_tag() -> re.Pattern[str]:
    """A tag with one blank or a tab; only the known ones, since a text may well have "CO - " at the beginning of a line."""
    from rispy.config import TAG_KEY_MAPPING

    known = {*TAG_KEY_MAPPING, "BT", "CT", "U1", "U2", "U3", "U4", "U5"} - {"ER"}
    return re.compile(rf"({'|'.join(sorted(known))})(?: {{1,2}}|\t)-(?: |$)")


def _read_fields(tags: Tags) -> Fields:
    return Fields(
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


def _find_pmid(tags: Tags) -> str:
    """The PMID in a tag that has one only in some databases: MEDLINE's number, and Embase's reference to it."""
    database = f"{join_texts(tags, 'DB')} {join_texts(tags, 'DP')}".strip()
    if _NLM.search(database):
        return join_texts(tags, "AN", "U1")
    if "embase" in database.lower():
        return join_texts(tags, "C5")
    likely = (read_pmid(text) for tag in ("AN", "U1", "C5") for text in tags.get(tag, []))
    return "" if database else next((pmid for pmid in likely if len(pmid) >= _SHORTEST), "")
