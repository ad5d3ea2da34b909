"""Readers' feedback as claims about papers: the output of `counterpoint feedback export`, measured as `eval claims` does."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import ValidationError

from eval.claims.measuring import measure_claims
from eval.claims.reading import PaperClaim, read_paper_claims
from eval.claims.report import ClaimsReport
from retrieval.core.errors import BadInput, BadRecord
from service.grounding.ground import Grounder
from service.memory.feedback import find_agreed
from service.memory.schemas import FeedbackOut


@dataclass(frozen=True, slots=True)
class FeedbackClaims:
    """The claims with what their readers say about each paper, and the number of claims on which readers disagree."""

    claims: list[PaperClaim]
    disputed: int = 0


def read_feedback(path: Path) -> FeedbackClaims:
    """The feedback in a .jsonl file, or in any other file read as a CSV; raises `BadInput` where there is none to measure."""
    if path.suffix != ".jsonl":
        return FeedbackClaims(read_paper_claims(path))
    entries = _read_lines(path)
    lines = {one.id: line for line, one in entries}
    consensus, conflicts = find_agreed([one for _, one in entries])
    if not consensus:
        raise BadInput(f"{path} has no feedback that its readers agree on; expected at least one line.")
    claims = [PaperClaim(one.pmid, one.claim, one.right, f"shown as {one.shown}", lines[one.id]) for one in consensus]
    return FeedbackClaims(claims, conflicts)


def measure_feedback(feedback: FeedbackClaims, path: Path, grounder: Grounder, work: Path, command: str) -> ClaimsReport:
    """The report of `eval claims` on these claims."""
    report = measure_claims(feedback.claims, path, grounder, work, command)
    if not feedback.disputed:
        return report
    return replace(report, notes=(*report.notes, f"Left out: {feedback.disputed} on which readers disagree."))


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
