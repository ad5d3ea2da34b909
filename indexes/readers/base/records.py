"""What readers yield, and what happens to a record that cannot be read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from retrieval.core.errors import BadInput, BadRecord
from retrieval.core.values import Document


@dataclass(frozen=True, slots=True)
class Deletion:
    """PubMed has withdrawn this PMID: whatever an index holds for it must be deleted."""

    pmid: str


@dataclass(frozen=True, slots=True)
class Omission:
    """A record of an export that has no abstract: nothing can be found in it, so it is counted and left out."""

    pmid: str


Record = Document | Deletion | Omission
OnBad = Callable[[BadRecord], None]


class RecordError(ValueError):
    """Why one record cannot be read ("expected …, came …"), before its place is known; it becomes a BadRecord."""


def raise_bad(fault: BadRecord) -> None:
    """Stop at the first bad record, and say how to go on."""
    hint = "correct the record, or skip up to N such records with --skip-bad N."
    raise BadRecord(fault.source, fault.record, f"{fault.expected}; {hint}") from None


class SkipBad:
    """Skip up to `limit` bad records, over all the files of one job; `faults` lists them in the order they came."""

    SHOWN = 5

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.faults: list[BadRecord] = []

    def __call__(self, fault: BadRecord) -> None:
        """Record one fault; raise if it is one too many."""
        if self.limit <= 0:
            raise_bad(fault)
        self.faults.append(fault)
        if len(self.faults) > self.limit:
            first = "; ".join(str(one) for one in self.faults[: self.SHOWN])
            raise BadInput(
                f"More than {self.limit} bad records, the limit set by --skip-bad; the first ones: {first}; "
                f"correct them, or allow more with --skip-bad N."
            ) from fault
