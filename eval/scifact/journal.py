"""A variant's results, kept claim by claim."""

from __future__ import annotations

from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from eval.scifact.files import LabelledClaim
from eval.scifact.observing import ClaimResult
from retrieval.store.journal import Journal, Origin, hash_json

_RESULT: TypeAdapter[ClaimResult] = TypeAdapter(ClaimResult)


class ClaimJournal:
    """The finished claims of one variant. A claim is identified by its text and gold documents, so a file may grow."""

    def __init__(self, folder: Path, name: str, origin: Origin) -> None:
        self._journal = Journal.of(origin, folder, name)

    def get(self, claim: LabelledClaim) -> ClaimResult | None:
        """The result of a claim, or None where there is none yet."""
        try:
            return _RESULT.validate_python(self._journal.get(_key(claim)))
        except ValidationError:
            return None

    def add(self, claim: LabelledClaim, result: ClaimResult) -> None:
        """Keep a result; it is on the disk when this returns."""
        self._journal.add(_key(claim), _RESULT.dump_python(result, mode="json"))


def _key(claim: LabelledClaim) -> str:
    return hash_json(
        [claim.claim.id, claim.claim.text, sorted((pmid, gold.stance) for pmid, gold in claim.gold.items())],
    )[:16]
