"""Comparisons said the other way round: "A lowers pain more than B" as "A lowers pain less than B"."""

from __future__ import annotations

import re

OPPOSITES = dict(
    pair.split("/")
    for pair in (
        "more/less less/more fewer/more higher/lower lower/higher greater/smaller smaller/greater larger/smaller better/worse "
        "worse/better longer/shorter shorter/longer faster/slower slower/faster quicker/slower earlier/later later/earlier "
        "stronger/weaker weaker/stronger safer/riskier"
    ).split()
)
"""Comparatives, each with its opposite."""
COMPARATIVE = re.compile(rf"\b(?:{'|'.join(OPPOSITES)})\b", re.IGNORECASE)
_DENIAL = re.compile(
    r"\b(?:no|not|never|cannot|nor|neither|without|hardly|barely|fail\w*|similar\w*|equal\w*|differen\w*|same|as)\b|n't\b",
    re.IGNORECASE,
)
"""Words that make it doubtful what the opposite would be: "no better than"."""


def turn_comparison(claim: str) -> str | None:
    """The claim with its one comparative replaced by the opposite; None if it has no "than" or may be a denial."""
    found = list(COMPARATIVE.finditer(claim))
    if len(found) != 1 or not re.search(r"\bthan\b", claim) or _DENIAL.search(claim):
        return None
    start, end = found[0].span()
    return f"{claim[:start]}{OPPOSITES[found[0][0].lower()]}{claim[end:]}"
