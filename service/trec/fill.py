"""Fill: of the papers read for a sentence, the citations with the highest expected score, however improbable they are.

The track counts a sentence without a prediction as 0, so that a run which abstains loses wherever a guess could be right.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product

import numpy as np

from counterpoint.retrieval.core.values import Evidence, Grounding, Stance
from counterpoint.service.trec.records import MAX_CITATIONS


def choose_best(grounding: Grounding) -> dict[Stance, list[Evidence]]:
    """The papers to cite on each side, at most three, the most probable first; known and retracted papers on neither.

    Of all pairs of lists without a common paper, the pair with the highest sum of `expect_f1`.
    """
    found = (grounding.contradicting, grounding.supporting, grounding.uncertain, grounding.more, grounding.silent)
    papers = [
        (one, {"support": one.verdict.support, "contradict": one.verdict.contradict})
        for part in found
        for one in part
        if not one.document.retracted and one.document.pmid not in grounding.claim.known_pmids
    ]
    sides: list[list[tuple[tuple[int, ...], float]]] = []
    for side in ("support", "contradict"):
        # The other side takes at most three of the first six, so that no list needs a paper behind them.
        places = sorted(range(len(papers)), key=lambda place: -papers[place][1][side])[: 2 * MAX_CITATIONS]
        lists = [one for size in range(MAX_CITATIONS + 1) for one in combinations(places, size)]
        sides.append([(one, expect_f1([papers[place][1][side] for place in one])) for one in lists])
    pairs = (pair for pair in product(*sides) if not set(pair[0][0]) & set(pair[1][0]))
    # Of equals, the one with more support; max() then takes the first, the shorter lists: a paper with the probability 0 is not
    # cited.
    (support, _), (contradict, _) = max(pairs, key=lambda pair: (pair[0][1] + pair[1][1], pair[0][1]))
    return {"support": [papers[place][0] for place in support], "contradict": [papers[place][0] for place in contradict]}


def expect_f1(probabilities: Sequence[float]) -> float:
    """The expected F1 of a list of PMIDs that are right with these independent probabilities, 0 to 1; 0 for an empty list.

    With m of k right, precision is m / k and the track's soft recall 1 if m > 0, so that F1 is 2m / (k + m). With p1 ≥ p2 ≥ p3,
    the expectations are p1 for one PMID, 2/3 (p1 + p2) − 1/3 p1 p2 for two, and 1/2 (p1 + p2 + p3) − 1/5 (p1 p2 + p1 p3 + p2 p3)
    + 1/10 p1 p2 p3 for three. So one always pays, a second where p2 > p1 / (2 − p1), and a third where
    p3 > (5 (p1 + p2) − 4 p1 p2) / (15 − 6 (p1 + p2) + 3 p1 p2).
    """
    right = np.ones(1)
    for probability in probabilities:
        right = np.convolve(right, [1 - probability, probability])
    return float(sum(share * 2 * m / (len(probabilities) + m) for m, share in enumerate(right) if m))
