"""Citation marks in a language model's text, in the styles that models use, whatever style was asked for.

The prompts ask for square brackets: [1], [1,2], [1, 2-4], [Doc 1], 【1】. Models also write superscripts, round brackets,
footnotes and PMIDs. The looser styles are read only in a text without square brackets, since "(2)" and "cm²" are often not
citations.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻˒", "0123456789-,")
_NUMBERS = r"\d{1,4}(?:\s*[-–—]\s*\d{1,4})?(?:\s*(?:[,;&]|and)\s*\d{1,4}(?:\s*[-–—]\s*\d{1,4})?)*"
_LABEL = r"(?:(?:docs?|documents?|sources?|refs?|references?)\.?\s*#?|[\^#])?"
_SQUARE = re.compile(rf"[\[【]\s*{_LABEL}\s*({_NUMBERS})(?:†[^\]】]*)?\s*[\]】]", re.IGNORECASE)
_LABELLED_NUMBERS = re.compile(r"[\[【(]((?:\s*(?:docs?|documents?|sources?|refs?)\.?\s*#?\d+\s*[,;&]?)+)[\]】)]", re.IGNORECASE)
_ROUND = re.compile(rf"(?<=\s)\(\s*{_LABEL}\s*({_NUMBERS})\s*\)(?=\s*(?:[.,;:!?]|$|\n|[A-Z(]))", re.IGNORECASE | re.MULTILINE)
_RAISED_NUMBERS = re.compile(r"(?<=[A-Za-z.,;)%]{2})([⁰¹²³⁴⁵⁶⁷⁸⁹]+(?:[,˒⁻–-]\s?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)*)")
_SUP = re.compile(rf"<sup>\s*\[?({_NUMBERS})\]?\s*</sup>", re.IGNORECASE)
_PMIDS = re.compile(r"[\[【(]\s*((?:PMIDs?\s*:?\s*)[^\])】]{1,200})[\]】)]", re.IGNORECASE)
_BARE_PMIDS = re.compile(r"\s*\d{5,9}(?:\s*[,;&]\s*\d{5,9})*\s*")
_PROSE = re.compile(
    r"(?<![\[【(])\b(?:the\s+)?documents?\s+#?(\d{1,3}(?:(?:,\s*|\s+and\s+)\d{1,3})*)\b(?!\s*[\]】)])", re.IGNORECASE
)
_RANGE = re.compile(r"(\d+)\s*[-–—]\s*(\d+)")
_WORD = re.compile(r"[^\s,;]+")
_UNKNOWN = re.compile(r"\d{5,9}")
_WIDEST = 20


@dataclass(frozen=True, slots=True)
class Mark:
    """A citation mark: half-open offsets into the text, and the numbers that it cites, in its order."""

    start: int
    end: int
    numbers: tuple[int, ...]


def find_marks(text: str, numbers: Mapping[str, int]) -> list[Mark]:
    """Every citation mark of the text in order; `numbers` gives the sources' numbers by PMID.

    Numbers out of range are kept, and so are PMIDs that no source has: a sentence that cites [11] of ten documents, or a paper
    that was not given, has a fault to report, not to overlook. "Document 2 reports" is a mark just as "[2] reports" is.
    """
    candidates = [Mark(*match.span(), _expand_ranges(match.group(1))) for match in _SQUARE.finditer(text)]
    candidates += [Mark(*match.span(), _expand_ranges(match.group(1))) for match in _LABELLED_NUMBERS.finditer(text)]
    most = max(numbers.values(), default=0)
    by_pmid = {int(pmid): number for pmid, number in numbers.items() if pmid.isdigit() and int(pmid) > most}
    candidates = [Mark(one.start, one.end, tuple(by_pmid.get(n, n) for n in one.numbers)) for one in candidates]
    candidates += [
        Mark(*match.span(), source_numbers)
        for match in _PMIDS.finditer(text)
        if (source_numbers := _find_numbers(match.group(1), numbers, guess=True))
    ]
    candidates += [
        Mark(*m.span(), source_numbers)
        for m in re.finditer(r"\[([^\[\]]{1,200})\]", text)
        if (source_numbers := _find_numbers(m.group(1), numbers, guess=bool(_BARE_PMIDS.fullmatch(m.group(1)))))
    ]
    candidates += [Mark(*match.span(), _expand_ranges(match.group(1))) for match in _PROSE.finditer(text)]
    if not candidates:
        candidates = [Mark(*match.span(), _expand_ranges(match.group(1))) for match in _SUP.finditer(text)]
    if not candidates:
        candidates = [
            Mark(*match.span(), _expand_ranges(match.group(1).translate(_SUPERSCRIPTS)))
            for match in _RAISED_NUMBERS.finditer(text)
        ]
    if not candidates:
        round_marks = [Mark(*match.span(), _expand_ranges(match.group(1))) for match in _ROUND.finditer(text)]
        candidates = [one for one in round_marks if all(0 < number <= most for number in one.numbers)]
    marks: list[Mark] = []
    for one in sorted(candidates, key=lambda mark: (mark.start, -mark.end)):
        if not marks or one.start >= marks[-1].end:
            marks.append(one)
    return marks


def _expand_ranges(text: str) -> tuple[int, ...]:
    """ "1, 2-4" as (1, 2, 3, 4); a range that runs backwards or too far is its two ends."""

    def expand(match: re.Match[str]) -> str:
        first, last = int(match.group(1)), int(match.group(2))
        numbers = range(first, last + 1) if 0 <= last - first <= _WIDEST else (first, last)
        return ",".join(map(str, numbers))

    return tuple(dict.fromkeys(int(number) for number in re.findall(r"\d+", _RANGE.sub(expand, text))))


def _find_numbers(text: str, numbers: Mapping[str, int], guess: bool) -> tuple[int, ...]:
    """The numbers of the sources whose PMIDs are listed; if the list can only be of PMIDs (`guess`), an unknown one stands for
    itself."""
    words = _WORD.findall(text.replace(":", " "))
    candidates = [numbers.get(word) or (int(word) if guess and _UNKNOWN.fullmatch(word) else None) for word in words]
    return tuple(dict.fromkeys(number for number in candidates if number is not None))
