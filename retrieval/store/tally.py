"""Document counts and the hash of the texts, kept as sums so that an update counts only what it changed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from retrieval.store.manifest import IndexCounts
from retrieval.store.rows import RETRACTING, unpack

TALLIED = "pmid, title, abstract, boundaries, cues, retracted"
"""The columns of a row that counts."""
_MODULUS = 2**256


class Tally:
    """Counts and a sum of hashes, of no documents or of those that a manifest counted (`IndexCounts`, `corpus_sha256`)."""

    def __init__(self, counts: IndexCounts | None = None, digest: str = "0") -> None:
        base = counts or IndexCounts(0, 0, 0, 0, 0)
        self._documents, self._sentences, self._cues, self._cue_sentences = (
            base.documents, base.sentences, base.cues, base.cue_sentences,
        )  # fmt: skip
        self.retracted = base.retracted
        self._total = int(digest, 16)

    def add(self, row: Sequence[Any], times: int = 1) -> None:
        """Count a row of `TALLIED`; with -1, take it out again."""
        pmid, title, abstract, boundaries, cues, retracted = row
        # A sum of hashes: the same texts give the same figure in whatever order they came, and none need be sorted.
        digest = hashlib.sha256("\x1f".join((pmid, title, abstract)).encode())
        self._total += times * int.from_bytes(digest.digest())
        cue_rows = unpack(cues, 4)
        self._documents += times
        self._sentences += times * (len(boundaries) // 8)
        self._cues += times * len(cue_rows)
        self._cue_sentences += times * len({cue[0] for cue in cue_rows})
        self.retracted += times * (retracted > 0)

    @property
    def counts(self) -> IndexCounts:
        """What was counted."""
        return IndexCounts(self._documents, self._sentences, self._cues, self._cue_sentences, self.retracted)

    @property
    def digest(self) -> str:
        """The sum of the hashes, as a manifest has it."""
        return f"{self._total % _MODULUS:064x}"


def find_targets(notices: str) -> list[str]:
    """The documents that a row's notices (JSON) say are retracted."""
    if "Retract" not in notices:
        return []
    return [target for kind, target in json.loads(notices) if kind in RETRACTING]
