"""Claims about papers: what each paper says about a claim, according to whoever wrote the file; a CSV, or readers' feedback."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from retrieval.core.errors import BadInput, BadRecord
from retrieval.core.values import LABELS, Label
from service.grounding.claims import check_claim
from service.memory.feedback import find_agreed
from service.memory.schemas import FeedbackOut

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
    for line, row in _rows(path):
        one = _claim(path, line, row)
        first = lines.setdefault((one.pmid, one.claim), line)
        if first != line:
            raise BadRecord(path, f"line {line}", f"expected each claim once per paper; this one repeats line {first}.")
        claims.append(one)
    if not claims:
        raise BadInput(f"{path} contains no claim; expected a line with {', '.join(REQUIRED)} for each claim below the header.")
    return claims


def _text(path: Path) -> str:
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise BadInput(f"{path} cannot be read ({error.strerror}); name a CSV with the columns {', '.join(REQUIRED)}.") from None
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise BadRecord(
            path, f"line {line}", f"expected UTF-8, got the byte 0x{raw[error.start]:02x}; save the file as UTF-8."
        ) from None


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Each row below the header as a mapping from column to cell, with the line that it begins on; blank lines are skipped."""
    reader = csv.reader(io.StringIO(_text(path), newline=""), strict=True)
    names: list[str] | None = None
    while True:
        line = reader.line_num + 1
        try:
            row = next(reader, None)
        except csv.Error as error:
            raise BadRecord(path, f"line {line}", f"expected a row of a CSV, got one that cannot be read ({error}).") from None
        if row is None:
            break
        if not any(cell.strip() for cell in row):
            continue
        if names is None:
            names = _header(path, line, row)
        elif len(row) != len(names):
            hint = f"expected {len(names)} columns as in the header, got {len(row)}; quote fields that contain a comma."
            raise BadRecord(path, f"line {line}", hint)
        else:
            yield line, dict(zip(names, (cell.strip() for cell in row), strict=True))
    if names is None:
        raise BadInput(f"{path} is empty; expected a CSV whose header names {', '.join(REQUIRED)}, and perhaps {KIND}.")


def _header(path: Path, line: int, row: Sequence[str]) -> list[str]:
    names = [cell.strip() for cell in row]
    for name in REQUIRED:
        if name not in names:
            raise BadRecord(path, f"line {line}", f"expected a header with the column {name}, got {', '.join(names)}.")
    for name in (*REQUIRED, KIND):
        if names.count(name) > 1:
            raise BadRecord(
                path, f"line {line}", f"expected the column {name} once in the header, found it {names.count(name)} times."
            )
    return names


def _claim(path: Path, line: int, row: dict[str, str]) -> PaperClaim:
    stance = next((one for one in LABELS if one == row["stance"]), None)
    if stance is None:
        raise BadRecord(
            path, f"line {line}", f"expected {', '.join(LABELS[:-1])} or {LABELS[-1]} in stance, got {row['stance']!r}."
        )
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
    entries = _read_lines(path)
    lines = {one.id: line for line, one in entries}
    consensus, conflicts = find_agreed([one for _, one in entries])
    if not consensus:
        raise BadInput(f"{path} has no feedback that its readers agree on; expected at least one line.")
    return [PaperClaim(one.pmid, one.claim, one.right, f"shown as {one.shown}", lines[one.id]) for one in consensus], conflicts


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
