"""Where a gold document was lost: one word for each document, from the trace of a branch."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from retrieval.core.values import Label, Stance

Fate = Literal[
    "found",
    "other_side",
    "not_retrieved",
    "beyond",
    "filtered",
    "not_asked",
    "judged_neutral",
    "judged_opposite",
    "crowded_out",
]
FATES: Mapping[Fate, str] = {
    "found": "returned on its own side",
    "other_side": "returned on the other side, so kept from this one (contradictions are decided first)",
    "not_retrieved": "not among the documents that the branch retrieves",
    "beyond": "retrieved, but behind the documents that the branch judges",
    "filtered": "no sentence of it passes the branch's filter (no negation cue)",
    "not_asked": "a sentence passes, but none is among the few that the profile lets the judge be asked about (skim)",
    "judged_neutral": "judged, and called neutral",
    "judged_opposite": "judged, and called the opposite stance",
    "crowded_out": "called the right stance, or of a branch that judges nothing, but not among the n returned",
}
"""In the order in which a document meets them."""


@dataclass(frozen=True, slots=True)
class Trace:
    """What one branch did for a claim, as far as its gold documents need it.

    `retrieved` is the ranking before any model saw it; `ranked` is the ranking after reranking (the same where nothing reranks);
    `reads` is how many of `ranked` the judge may read (None: all); `passed` holds the gold documents with a sentence that passes
    the filter; `asked` those with a text that the judge was asked about; `labels` the judge's label for each of these (both are
    None where the branch judges nothing); `whole` the documents that the branch would return if it returned all it can, down to
    the last gold one.
    """

    retrieved: tuple[str, ...]
    ranked: tuple[str, ...]
    reads: int | None
    passed: frozenset[str]
    asked: frozenset[str] | None
    labels: Mapping[str, Label] | None
    whole: tuple[str, ...]


def fate(pmid: str, stance: Stance, trace: Trace, returned: Collection[str], elsewhere: Collection[str]) -> Fate:
    """What became of a gold document of a stance in the branch of that stance.

    `returned` is what the branch returned, `elsewhere` what the other branch returned. Contradictions are decided first
    (service.grounding.ground), so only a supporting document can be lost to the other side.
    """
    if pmid in returned:
        return "found"
    if stance == "support" and pmid in elsewhere:
        return "other_side"
    if pmid not in trace.retrieved:
        return "not_retrieved"
    # The reranker may have read only the first documents (`rerank.first`); those it did not see are not in its ranking.
    if pmid not in trace.ranked[: trace.reads]:
        return "beyond"
    if pmid not in trace.passed:
        return "filtered"
    if trace.asked is not None and pmid not in trace.asked:
        return "not_asked"
    label = stance if trace.labels is None else trace.labels.get(pmid, "neutral")
    if label == stance:
        return "crowded_out"
    return "judged_neutral" if label == "neutral" else "judged_opposite"
