"""Where sentences begin and end.

A rule and a short list of abbreviations: on abstracts it finds the same boundaries as spaCy's sentencizer at many times the
speed (docs/research/scale.md has both figures), which is decisive for 27 million abstracts. It runs when an index is built and
never when a claim is grounded.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from counterpoint.retrieval.core.characters import align_characters
from counterpoint.retrieval.core.values import Document, Span

# A stop, any closing quotes or brackets after it, any references ("fell.[1,2]", "fell.3"), space, and something that can begin a
# sentence: a capital, a digit, a sign, a letter of a list ("b)"), or a name that begins in lower case and then changes ("miR-21",
# "mTOR", "p53"). Where sections were joined, ";" follows the stop, or the space is missing and a capitalised word follows at once
# ("…over two years.Methods: …"). The full stops of Chinese and Japanese need no space.
_BEGINNING = r"""(?=['"“‘(\[]*(?:[A-Z0-9À-ÖØ-Þ≥≤<>+±α-ω]|[a-z]{1,4}-?[A-Z0-9]|[a-z]\)\s))"""
_NUMBERS = r"\d{1,3}(?:[,;–−-] ?\d{1,3})*"
_BRACKETED = rf"(?:\[{_NUMBERS}\])+"
_RAISED = rf"""(?:(?<=[a-z]{{3}}[.?!])|(?<=[)%\]][.?!])|(?<=[.?!]['"”’)\]])){_NUMBERS}"""
REFERENCES = rf"(?:{_BRACKETED}|{_RAISED})"
"""The numbers of references right after a full stop."""
_STOP = re.compile(
    rf"""((?:[.?!…]|(?<!。)。++)['"”’)\]]*(?:{_BRACKETED}(?=\s)|{_RAISED}(?=\s+["“(]?[A-ZÀ-ÖØ-Þ]))?)"""
    rf"""(?:;?\s+{_BEGINNING}|(?<=[a-z)%]\.)(?=[A-Z](?:[a-z]{{2}}|[A-Z]{{2}}))|(?<=。)\s*(?=\S))"""
)
# Text after which a missing space is correct: parts of a web address, and of a name with stops.
_ADDRESS = re.compile(r"""[/@_]|www|\..*\.$""")
_DOMAINS = frozenset("Com Edu Gov Net Org".split())
_LAST_TOKEN = re.compile(r"[^\s(\[,;]+$")

# After these a stop ends a sentence only if one of `_OPENERS` follows; after `_LEADING` never.
_ABBREVIATIONS = frozenset(
    """e.g i.e cf vs v al ca approx resp fig figs tab eq eqs no nos ref refs vol pp ed eds dr prof mr mrs ms st jr
    spp sp subsp var cv str ssp viz incl excl max min avg est dept univ inc ltd co corp u.s u.k hct
    i.v i.m s.c p.o b.d b.i.d t.d.s t.i.d q.d q.i.d""".split()
)
_LEADING = frozenset("e.g i.e cf vs viz".split())
# After these, any capitalised word begins a sentence: "for 30 min. Blood pressure …".
_LAST_WORDS = frozenset("min sp spp ssp subsp".split())
# These words begin a new sentence even after a lone capital ("vitamin C. The …"), where other words continue a name
# ("S. Typhimurium").
_OPENERS = frozenset(
    """The A An In We Our This These It Its However Results Methods Conclusion Conclusions Background Objective There To For
    Here Although Thus Therefore Moreover Furthermore Both After Among At As By From During Patients Of On With When While No
    Most All Compared""".split()
)
# Named by a letter, which may end a sentence: "… of group A. Pain …"; a name has no such word before it ("J. Roe").
_LETTERED = re.compile(
    r"\b(?:groups?|arms?|vitamin|hepatitis|drug|type|grade|class|stage|level|substance|degrees|factor|protein|regimen|category|study"
    r"|amphotericin|apolipoprotein|cyclin|immunoglobulin|influenza) .$",
    re.IGNORECASE,
)
# A token as long as this can be neither an abbreviation nor a lone capital.
_WINDOW = 1 + max(map(len, _ABBREVIATIONS))
# Before a stop without space: the text before it must be longer than `_SHORTEST`; `_LONGEST` characters of it are examined.
_SHORTEST, _LONGEST = 3, 80
_NEXT_WORD = re.compile(r"[A-Za-z]+")
_TORN_NUMBER = re.compile(r"[=<>≤≥]\s*0\.\s+\d")
"""A figure with a stray space in it, "(p = 0. 02)"."""


def _ends_sentence(text: str, stop: int, next_start: int) -> bool:
    """Whether the stop at offset `stop` ends a sentence when the next visible character is at `next_start`."""
    if text[stop] == "。":
        return True
    if next_start == stop + 1:
        return _joins_sections(text, stop, next_start)
    if text[stop] == "." and text[stop - 1] == "0" and _TORN_NUMBER.search(text, max(0, stop - 3), next_start + 1):
        return False
    if text[stop] != "." or not text[stop - 1].isalpha():
        return True
    match = _LAST_TOKEN.search(text, max(0, stop - _WINDOW), stop)
    token = match.group() if match else ""
    lower = token.lower()
    if lower not in _ABBREVIATIONS and not (len(token) == 1 and token.isupper()):
        return True
    # "no. 5", "Fig. A", "Fig. S2" and "Fig.2" go on.
    word = _NEXT_WORD.match(text, next_start)
    if word is None or lower in _LEADING or text[stop + 1].isdigit() or (len(word.group()) == 1 and lower in _ABBREVIATIONS):
        return False
    if len(token) == 1 and _LETTERED.search(text, max(0, stop - _LONGEST), stop):
        return True
    return word.group() in _OPENERS or (lower in _LAST_WORDS and word.group()[1:].islower())


def _joins_sections(text: str, stop: int, next_start: int) -> bool:
    """Whether a stop with no space after it separates two sentences, rather than lying within an address or a name."""
    token = text[max(0, stop - _LONGEST) : stop + 1].split()[-1]
    word = _NEXT_WORD.match(text, next_start)
    next_character = text[word.end() : word.end() + 1] if word else ""
    return (
        len(token) > _SHORTEST and not _ADDRESS.search(token)
        and word is not None and word.group() not in _DOMAINS and next_character not in ("/", ".", "_", "@", "=")
    )  # fmt: skip


def sentence_spans(text: str, start: int = 0, end: int | None = None) -> list[Span]:
    """The sentences of `text[start:end]` as offsets into `text`, without the white space around them; none is empty."""
    end = len(text) if end is None else end
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    aligned = align_characters(text[start:end])
    return [(start + first, start + last) for first, last in (aligned.locate(*span) for span in _split(aligned.text))]


def _split(text: str) -> list[Span]:
    """The sentences of a text that neither begins nor ends with white space."""
    spans: list[Span] = []
    start = 0
    for match in _STOP.finditer(text):
        if _ends_sentence(text, match.start(), match.end()):
            spans.append((start, match.end(1)))
            start = match.end()
    if start < len(text):
        spans.append((start, len(text)))
    return spans


def split_document(document: Document) -> Sequence[Span]:
    """A document's sentence boundaries: those given by the source where it has them, else found section by section."""
    if document.spans is not None:
        return document.spans
    if not document.sections:
        return sentence_spans(document.abstract)
    return [span for section in document.sections for span in sentence_spans(document.abstract, section.start, section.end)]
