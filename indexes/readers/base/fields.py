"""The parts of a record that formats share: clean text, ids, and sections with their offsets."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import unquote

from indexes.readers.base.records import RecordError
from retrieval.core.characters import replace_surrogates
from retrieval.core.values import Section

# Unicode's two line separators are not control characters, yet break a line of output as surely as a newline does.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
# In angle brackets, only what serials had before 2000: "…18:15<1111::AID-SIM001>3.0.CO;2-2".
DOI = re.compile(
    r"\b10\.[0-9]{4,9}(?:\.[0-9]{1,9}){0,3}(?:/|%2F)(?:[^\s\"<>“”]|<[^\s\"<>/:]{0,40}:[^\s\"<>/]{0,60}>){1,500}", re.IGNORECASE
)
"""A DOI in a text, perhaps as an address (%2F) or HTML (&lt;) has its characters; `clean_doi` makes of it what is registered."""
_PMCID = re.compile(r"\bPMC[0-9]{1,10}\b", re.IGNORECASE)
_PMID = re.compile(
    r"\b(?:PMID|PubMed ?ID|MEDLINE(?=:))\s*[:#=-]?\s*([0-9]{1,9})(?![0-9])|\b([0-9]{1,9})(?:\.0)?\s*\[(?:PMID|PubMed)\b[^\]]*\]|"
    r"(?:(?:www\.|pubmed\.)?ncbi\.nlm\.nih\.gov/(?:m/)?(?:pubmed/)?|(?:www\.)?europepmc\.org/(?:article|abstract)/MED/)([0-9]{1,9})(?![0-9])",
    re.IGNORECASE,
)
_GROUPED = re.compile(r"[0-9]{1,3}(?:([,. '’])[0-9]{3})(?:\1[0-9]{3})*")
# What a line that only names a paper's ids may consist of.
_ID = re.compile(
    rf"https?://\S+|{_PMID.pattern}|(?:\bPMC(?:ID)?\s*:?\s*)?\bPMC[0-9]+(?:\.[0-9]+)?|(?:\bdoi\s*:?\s*)?{DOI.pattern}|\[[^\]\[]*\]",
    re.IGNORECASE,
)
LONGEST_ID = 500
"""Characters in an id: OpenSearch refuses one of over 512 bytes, and Lucene one of over 32,766."""


def find_doi(text: str) -> str:
    """The first DOI in `text`, in lower case, since DOIs ignore case; "" if there is none."""
    match = DOI.search(text)
    return clean_doi(match.group()) if match else ""


def clean_doi(found: str) -> str:
    """What `DOI` found, as registered and in lower case, without the punctuation after it; "" if it holds unprintable characters.

    A closing bracket is part of a DOI if it was opened in it.
    """
    match = DOI.match(unquote(html.unescape(found)))
    doi = match.group() if match and match.group().isprintable() else ""
    while doi and (doi[-1] in ".,;:'’”" or (doi[-1] in ")]}" and doi.count(doi[-1]) > doi.count("([{"[")]}".index(doi[-1])]))):
        doi = doi[:-1]
    return doi.lower()


def find_pmid(text: str) -> str:
    """The first PMID that `text` marks as one, by a label or as an address; "" if there is none."""
    match = _PMID.search(text)
    return (match[1] or match[2] or match[3]).lstrip("0") if match else ""


def read_pmid(text: str) -> str:
    """The PMID in a field made for it, in any of the forms that programs and spreadsheets give it; "" for anything else.

    With a label, as an address, with thousands separators, as a decimal, or quoted against a spreadsheet's arithmetic.
    """
    bare = " ".join(unicodedata.normalize("NFKC", text).split()).strip(" '’\"=`")
    if found := find_pmid(bare):
        return found if is_only_ids(bare) else ""
    bare = bare.removesuffix(".0")
    if _GROUPED.fullmatch(bare):
        bare = re.sub("[^0-9]", "", bare)
    return bare.lstrip("0") if bare.isascii() and bare.isdigit() and len(bare) < 10 else ""


def is_only_ids(line: str) -> bool:
    """Whether a line of a note holds ids and nothing else: an id in a sentence may be another paper's."""
    return not any(one.isalnum() for one in _ID.sub("", line))


def find_pmcid(text: str) -> str:
    """The first PMCID in `text`; "" where there is none."""
    match = _PMCID.search(text)
    return match.group().upper() if match else ""


def clean_text(text: str) -> str:
    """`text` on one line, in whole characters that every later writer can encode; stripped, otherwise left as it is.

    Control characters, newlines among them, become spaces one for one.
    """
    # The two searches cost more than everything else done to a plain ASCII abstract.
    if not text.isprintable():
        text = replace_surrogates(_CONTROL.sub(" ", text))
    return text.strip()


def describe_value(value: object) -> str:
    """`value`, as JSON has it, in a few words for an error."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        excerpt = value if len(value) <= 40 else value[:40] + "…"
        return f"the text {excerpt!r}" if value.strip() else "an empty text"
    if isinstance(value, (int, float)):
        return f"the number {value}" if abs(value) < 10**20 else "a very large number"
    return "a list" if isinstance(value, list) else "an object"


def check_required(record: Mapping[str, Any], *keys: str) -> None:
    """Refuse a record that lacks one of `keys`: a missing key is more likely misspelt than meant."""
    for key in keys:
        if key not in record:
            raise RecordError(f'expected the key "{key}", got {describe_keys(record)}')


def describe_keys(record: Iterable[str]) -> str:
    """A record's keys in a few words for an error."""
    names = sorted(record)
    listing = ", ".join(clean_text(name[:40]) for name in names[:8])
    return f"an object with the keys {listing}{', …' if len(names) > 8 else ''}" if names else "an object without keys"


def read_id(value: object, key: str) -> str:
    """A document's id as text: from a JSON string or integer, never blank, one word, so that it fits a TREC run."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not value.strip():
        raise RecordError(f'expected an id, text or whole number, in "{key}", got {describe_value(value)}')
    word = value.strip()
    if " " in word or not word.isprintable():
        raise RecordError(f'expected an id without blanks or control characters in "{key}", got {describe_value(value)}')
    if len(word) > LONGEST_ID:
        raise RecordError(f'expected an id of at most {LONGEST_ID} characters in "{key}", got one of {len(word):,}')
    return word


def read_text(record: Mapping[str, Any], key: str) -> str:
    """The clean text under `key`; null is read as empty, as exports write a title or abstract they do not have."""
    value = record.get(key)
    if isinstance(value, str):
        return clean_text(value)
    if value is None:
        return ""
    raise RecordError(f'expected text in "{key}", got {describe_value(value)}')


def join_parts(parts: Iterable[tuple[str, str]]) -> tuple[str, tuple[Section, ...]]:
    """One abstract from (label, text) parts, joined by a space, and where each part lies in it.

    Parts without text vanish. An abstract of a single part without a label has no sections: they would say nothing.
    """
    texts: list[str] = []
    sections: list[Section] = []
    start = 0
    for label, part in parts:
        if part:
            texts.append(part)
            sections.append(Section(label, start, start + len(part)))
            start += len(part) + 1
    if len(sections) == 1 and not sections[0].label:
        sections = []
    return " ".join(texts), tuple(sections)
