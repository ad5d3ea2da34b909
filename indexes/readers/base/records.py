"""What readers yield, and what happens to a record that cannot be read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from retrieval.core.errors import BadInput, BadRecord, CounterpointError
from retrieval.core.values import Document


@dataclass(frozen=True, slots=True)
class Deletion:
    """PubMed has withdrawn this PMID: whatever an index holds for it must be deleted."""

    pmid: str


@dataclass(frozen=True, slots=True)
class Omission:
    """A record of an export that has no abstract: nothing can be found in it, so it is counted and left out."""

    pmid: str


class Note(BadRecord):
    """What a user should know about a file or a record that was read all the same; `expected` says it."""


Record = Document | Deletion | Omission
OnBad = Callable[[BadRecord], None]
"""Told of every bad record and of every `Note`."""
_Piece = TypeVar("_Piece")
_Result = TypeVar("_Result")


class RecordError(ValueError):
    """Why one record cannot be read ("expected …, came …"), before its place is known; it becomes a BadRecord."""


def make_records(
    path: Path, pieces: Iterable[tuple[str, _Piece]], make: Callable[[_Piece], _Result], on_bad: OnBad
) -> Iterator[_Result]:
    """What `make` makes of each piece of a file, in its order: a record for each, or a fault that names its place.

    Libraries raise errors of many types about a record that they did not foresee; none of them ends the file.
    """
    for place, piece in pieces:
        try:
            record = make(piece)
        except RecordError as error:
            on_bad(BadRecord(path, place, str(error)))
        except (CounterpointError, MemoryError):
            raise
        except RecursionError:
            on_bad(BadRecord(path, place, "expected a record that can be read, found brackets nested too deeply"))
        except Exception as error:
            fault = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            on_bad(BadRecord(path, place, f"expected a record that can be read, found a fault ({fault})"))
        else:
            yield record


def raise_bad(fault: BadRecord) -> None:
    """Stop at the first bad record, and say how to go on."""
    if isinstance(fault, Note):
        return
    hint = "correct the record, or skip up to N such records with --skip-bad N."
    raise BadRecord(fault.source, fault.record, f"{fault.expected}; {hint}") from None


class SkipBad:
    """Skip up to `limit` bad records, over all the files of one job; `faults` and `notes` list what came, in order."""

    SHOWN = 5

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.faults: list[BadRecord] = []
        self.notes: list[Note] = []

    def __call__(self, fault: BadRecord) -> None:
        """Record one fault or note; raise if a fault is one too many."""
        if isinstance(fault, Note):
            self.notes.append(fault)
            return
        if self.limit <= 0:
            raise_bad(fault)
        self.faults.append(fault)
        if len(self.faults) > self.limit:
            first = "; ".join(str(fault) for fault in self.faults[: self.SHOWN])
            raise BadInput(
                f"More than {self.limit} bad records, the limit set by --skip-bad; the first ones: {first}; "
                f"correct them, or allow more with --skip-bad N."
            ) from fault
