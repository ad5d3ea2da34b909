"""Fusing several rankings into one."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from retrieval.core.values import Hit


def reciprocal_rank_fusion(rankings: Iterable[Sequence[Hit]], k: int = 60) -> list[Hit]:
    """Every document of `rankings`, best first, scored by the sum of 1 / (k + rank) over the rankings that contain it.

    Ranks count from 1; scores within the rankings play no part. Ties go to the document met first when reading the rankings in
    their order, each from its top. Cormack, Clarke and Büttcher 2009
    (https://doi.org/10.1145/1571941.1572114), where k is 60.
    """
    shares: dict[str, list[float]] = {}
    for ranking in rankings:
        for rank, hit in enumerate(ranking, 1):
            shares.setdefault(hit.pmid, []).append(1 / (k + rank))
    # fsum rounds once: equal ranks give exactly the same sum, whatever the order of the rankings.
    hits = [Hit(pmid, math.fsum(share)) for pmid, share in shares.items()]
    return sorted(hits, key=lambda hit: -hit.score)
