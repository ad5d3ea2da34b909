"""Readers' feedback as claims about papers: the output of `counterpoint feedback export`, measured as `eval claims` does."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import ValidationError

from eval.claims.measuring import measure_claims
from eval.claims.outcomes import ground_claims
from eval.claims.reading import PaperClaim, read_paper_claims
from eval.claims.report import ClaimsReport
from retrieval.core.errors import BadInput, BadRecord
from service.grounding.ground import Grounder
from service.memory.feedback import find_agreed
from service.memory.schemas import FeedbackOut


@dataclass(frozen=True, slots=True)
class FeedbackClaims:
    """The claims with the side that the readers say their paper is on; the claims whose paper they call neutral, which a CSV does
    not hold (their stance here is meaningless); and the number of claims on which readers disagree."""

    sided: list[PaperClaim]
    neutral: list[PaperClaim]
    disputed: int = 0


def read_feedback(path: Path) -> FeedbackClaims:
    """The feedback in a .jsonl file, or in any other file read as a CSV; raises `BadInput` where there is none to measure."""
    if path.suffix != ".jsonl":
        return FeedbackClaims(read_paper_claims(path), [])
    entries = _read_lines(path)
    lines = {one.id: line for line, one in entries}
    consensus, conflicts = find_agreed([one for _, one in entries])
    with_side = [
        PaperClaim(one.pmid, one.claim, one.right, f"shown as {one.shown}", lines[one.id])
        for one in consensus
        if one.right != "neutral"
    ]
    neutral = [PaperClaim(one.pmid, one.claim, "support", "", lines[one.id]) for one in consensus if one.right == "neutral"]
    if not with_side:
        raise BadInput(
            f"{path} has no feedback that names a side and that its readers agree on; expected at least one line whose right is "
            "support or contradict."
        )
    return FeedbackClaims(with_side, neutral, conflicts)


def measure_feedback(feedback: FeedbackClaims, path: Path, grounder: Grounder, work: Path, command: str) -> ClaimsReport:
    """The report of `eval claims` on claims with a side, with a note on the neutral ones: right where the paper is on no side."""
    report = measure_claims(feedback.sided, path, grounder, work, command)
    notes = list(report.notes)
    if feedback.neutral:
        outcomes = ground_claims(feedback.neutral, grounder, work)
        on_none = sum(one.outcome in ("unsure", "absent") for one in outcomes)
        notes.append(f"Neutral by their readers: {on_none} of {len(outcomes)} are listed on neither side.")
    if feedback.disputed:
        notes.append(f"Left out: {feedback.disputed} on which readers disagree.")
    return replace(report, notes=tuple(notes))


def _read_lines(path: Path) -> list[tuple[int, FeedbackOut]]:
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} cannot be read ({error}); name a file that `counterpoint feedback export` wrote.") from None
    entries = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            entries.append((number, FeedbackOut.model_validate(json.loads(line))))
        except (ValueError, ValidationError):
            hint = "expected a line that `counterpoint feedback export` wrote, got something else."
            raise BadRecord(path, f"line {number}", hint) from None
    return entries
