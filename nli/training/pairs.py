"""One labelled pair, and the order of the labels."""

from __future__ import annotations

from dataclasses import dataclass

LABELS = ("support", "neutral", "contradict")
SUPPORT, NEUTRAL, CONTRADICT = range(3)


@dataclass(frozen=True, slots=True)
class Pair:
    """What the model reads and what it should answer; `source` names the set or the rule, for the counts."""

    claim: str
    text: str
    title: str
    label: int
    source: str
