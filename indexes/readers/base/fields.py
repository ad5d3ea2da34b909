"""What readers yield, the handling of a record that cannot be read, and the parts of a record that formats share: clean text,
ids, kinds, marks of a retraction, superscripts, and sections.
"""

from __future__ import annotations

import html
import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from html.entities import html5
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote

from counterpoint.retrieval.core.characters import replace_surrogates
from counterpoint.retrieval.core.errors import BadInput, BadRecord, CounterpointError
from counterpoint.retrieval.core.values import Document, Section


@dataclass(frozen=True, slots=True)
class Deletion:
    """PubMed has withdrawn this PMID: whatever an index holds for it must be deleted."""

    pmid: str


@dataclass(frozen=True, slots=True)
class Omission:
    """A record of an export that has no abstract: nothing can be found in it, so it is counted and left out."""

    pmid: str


class Note(BadRecord):
    """What a user should know about a file or a record that was read all the same; `expected` says it."""


Record = Document | Deletion | Omission
OnBad = Callable[[BadRecord], None]
"""Told of every bad record and of every `Note`."""
_Piece = TypeVar("_Piece")
_Result = TypeVar("_Result")


class RecordError(ValueError):
    """Why one record cannot be read ("expected …, came …"), before its place is known; it becomes a BadRecord."""


def make_records(
    path: Path, pieces: Iterable[tuple[str, _Piece]], make: Callable[[_Piece], _Result], on_bad: OnBad
) -> Iterator[_Result]:
    """What `make` makes of each piece of a file, in its order: a record for each, or a fault that names its place.

    Libraries raise errors of many types about a record that they did not foresee; none of them ends the file.
    """
    for place, piece in pieces:
        try:
            record = make(piece)
        except RecordError as error:
            on_bad(BadRecord(path, place, str(error)))
        except (CounterpointError, MemoryError):
            raise
        except RecursionError:
            on_bad(BadRecord(path, place, "expected a record that can be read, found brackets nested too deeply"))
        except Exception as error:
            fault = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            on_bad(BadRecord(path, place, f"expected a record that can be read, found a fault ({fault})"))
        else:
            yield record


def raise_bad(fault: BadRecord) -> None:
    """Stop at the first bad record, and say how to go on."""
    if isinstance(fault, Note):
        return
    hint = "correct the record, or skip up to N such records with --skip-bad N."
    raise BadRecord(fault.source, fault.record, f"{fault.expected}; {hint}") from None


WHOLE = "the file"
"""What a fault names where it is one of a whole file."""


class SkipBad:
    """Skip up to `limit` bad records, over all the files of one job; `faults` and `notes` list what came, in order. With the
    limit `ALL` whatever cannot be read is left out, whole files too."""

    SHOWN, ALL = 5, sys.maxsize

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.faults: list[BadRecord] = []
        self.notes: list[Note] = []

    def __call__(self, fault: BadRecord) -> None:
        """Record one fault or note; raise if a fault is one too many."""
        if isinstance(fault, Note):
            self.notes.append(fault)
            return
        if self.limit <= 0:
            raise_bad(fault)
        self.faults.append(fault)
        if len(self.faults) > self.limit:
            first = "; ".join(str(fault) for fault in self.faults[: self.SHOWN])
            raise BadInput(
                f"More than {self.limit} bad records, the limit set by --skip-bad; the first ones: {first}; "
                f"correct them, or allow more with --skip-bad N."
            ) from fault


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
    return not any(letter.isalnum() for letter in _ID.sub("", line))


def find_pmcid(text: str) -> str:
    """The first PMCID in `text`; "" where there is none."""
    match = _PMCID.search(text)
    return match.group().upper() if match else ""


# Publishers' tags that Crossref passes on, and a few of HTML's; "p < 0.05 and q > 2" contains none of them.
_BREAKING = "p|div|br|sec|title|h[1-6]|list|list-item"
_ATTRIBUTES = r"(?:\s+[\w:-]+\s*=\s*(?:\"[^\"]*\"|'[^']*'))*\s*/?"
_TAG = re.compile(
    rf"</?(?:(?:jats:)?(?:({_BREAKING})|b|i|u|em|strong|small|sub|sup|span|italic|bold|underline|label|sc|inf)|(?:jats|mml):[a-z-]+)"
    rf"{_ATTRIBUTES}>",
    re.IGNORECASE,
)
BREAK = re.compile(rf"</?(?:jats:)?(?:{_BREAKING}){_ATTRIBUTES}>", re.IGNORECASE)
"""A tag between two lines or paragraphs."""
_SOURCES = re.compile(r"<((?:jats:)?tex-math|mml:annotation(?:-xml)?)\b.*?</\1\s*>", re.IGNORECASE | re.DOTALL)
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,31});", re.IGNORECASE)
_MOST_ESCAPED = 3


def decode_entities(text: str) -> str:
    """The text with the characters of HTML's entities, also where programs escaped them twice ("&amp;lt;")."""
    for _ in range(_MOST_ESCAPED):
        if "&" not in text or (decoded := _ENTITY.sub(_decode_entity, text)) == text:
            break
        text = decoded
    return text


def _decode_entity(entity: re.Match[str]) -> str:
    # `unescape` would take "&notable;" for "¬able;".
    return html.unescape(entity[0]) if entity[0][1] == "#" else html5.get(entity[0][1:], entity[0])


def clean_text(text: str) -> str:
    """`text` on one line, without HTML's and publishers' tags and entities, escaped or not (an exponent follows "^"), in whole
    characters that every later writer can encode; stripped.

    Control characters, newlines among them, become spaces one for one.
    """
    if "<" in text or "&" in text:
        text = decode_entities(text)
    if "<" in text:
        text = _RAISED.sub("^", _SOURCES.sub(" ", text))
        text = _TAG.sub(lambda tag: " " if tag[1] else "", text)
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


RETRACTING = frozenset({"RetractionIn", "RetractedandRepublishedIn"})
"""The notices by which a record says that it is itself retracted (PubMed's RefTypes)."""
_RETRACTED = r"(?:retracted|withdrawn)(?:[ -](?:article|paper|publication|chapter|review|manuscript|preprint|study))?"
_SAID = rf"(?:this (?:\w+ )?(?:article|paper|manuscript|preprint) (?:has been|was|is) )?{_RETRACTED}"
# A mark stands before the title ("RETRACTED ARTICLE: …", "[Withdrawn] …") or behind it ("… (Retracted article. See vol. 12)",
# "… – Retracted"). Words of the title itself ("Retracted nipples …", "drugs withdrawn from the market") are none.
_MARKED = re.compile(
    rf"^\W*(?:{_SAID}(?: and (?:replaced|republished))?\s*(?:[:.\])—–]|-\s)|(?:temporary )?(?:removed|removal)\s*:)"
    rf"|[(\[]\s*{_SAID}\s*(?:[\])]|(?:[.,;:]|\bsee\b|\bin\b|\bby\b|\bon\b)[^\])]{{0,200}}[\])])\W*$"
    r"|(?:[:.—–]\s*|\s-\s*)(?-i:RETRACTED|Retracted|WITHDRAWN|Withdrawn)(?: (?:article|paper|publication))?\W*$",
    re.IGNORECASE,
)
_PERHAPS = re.compile("retracted|withdrawn|removed|removal", re.IGNORECASE)
_SHORT_TAG = re.compile(r"<[^<>]{0,40}>")
_RETRACTED_TYPE = re.compile(r"\b(?:retracted|withdrawn)\b", re.IGNORECASE)
_NOTE = re.compile(rf"(?:^|[;\n])\s*{_RETRACTED}\s*(?:$|[.;\n])", re.IGNORECASE)

_WORDS = re.compile(r"\w+")
_NOT_APPLICABLE = re.compile(r"\bn\.?\s?[/.]\s?a\b", re.IGNORECASE)
_DENYING = frozenset("no not without unavailable missing none na null nil nan never".split())
_ABOUT_ABSTRACTS = _DENYING | frozenset(
    "abstract abstracts summary text a an the there this it is was were are has have had been be for of in at from to or and any "
    "article paper record publication document item entry reference citation study journal source database pubmed medline "
    "english language available accessible applicable provided supplied given found listed included indexed recorded submitted "
    "published written present exist exists yet here online currently time author authors publisher by".split()
)


def is_retracted(title: str, types: Iterable[str] = (), notes: Iterable[str] = ()) -> bool:
    """Whether a paper's title, types or notes mark it as retracted or withdrawn.

    A notice of a retraction, an erratum and an expression of concern are about another paper, or retract nothing.
    """
    if _PERHAPS.search(title) and _MARKED.search(_SHORT_TAG.sub("", title)):
        return True
    return any(map(_RETRACTED_TYPE.search, types)) or any(map(_NOTE.search, notes))


def strip_mark(title: str) -> str:
    """The title without a mark of its retraction."""
    return _MARKED.sub("", title) if _PERHAPS.search(title) else title


def is_placeholder(abstract: str) -> bool:
    """Whether a text only says that there is no abstract: "NA", "[No abstract available]", a dash; also for an empty one."""
    if len(abstract) > 200:
        return False
    words = _WORDS.findall(_NOT_APPLICABLE.sub("na", abstract.casefold()))
    return not words or (_ABOUT_ABSTRACTS.issuperset(words) and not _DENYING.isdisjoint(words))


ARTICLE = "Journal Article"
BOOK = "Book"
CHAPTER = "Book Chapter"
CONFERENCE = "Conference Paper"
DISSERTATION = "Academic Dissertation"
PREPRINT = "Preprint"
REPORT = "Technical Report"

# RIS tags, CSL and BibTeX types, and what Zotero and Scopus write into a table. A name in two of these means the same in both.
_KIND_NAMES = {
    ARTICLE: "jour ejour inpr mgzn article-journal journalarticle article",
    BOOK: "book ebook edbook",
    CHAPTER: "chap echap chapter incollection inbook booksection",
    CONFERENCE: "conf cpaper paper-conference inproceedings conference conferencepaper",
    DISSERTATION: "thes thesis phdthesis mastersthesis",
    PREPRINT: "unpb unpublished preprint",
    REPORT: "rprt report techreport",
}
_KINDS = {name: kind for kind, names in _KIND_NAMES.items() for name in names.split()}


def find_kind(name: str) -> str:
    """The kind that an export's name stands for, ignoring case and spaces; "" for an unknown name."""
    return _KINDS.get("".join(name.lower().split()), "")


_EXPONENT = re.compile(r"\s*[+\-−–]?\s*[0-9]")
# A superscript in HTML's or JATS's tags that is an exponent; the tags are left to be removed.
_RAISED = re.compile(r"(?<=[0-9])<(?:jats:)?sup(?:\s[^<>]*)?>(?=(?:<[^<>]{1,40}>|\s)*[+\-−–]?\s*[0-9])", re.IGNORECASE)


def write_raised(before: str, raised: str) -> str:
    """What to write for a superscript after `before`: an exponent after "^", anything else as it is ("m2", "CD4+")."""
    return f"^{raised.lstrip()}" if before[-1:].isdecimal() and _EXPONENT.match(raised) else raised
