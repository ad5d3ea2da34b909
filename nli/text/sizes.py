"""The sizes that a claim and a sentence give for an effect: "by more than half", "22 % fewer", "a relative risk of 0.5".

Arithmetic is no task for the reader: to it, 22 % is much like "more than half". Numbers and units are read by quantulum3; only
sizes of a change are compared, so that "women over 50" and "for 12 weeks" are none.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, cast

from retrieval.core.characters import unify_characters

_MORE = r"more than|greater than|at least|over|above|no less than|not less than|exceeding|upwards of|>=?|≥"
_LESS = r"less than|fewer than|at most|under|below|no more than|not more than|up to|<=?|≤"
_ABOUT = r"about|around|roughly|nearly|almost|some|approximately|an? (?:average|mean|median) of|~"
_SIZE = (
    r"(?:[\d.,]+|an?|half|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty"
)
_SIZE += r"|seventy|eighty|ninety)(?:[ -](?:quarters?|thirds?|fifths?|half|tenths?|hundred|[\w%/°µ]+)){0,2}(?: ?%)?"
_CHANGE = r"(?:fewer|lower|less|higher|greater|longer|shorter|reductions?|increases?|decreases?|drops?|falls?|rises?|declines?)"
_BY = re.compile(rf"\bby (?:(?P<bound>{_MORE}|{_LESS}|{_ABOUT}) )?(?P<size>{_SIZE})", re.IGNORECASE)
_OF = re.compile(rf"\b{_CHANGE} of (?:(?P<bound>{_MORE}|{_LESS}|{_ABOUT}) )?(?P<size>{_SIZE})", re.IGNORECASE)
_BEFORE = re.compile(
    rf"(?:\b(?P<bound>{_MORE}|{_LESS}|{_ABOUT}) )?"
    r"(?P<size>(?:[\d.,]+ ?(?:%|percent\b|per cent\b)|\b(?:a|one|two)[ -](?:quarter|third|fifth|half)s?\b))"
    rf" (?:relative |absolute )?{_CHANGE}\b",
    re.IGNORECASE,
)
_WORDS = {
    re.compile(r"\bhalv(?:es?|ed|ing)\b", re.IGNORECASE): 50.0,
    re.compile(r"\bdoubl(?:es?|ed|ing)\b", re.IGNORECASE): 100.0,
}
_RATIO = re.compile(
    r"\b(?:relative risk|risk ratio|hazard ratio|odds ratio|rate ratio|RR|HR|OR)\b(?: (?:of|was|is))?[ ,=:]*(\d+\.\d+)",
    re.IGNORECASE,
)
_INTERVAL = re.compile(r"\b9[059] ?%? ?(?:CI|confidence interval)\b[^);]*|\bP ?[<=>] ?[\d.]+", re.IGNORECASE)
_SECONDS = {
    "second": 1, "minute": 60, "minute of arc": 60, "hour": 3600, "day": 86_400, "week": 604_800, "month": 2_629_800,
    "year": 31_557_600,
}  # fmt: skip
_PERCENT = "percent"

Bound = Literal["least", "most", "about"]


@dataclass(frozen=True, slots=True)
class Size:
    """The size of a change, or a bound on it: `value` in its `unit`; fractions are per cent, times seconds."""

    bound: Bound
    value: float
    unit: str


def find_sizes(text: str) -> list[Size]:
    """The sizes of changes that a text gives, in no order; those of intervals and P values are left out."""
    text = _INTERVAL.sub(" ", unify_characters(text))
    found = [
        size
        for pattern in (_BY, _OF, _BEFORE)
        for match in pattern.finditer(text)
        if (size := _read_size(match["size"], (match["bound"] or "").lower()))
    ]
    found += [Size("about", value, _PERCENT) for pattern, value in _WORDS.items() if pattern.search(text)]
    return found + [Size("about", abs(1 - float(ratio)) * 100, _PERCENT) for ratio in _RATIO.findall(text)]


@cache
def _load_parser() -> Callable[[str], list[Any]]:
    from quantulum3 import classifier, parser

    # Its guess at ambiguous units needs a pickle that another scikit-learn wrote.
    classifier.USE_CLF = False
    return cast(Callable[[str], list[Any]], parser.parse)


def _read_size(words: str, bound: str) -> Size | None:
    read = _load_parser()(words.strip(" .,"))
    if len(read) != 1:
        return None
    value, unit = float(read[0].value), str(read[0].unit.name)
    kind: Bound = "least" if re.fullmatch(_MORE, bound) else "most" if re.fullmatch(_LESS, bound) else "about"
    if unit in _SECONDS:
        return Size(kind, value * _SECONDS[unit], "second")
    if unit == "dimensionless" and 0 < value < 1:
        return Size(kind, value * 100, _PERCENT)
    return Size(kind, value, _PERCENT if unit == "percentage" else unit) if unit != "dimensionless" else None


def denies_size(claim: str, sentence: str) -> bool:
    """Whether a claim bounds a size ("by more than half"), and a sentence gives sizes in its unit, but none within the bound.

    A size without a bound is often a rounder word for the paper's figure, so it denies nothing.
    """
    claimed = [one for one in find_sizes(claim) if one.bound != "about"]
    if not claimed:
        return False
    given = find_sizes(sentence)
    comparable = [(one, other) for one in claimed for other in given if one.unit == other.unit]
    return bool(comparable) and not any(_allows(one, other) for one, other in comparable)


def _allows(claimed: Size, given: Size) -> bool:
    if claimed.bound == "least":
        return given.bound != "most" and given.value >= claimed.value
    return given.bound != "least" and given.value <= claimed.value
