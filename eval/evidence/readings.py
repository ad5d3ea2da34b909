"""The models' readings of each paper, made once and kept, so that a table of many methods reads every paper only once."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from tqdm import tqdm

from eval.evidence.evidencebench import EvidenceCase
from nli.evidence import EvidenceReader, EvidenceReading
from retrieval.core.errors import GO_ON, translate_write_errors
from retrieval.core.values import Verdict
from retrieval.dense.encoder import Vectors
from retrieval.store.journal import Origin
from retrieval.store.manifest import write_atomically
from service.trec.journal import code_of


class KeptReadings:
    """Readings in a folder, one file each, by their origin; a stopped run resumes with what is there."""

    def __init__(self, folder: Path, reader: EvidenceReader) -> None:
        self._folder, self._reader = folder, reader

    def of(self, cases: Sequence[EvidenceCase]) -> Iterator[tuple[EvidenceCase, EvidenceReading]]:
        """Each case with its reading, from the folder or made now, with a progress bar."""
        with translate_write_errors("the readings", self._folder, GO_ON):
            self._folder.mkdir(parents=True, exist_ok=True)
            for case in tqdm(cases, desc="papers read", unit="paper", disable=None):
                path = self._origin(case).path(self._folder, "reading", ".npz")
                reading = _load(path)
                if reading is None:
                    reading = self._reader.read(case.hypothesis, case.paper)
                    _save(reading, path)
                yield case, reading

    def _origin(self, case: EvidenceCase) -> Origin:
        return Origin([case.hypothesis, asdict(case.paper)], self._reader.name, code_of("nli.evidence"))


def _save(reading: EvidenceReading, path: Path) -> None:
    shares = [(v.support, v.neutral, v.contradict) if v else (np.nan,) * 3 for v in reading.verdicts]
    content = io.BytesIO()
    np.savez(
        content, relevance=reading.relevance, verdicts=np.array(shares), vectors=reading.vectors, hypothesis=reading.hypothesis
    )
    write_atomically(path, content.getvalue())


def _load(path: Path) -> EvidenceReading | None:
    """The reading in a file; None where there is no file, or one that a full disk truncated."""
    try:
        with np.load(path) as file:
            shares = file["verdicts"]
            verdicts = tuple(None if np.isnan(row[0]) else Verdict(*map(float, row)) for row in shares)
            vectors: Vectors = file["vectors"]
            return EvidenceReading(file["relevance"], verdicts, vectors, file["hypothesis"])
    except (OSError, ValueError, KeyError, EOFError, BadZipFile):
        return None
