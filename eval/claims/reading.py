"""Claims about papers: what each paper says about a claim, according to whoever wrote the file; a CSV, or readers' feedback."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from counterpoint.eval.measures.columns import read_columns
from counterpoint.indexes.readers.base.fields import RecordError
from counterpoint.indexes.readers.base.jsonl import read_some
from counterpoint.retrieval.core.english import list_words
from counterpoint.retrieval.core.errors import BadInput, BadRecord
from counterpoint.retrieval.core.values import LABELS, Label
from counterpoint.service.grounding.claims import check_claim
from counterpoint.service.memory.feedback import find_agreed
from counterpoint.service.memory.schemas import FeedbackOut

REQUIRED = ("pmid", "claim", "stance")
KIND = "kind"


@dataclass(frozen=True, slots=True)
class PaperClaim:
    """A claim, the paper that it is about, what that paper says about it (neutral: it leaves the claim open), and a kind to
    group by ("" for none).

    `line` is its line in the file, from 1; 0 where it is not from a file.
    """

    pmid: str
    claim: str
    stance: Label
    kind: str = ""
    line: int = 0


def read_paper_claims(path: Path) -> list[PaperClaim]:
    """The claims of a UTF-8 CSV whose header names pmid, claim and stance and, optionally, kind; other columns are ignored.

    Raises `BadInput` for a file that cannot be used and `BadRecord` for an invalid row.
    """
    claims: list[PaperClaim] = []
    lines: dict[tuple[str, str], int] = {}
    for line, row in read_columns(path, REQUIRED):
        one = _claim(path, line, row)
        first = lines.setdefault((one.pmid, one.claim), line)
        if first != line:
            raise BadRecord(path, f"line {line}", f"expected each claim once per paper; this one repeats line {first}.")
        claims.append(one)
    if not claims:
        raise BadInput(f"{path} contains no claim; expected a line with {', '.join(REQUIRED)} for each claim below the header.")
    return claims


def _claim(path: Path, line: int, row: dict[str, str]) -> PaperClaim:
    stance = next((one for one in LABELS if one == row["stance"]), None)
    if stance is None:
        raise BadRecord(path, f"line {line}", f"expected {list_words(LABELS, 'or')} in stance, got {row['stance']!r}.")
    if not row["pmid"]:
        raise BadRecord(path, f"line {line}", "expected the PMID of a paper in pmid, got nothing.")
    try:
        claim = check_claim(row["claim"])
    except BadInput as error:
        raise BadRecord(path, f"line {line}", str(error)) from None
    return PaperClaim(row["pmid"], claim.text, stance, row.get(KIND, ""), line)


def read_feedback(path: Path) -> tuple[list[PaperClaim], int]:
    """What `counterpoint feedback export` wrote, .jsonl or CSV: the claims on which readers agree, and on how many they do not.

    Raises `BadInput` where there is none to measure.
    """
    if path.suffix != ".jsonl":
        return read_paper_claims(path), 0
    lines: dict[str, int] = {}

    def read(row: dict[str, Any], line: int) -> FeedbackOut:
        try:
            one = FeedbackOut.model_validate(row)
        except ValidationError:
            raise RecordError("expected a line that `counterpoint feedback export` wrote, got something else") from None
        lines[one.id] = line
        return one

    consensus, conflicts = find_agreed(read_some(path, read, "feedback", "what `counterpoint feedback export` writes"))
    if not consensus:
        raise BadInput(f"{path} has no feedback that its readers agree on; expected at least one line.")
    return [PaperClaim(one.pmid, one.claim, one.right, f"shown as {one.shown}", lines[one.id]) for one in consensus], conflicts
