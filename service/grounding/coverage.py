"""What was found for a claim and how much was checked, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from retrieval.core.english import format_count
from retrieval.core.values import BranchCounts, Evidence, Grounding

if TYPE_CHECKING:
    from service.schemas import UsageOut


def summary(grounding: Grounding) -> str:
    """What was found and how much was checked, in one to three sentences; even if nothing was found."""
    counts = grounding.checked["contradict"]
    if not counts.documents and not grounding.checked["support"].documents:
        return "No document of the index shares a word with this claim, so nothing could be checked."
    sentences, candidates = format_count(counts.judged, "sentence"), format_count(counts.candidates, "candidate sentence")
    where = f"{sentences} checked" if counts.judged else candidates
    against = len(grounding.contradicting)
    opening = (
        f"{format_count(against, 'document')} found that may contradict the claim; {where}"
        if against
        else f"No contradiction found among {where}"
    )
    opening += f" in {_describe_documents(counts)}."
    for_it, among = len(grounding.supporting), _describe_documents(grounding.checked["support"], grounding.supporting)
    support = f"{format_count(for_it, 'document')} found that may support it," if for_it else "No support found"
    close = len(grounding.uncertain)
    third = f" {format_count(close, 'document')} {'is' if close == 1 else 'are'} listed as uncertain." if close else ""
    return f"{opening} {support} among {among}.{third}"


def _describe_documents(counts: BranchCounts, evidence: Sequence[Evidence] = ()) -> str:
    """The documents looked at, "n of m" if not all were read; a judge that only chose the sentences `evidence` read none."""
    some = f"{counts.read:,} of " if len(evidence) < counts.read < counts.documents else ""
    return some + format_count(counts.documents, "document")


def describe_usage(usage: UsageOut | None) -> str:
    """What language models were asked, in a sentence; "" if none was."""
    if usage is None or not (usage.requests or usage.cached):
        return ""
    about = "about " if usage.estimated else ""
    tokens = f", {about}{usage.prompt_tokens:,} + {format_count(usage.completion_tokens, 'token')}" if usage.requests else ""
    cost = f", {about}{usage.cost:.4f} US dollars" if usage.cost is not None else ""
    kept = f" {usage.cached:,} {'reply was' if usage.cached == 1 else 'replies were'} there from earlier." if usage.cached else ""
    spent = " Its budget is spent; the embedded models did the rest." if usage.spent else ""
    return f"Language model: {format_count(usage.requests, 'request')}{tokens}{cost}.{kept}{spent}"
