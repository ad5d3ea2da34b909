"""Choose sentences that show the most aspects, with an exact solution by integer programming (SciPy's HiGHS)."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

Shown = Mapping[str, Collection[int]]
"""The sentences that show each aspect."""


def cover_all(evidence: Shown) -> tuple[int, ...]:
    """The fewest sentences that together show every aspect, in the paper's order; each aspect has a sentence."""
    return _choose(evidence, None)


def cover_most(evidence: Shown, k: int) -> tuple[int, ...]:
    """At most `k` sentences that together show the most aspects, in the paper's order."""
    return _choose(evidence, k)


def _choose(evidence: Shown, k: int | None) -> tuple[int, ...]:
    """With `k` the variables are sentences and aspects, and an aspect counts if a chosen sentence shows it; else sentences."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    rows = sorted({one for sentences in evidence.values() for one in sentences})
    if not rows:
        return ()
    place = {row: at for at, row in enumerate(rows)}
    table = np.zeros((len(evidence), len(rows)))
    for at, sentences in enumerate(evidence.values()):
        table[at, [place[one] for one in sentences]] = 1.0
    if k is None:
        cost, rules = np.ones(len(rows)), [LinearConstraint(table, lb=1.0)]
    else:
        aspects = len(evidence)
        # Each chosen sentence has a tiny cost: of two choices that show equally many aspects, the smaller one wins.
        cost = np.concatenate([np.full(len(rows), 0.5 / (len(rows) + 1)), -np.ones(aspects)])
        rules = [
            LinearConstraint(np.hstack([table, -np.eye(aspects)]), lb=0.0),
            LinearConstraint(np.concatenate([np.ones(len(rows)), np.zeros(aspects)])[None, :], ub=float(k)),
        ]
    solution = milp(cost, constraints=rules, integrality=np.ones(len(cost)), bounds=Bounds(0, 1))
    return tuple(row for row, value in zip(rows, solution.x, strict=False) if value > 0.5)
