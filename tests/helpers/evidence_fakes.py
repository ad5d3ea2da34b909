"""A reader and a finder of evidence whose models go by words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from counterpoint.nli.evidence import EvidenceReader
from counterpoint.retrieval.core.values import Document
from counterpoint.retrieval.dense.encoder import normalise
from counterpoint.service.configuration.config import Profile, load_profile
from counterpoint.service.configuration.models import Models
from counterpoint.service.evidence.finder import EvidenceFinder
from tests.helpers.fakes import WordJudge, WordReranker


class WordEncoder:
    """A text's vector says which of a few words it holds."""

    name = "word-encoder@1"

    def queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.array([[float(word in one.lower()) for word in ("stone", "weight", "iron", "time")] for one in texts])
        return normalise(rows.astype(np.float32))

    def documents(self, documents: Sequence[Document]) -> NDArray[np.float32]:
        return self.queries([one.abstract for one in documents])


def reader() -> EvidenceReader:
    return EvidenceReader(WordReranker(), WordJudge(), WordEncoder())


def finder(profile: Profile | None = None) -> EvidenceFinder:
    chosen = profile or load_profile("embedded")
    models = Models(chosen, {"relevance": WordReranker()}, {"sentences": WordJudge()}, {"dense": WordEncoder()})
    return EvidenceFinder(chosen, models)
