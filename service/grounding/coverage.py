"""What was found for a claim and how much was checked, in words."""

from __future__ import annotations

from collections.abc import Sequence

from retrieval.core.values import BranchCounts, Evidence, Grounding


def summary(grounding: Grounding) -> str:
    """What was found and how much was checked, in one to three sentences; even if nothing was found."""
    counts = grounding.checked["contradict"]
    if not counts.documents and not grounding.checked["support"].documents:
        return "No document of the index shares a word with this claim, so nothing could be checked."
    judged, candidates = format_count(counts.judged, "sentence"), format_count(counts.candidates, "candidate sentence")
    where = f"{judged} checked" if counts.judged else candidates
    against = len(grounding.contradicting)
    first = (
        f"{format_count(against, 'document')} found that may contradict the claim; {where}"
        if against
        else f"No contradiction found among {where}"
    )
    first += f" in {_read(counts)}."
    for_it, among = len(grounding.supporting), _read(grounding.checked["support"], grounding.supporting)
    found = f"{format_count(for_it, 'document')} found that may support it," if for_it else "No support found"
    close = len(grounding.uncertain)
    third = (
        f" {format_count(close, 'document')} came close and {'is' if close == 1 else 'are'} listed as uncertain." if close else ""
    )
    return f"{first} {found} among {among}.{third}"


def _read(counts: BranchCounts, shown: Sequence[Evidence] = ()) -> str:
    """The documents looked at, "n of m" if not all were read; a judge that only chose the sentences `shown` read none."""
    some = f"{counts.read:,} of " if len(shown) < counts.read < counts.documents else ""
    return some + format_count(counts.documents, "document")


def format_count(count: int, noun: str) -> str:
    """A count with its noun: "1 document", "2,000 documents"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
