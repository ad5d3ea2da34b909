"""The figures that a claim and a paper give for one thing: "by more than half", "22 % fewer", "within twenty minutes", "0.5 g".

Arithmetic is no task for the reader: to it, 22 % is much like "more than half". Numbers in words are read by text2num. A change
is compared with the changes that a sentence gives, else with those that its values make: 12 % against 30 % are 60 % fewer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import permutations
from math import inf
from typing import NamedTuple

from text_to_num import alpha2digit

from counterpoint.retrieval.core.characters import unify_characters

_LEAST = r"(?:no|not) (?:less|fewer|lower) than|(?:more|greater|longer|higher) than|at least|over|above|exceed(?:s|ed|ing)|>=?|≥"
_MOST = r"(?:no|not) (?:more|greater|longer) than|(?:less|fewer|lower|shorter) than|at most|under|below|up to|within|<=?|≤"
_ABOUT = r"(?:about|around|roughly|nearly|almost|some|approximately|only|an?|the|average|mean|median|of)"
_TIME = r"(?:minute|hour|day|week|month|year)"
_NUMBERS = {"two": 2, "three": 3, "four": 4, "half": 50.0, "third": 100 / 3, "quarter": 25.0, "fifth": 20.0, "tenth": 10.0}
_PART = re.compile(
    rf"\b(?:(an?|one|two|three|four)[ -])?(half|(?<=[ -])(?:third|quarter|fifth|tenth))s?\b(?![ -](?:lif|liv|an? {_TIME}))", re.I
)
_UNITS = {
    r"%|per ?cent\b": ("percent", 1.0), r"times\b(?! (?:an?|per|daily|the)\b)": ("fold", 1.0), r"in [1-9]\d*\b": ("share", 1.0),
    r"s(?:ec(?:ond)?s?)?\b": ("s", 1.0), r"min(?:ute)?s?\b": ("s", 60.0), r"h(?:(?:ou)?rs?)?\b": ("s", 3600.0),
    r"days?\b": ("s", 86_400.0), r"w(?:ee)?ks?\b": ("s", 604_800.0), r"months?\b": ("s", 2_629_800.0),
    r"y(?:ea)?rs?\b": ("s", 31_557_600.0), r"(?:[µμ]g|mcg|microg(?:ram)?s?)\b": ("g", 1e-6), r"(?:mg|milligrams?)\b": ("g", 1e-3),
    r"g(?:rams?)?\b(?!/)": ("g", 1.0), r"(?:kg|mm ?Hg|mmol)\b": ("", 1.0),
}  # fmt: skip
"""How a unit is written; the unit that it is compared in, itself where that is "", and how many of that it is."""
_REWRITTEN = [
    (re.compile(r"\b9[059] ?%? ?(?:CI|confidence interval)\b[^);]*|\b[Pp] ?[<=>] ?[\d.]+|(?: ?±| ?\+/-) ?[\d.]+"), ""),
    (re.compile(rf"\bhalf an? (?={_TIME})", re.I), "0.5 "),
    (re.compile(rf"\b(than|least|about|by|within|over|under|nearly|almost) an? (?={_TIME})", re.I), r"\1 1 "),
    (re.compile(r"\bhalve[sd]?\b", re.I), "50 % fewer"),
    (re.compile(r"\bdouble[sd]?\b(?!-| blind)", re.I), "100 % more"),
    (re.compile(r"\btwice (?=as|the)", re.I), "2 times "),
    (re.compile(r"\b(\w+)[ -]?fold\b", re.I), r"\1 times"),
    (re.compile(rf"\bfrom (\d+(?:\.\d+)?) to (\d+(?:\.\d+)?) ?({'|'.join(_UNITS)})", re.I), r"from \1 \3 to \2 \3"),
    (re.compile(r"\b(\w+) (?:out )?of (ten|five|four|three|10|5|4|3)\b", re.I), r"\1 in \2"),
]
_FIGURE = re.compile(
    rf"(?:(?P<least>{_LEAST})|(?P<most>{_MOST}))? ?(?<![\w.,/-])(?P<low>\d+(?:,\d{{3}})*(?:\.\d+)?)"
    rf"(?: ?(?:-|to) ?(?P<high>\d+(?:\.\d+)?))?[ -]?(?P<unit>{'|'.join(_UNITS)})",
    re.I,
)
_FEWER = r"(?:fewer|lower|less|shorter|sooner|earlier|reduc|decreas|drop|f[ae]ll|declin)"
_CHANGE = rf"(?:{_FEWER}|higher|greater|more|longer|later|increas|r[io]se|improve)"
_BEFORE = re.compile(rf"(?:\bby|\bcut|{_CHANGE}\w*(?: \w+){{0,5}} of|\bexceed\w*)(?: {_ABOUT})* ?$", re.I)
_AFTER = re.compile(rf"(?:'s?)? ?(?:points? )?(?:as (?:many|much|likely|often|long|high)|(?:(?:relative|risk) )*{_CHANGE})", re.I)
_RATIO = re.compile(r"\b(?:relative risk|risk ratio|hazards? ratio|odds ratio|rate ratio|RR|HR|OR)\b[\w ,=:()]{0,12}?(\d+\.\d+)")
_ROUND, _EXACT = 1.3, 1.03
"""By what factor a claim's figure may differ from the paper's, as a rounder one does; the same for a bound."""


class Size(NamedTuple):
    """The numbers that a figure allows, in its unit: of a `change` between groups or over time, or of a value."""

    low: float
    high: float
    unit: str
    change: bool


def find_sizes(text: str, slack: float = _EXACT) -> list[Size]:
    """The figures with units that a text gives, wider by the factor `slack`; intervals and P values are left out."""
    text = unify_characters(text)
    text = _PART.sub(lambda part: f"{_NUMBERS.get(str(part[1]).lower(), 1) * _NUMBERS[part[2].lower()]:.1f} %", text)
    for pattern, new in _REWRITTEN:
        text = pattern.sub(new, text)
    ratios = [abs(1 - float(ratio)) * 100 for ratio in _RATIO.findall(text)]
    sizes = [_read_size(match, slack) for match in _FIGURE.finditer(alpha2digit(text, "en", threshold=0))]
    return sizes + [Size(value / slack, value * slack, "percent", True) for value in ratios]


def _read_size(match: re.Match[str], slack: float) -> Size:
    unit, factor = next(unit for pattern, unit in _UNITS.items() if re.fullmatch(pattern, match["unit"], re.I))
    low, high = (float((match[part] or match["low"]).replace(",", "")) * factor for part in ("low", "high"))
    after = match.string[match.end() :]
    change = unit == "fold" or bool(_BEFORE.search(match.string[: match.start()]) or _AFTER.match(after))
    if unit == "fold":
        low, high = sorted(
            100 - 100 / max(n, 1) if re.match(rf"\W*{_FEWER}", after, re.I) else 100 * n - 100 for n in (low, high)
        )
    elif unit == "share":
        low = high = 100 * low / float(match["unit"].split()[1])
    unit = "percent" if unit in ("fold", "share") else unit or match["unit"].lower().replace(" ", "")
    slack = _EXACT if match["least"] or match["most"] else slack
    return Size(0.0 if match["most"] else low / slack, inf if match["least"] else high * slack, unit, change)


def _find_differences(sizes: Sequence[Size]) -> list[Size]:
    """The changes that each two values of one unit make, in the unit and in per cent."""
    values = [((one.low + one.high) / 2, one.unit) for one in sizes if not one.change and one.low > 0 and one.high < inf]
    return [
        Size(value / _EXACT, value * _EXACT, name, True)
        for (one, unit), (other, another) in permutations(values, 2)
        if unit == another
        for value, name in ((abs(one - other), unit), (abs(one - other) / one * 100, "percent"))
    ]


def denies_size(claim: str, sentence: str, others: Sequence[str] = ()) -> bool:
    """Whether a claim and a sentence give figures for one thing, and none of theirs, or of the `others`, agree."""
    claimed = find_sizes(claim, _ROUND)
    if not claimed:
        return False
    stated = find_sizes(sentence)
    differences, rest = _find_differences(stated), [size for text in others for size in find_sizes(text)]
    for one in claimed:
        given, made, elsewhere = (
            [other for other in sizes if (other.unit, other.change) == (one.unit, one.change)]
            for sizes in (stated, differences, rest)
        )
        if (given or made) and not any(one.low <= other.high and other.low <= one.high for other in (given or made) + elsewhere):
            return True
    return False
