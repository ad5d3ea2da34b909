"""Contrast sets of our own: a finding as a paper would report it, with claims that it supports, contradicts and leaves open.

Each line of `contrasts/*.jsonl` has `text` (sentences), `evidence` (the places of those that settle the claims), the claims
`support`, `contradict` and `neutral`, the `kind` of wording it tests, and sometimes a `title`. Subjects and figures are invented.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from nli.training.pairs import CONTRADICT, NEUTRAL, SUPPORT
from nli.training.reader.lesson import Lesson

SIDES = (("support", SUPPORT), ("contradict", CONTRADICT), ("neutral", NEUTRAL))


def read_contrasts(folder: Path) -> list[dict[str, Any]]:
    """All sets in the folder, in the order of its files."""
    return [json.loads(line) for path in sorted(folder.glob("*.jsonl")) for line in path.read_text("utf-8").splitlines()]


def make_contrast_lessons(sets: Sequence[Mapping[str, Any]], leans: Mapping[str, float]) -> Iterator[Lesson]:
    """Every claim of each set paired with the set's text; the claims of a set are in one batch."""
    for number, one in enumerate(sets):
        for side, label in SIDES:
            for claim in one[side]:
                evidence = () if label == NEUTRAL else tuple(one["evidence"])
                yield Lesson(
                    claim, "", tuple(one["text"]), label, evidence, "contrasts", f"contrast {number}", leans.get(claim, 0.0)
                )
