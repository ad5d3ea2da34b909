"""A released corpus: the PMIDs that a track allows, where the index holds more."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from counterpoint.retrieval.core.errors import BadInput

_MOST_DIGITS = 19
"""From so many on, a number may not fit into 8 bytes."""


@dataclass(frozen=True, slots=True, eq=False)
class Corpus:
    """The PMIDs of a corpus, [documents], ascending, and the hash of the file that they are from; 8 bytes a document."""

    pmids: NDArray[np.int64]
    sha256: str

    @classmethod
    def read(cls, path: Path) -> Corpus:
        """From a file of PMIDs, one a line; raises `BadInput` for any other."""
        try:
            content = path.read_bytes()
        except OSError as error:
            raise BadInput(f"{path} cannot be read ({error.strerror}); give a file of PMIDs, one a line.") from None
        try:
            with warnings.catch_warnings(action="error"):
                pmids = np.fromstring(content, dtype=np.int64, sep="\n")
        except (ValueError, DeprecationWarning):
            lines = enumerate(content.splitlines(), 1)
            number, line = next(
                ((number, line) for number, line in lines if line.strip() and not line.strip().isdigit()), (1, b"")
            )
            shown = line.decode("utf-8", "replace")[:60]
            raise BadInput(f"{path}, line {number}: expected a PMID, not {shown!r}; give a file of PMIDs, one a line.") from None
        if not len(pmids):
            raise BadInput(f"{path} contains no PMIDs; give a file of PMIDs, one a line.")
        return cls(np.sort(pmids), hashlib.sha256(content).hexdigest())

    def holds(self, pmids: Sequence[str]) -> Collection[str]:
        """Those of these ids that are in the corpus."""
        numbers = [pmid for pmid in pmids if pmid.isascii() and pmid.isdigit() and len(pmid) < _MOST_DIGITS]
        wanted = np.array(numbers, dtype=np.int64)
        places = np.searchsorted(self.pmids, wanted).clip(max=len(self.pmids) - 1)
        return {pmid for pmid, found in zip(numbers, self.pmids[places] == wanted, strict=True) if found}
