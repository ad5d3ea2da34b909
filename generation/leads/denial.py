"""Whether a sentence denies what a claim says: by the negations of the clause that speaks of the claim's outcome.

"Although the capsule does not reduce diarrhea, bowel habits stay regular" denies that it prevents diarrhea; "dill has no effect,
but garlic lowers cholesterol" does not deny that garlic does. A judge may be led astray by the rest of such a sentence; words of
negation beside the outcome are plain, and so are differences none of which is significant ("14 % lower, P = 0.3", "relative risk
0.8, 95 % CI 0.6 to 1.1"). Claims that a finding of no difference bears out ("is safe") are denied by none of this.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from generation.sentences.phrases import compile_phrases, list_alternatives

_CLAUSE = re.compile(rf"[,;:]\s+|\s+(?={list_alternatives('clause (opening)')}\s)", re.IGNORECASE)
_OPENING = re.compile(rf"(?:{list_alternatives('clause (opening)')})\b", re.IGNORECASE)
_SUBORDINATES = re.compile(r"\b(?:whether|that)\b", re.IGNORECASE)
_DENIES, _AFFIRMED = compile_phrases("denies"), compile_phrases("affirmed by no difference")
_P_VALUE = re.compile(r"\bp\s*([<=>≤≥])\s*(0?\.\d+)|(\bp\s*[=,]?\s*n\.?s\b|\(\s*n\.?s\b)", re.IGNORECASE)
_SIGNIFICANT = 0.05
_RATIO = re.compile(r"\b(?:a?OR|RR|a?HR|IRR)\b|\b(?:odds|rate|risk|hazards?) ratios?\b|\brelative risks?\b")
_INTERVAL = re.compile(
    r"(?:\bCIs?\b|\bconfidence intervals?\b)[^\d−-]{0,14}(\d*\.?\d+)\s*(?:[-–—−,;]|to)\s*(\d*\.?\d+)"
    r"|[(\[]\s*(\d*\.\d+)\s*(?:[-–—−,;]|to)\s*(\d*\.\d+)\s*[)\]]",
    re.IGNORECASE,
)


def is_insignificant(text: str) -> bool:
    """Whether no P value of a text is at most 0.05 or, if it has none, no confidence interval of its ratios excludes 1."""
    if values := list(_P_VALUE.finditer(text)):
        return all(one[3] or one[1] in ">≥" or float(one[2]) > _SIGNIFICANT for one in values)
    intervals = [(float(one[1] or one[3]), float(one[2] or one[4])) for one in _INTERVAL.finditer(text)]
    return bool(intervals and _RATIO.search(text)) and all(low <= 1 <= high for low, high in intervals)


def is_denial(text: str, claim: str, about: Callable[[str], float]) -> bool:
    """Whether a text denies an affirmative claim: by its P values, or by the clause that is most about the outcome.

    `about` says how much a clause is, 0 to 1.
    """
    if _AFFIRMED.search(claim):
        return False
    if is_insignificant(text):
        return True
    if not _DENIES.search(text):
        return False
    clauses = _split_clauses(text)
    # Of clauses equally about it, the last one counts.
    best = max(range(len(clauses)), key=lambda place: (about(clauses[place]), place), default=0)
    return bool(clauses) and _DENIES.search(clauses[best]) is not None


def _split_clauses(text: str) -> list[str]:
    """The clauses of a sentence; what is denied in a clause with "whether" or "that" is not split from its denial.

    "This calls into question whether running, at any speed, prevents gout" is one clause.
    """
    clauses: list[str] = []
    for clause in filter(str.strip, _CLAUSE.split(text)):
        denied = _DENIES.search(clauses[-1]) if clauses else None
        if denied and _SUBORDINATES.search(clauses[-1], denied.start()) and not _OPENING.match(clause):
            clauses[-1] += f", {clause}"
        else:
            clauses.append(clause)
    return clauses
