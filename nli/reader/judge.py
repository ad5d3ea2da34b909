"""The document reader that ships with the package, on OpenVINO or ONNX Runtime; needs neither torch nor transformers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nli.decision.document import Decision
from nli.judges.embedded import LABELS, Calibration, read_decision
from nli.judges.judge import WINDOW, Abstract, Reading, judge_lazily
from nli.reader.encode import DocumentTokenizer, EncodedDocument
from nli.reader.glosses import gloss_claim
from nli.text.sentences import sentence_spans
from retrieval.core.errors import ModelUnusable
from retrieval.core.values import Premise, Verdict
from retrieval.runtime.engine import EncodedPair, Engine, collate, make_model_name, open_graph, read_card, read_tokenizer

READER_MODEL = Path(__file__).parents[1] / "models" / "reader"
CLOSING = 3
"""Sentences at the end of an abstract, where its authors say what they found, that are read again on their own."""
CLEARLY_SILENT = -1.0
"""The log odds of a side against neither, before calibration, below which the abstract's end is not read again: this lost no
paper and saves a fifth of the tokens (docs/experiments.md)."""
BATCH, BATCH_TOKENS = 8, 512
"""The most texts and tokens in a batch: an abstract is a batch of its own, short texts are read eight at a time."""


class DocumentReader:
    """Reads abstracts, and single sentences as abstracts of one sentence, on the CPU.

    Raises `ModelUnusable` where the model's folder is incomplete or damaged.
    """

    def __init__(self, folder: Path = READER_MODEL, engine: Engine = "auto", threads: int = 0) -> None:
        self.card = read_card(folder)
        self.name = make_model_name(self.card)
        if self.card["labels"] != LABELS or self.card.get("reads") != "documents":
            raise ModelUnusable(
                f"{folder} does not contain a document reader; expected the labels {LABELS} and reads: documents."
            )
        self._tokenize = DocumentTokenizer(read_tokenizer(folder), int(self.card["max_tokens"]))
        self._graph = open_graph(folder / "model.onnx", engine, threads)
        try:
            self.calibration = {part: Calibration(**values) for part, values in self.card["calibration"].items()}
            self.decision: Decision = read_decision(self.card, "open")
        except (TypeError, KeyError, AttributeError) as error:
            raise ModelUnusable(
                f"{folder / 'model.json'} has a calibration that cannot be read ({error}); reinstall the package."
            ) from error

    def read_abstracts(self, claim: str, documents: Iterable[Abstract]) -> Iterator[Reading]:
        """One reading per document, in order."""
        batch = list(documents)
        for logits in self.logits(claim, batch):
            yield make_reading(self.calibration, logits)

    def __call__(self, claim: str, premises: Iterable[Premise]) -> Iterator[Verdict]:
        """One verdict per premise, in order: the document verdict on the premise's sentences. Its neighbours are not read."""

        def predict(chunk: Sequence[Premise]) -> list[Verdict]:
            texts = [Abstract(one.title, tuple(one.text[start:end] for start, end in sentence_spans(one.text))) for one in chunk]
            rows = np.vstack([logits[0] for logits in self.logits(claim, texts)])
            return [Verdict(*row) for row in self.calibration["alone"].probabilities(rows).tolist()]

        return judge_lazily(predict, premises, WINDOW)

    def logits(self, claim: str, documents: Sequence[Abstract]) -> list[NDArray[np.float32]]:
        """For each document [1 + sentences, 3], before calibration: its own, then its sentences', NaN for those not read.

        The end of the abstract is read twice, with the rest and on its own, and the logits of the two readings are averaged: a
        finding that is misread within the whole abstract is often read correctly on its own. An abstract that clearly takes no
        side is read once. A claim is read in each document's own words (nli.reader.glosses).
        """
        claims = [self._word(" ".join(claim.split()), one) for one in documents]
        readings = self._read(claims, documents)
        long_rows = [row for row, one in enumerate(documents) if len(one.sentences) > CLOSING and not is_silent(readings[row])]
        ends = self._read([claims[row] for row in long_rows], [keep_closing(documents[row]) for row in long_rows])
        for row, end in zip(long_rows, ends, strict=True):
            reading = readings[row]
            reading[0] = (reading[0] + end[0]) / 2
            last = reading[-CLOSING:]
            last[:] = np.where(np.isnan(last), end[1:], np.where(np.isnan(end[1:]), last, (last + end[1:]) / 2))
        return readings

    def _word(self, claim: str, document: Abstract) -> str:
        """The claim in the document's words, if the model's card asks for that."""
        return gloss_claim(claim, " ".join((document.title, *document.sentences))) if self.card.get("glosses") else claim

    def _read(self, claims: Sequence[str], documents: Sequence[Abstract]) -> list[NDArray[np.float32]]:
        encodings = [self._tokenize(claim, one.title, one.sentences) for claim, one in zip(claims, documents, strict=True)]
        order = sorted(range(len(encodings)), key=lambda place: len(encodings[place].ids))
        batches = list(_make_batches(order, encodings))
        logits_by_place: dict[int, NDArray[np.float32]] = {}
        outputs = self._graph.each(
            collate([EncodedPair(encodings[row].ids, encodings[row].types) for row in rows]) for rows in batches
        )
        for batch, output in zip(batches, outputs, strict=True):
            for place, logits in zip(batch, output, strict=True):
                ends = encodings[place].ends
                rows = np.full((1 + len(ends), len(LABELS)), np.nan, dtype=np.float32)
                rows[0] = logits[0]
                rows[1:][ends >= 0] = logits[ends[ends >= 0]]
                logits_by_place[place] = rows
        return [logits_by_place[place] for place in range(len(encodings))]


def keep_closing(document: Abstract) -> Abstract:
    """The document's title and the last `CLOSING` of its sentences."""
    return Abstract(document.title, document.sentences[-CLOSING:])


def is_silent(logits: NDArray[np.float32]) -> bool:
    """Whether the reading [1 + sentences, 3] clearly takes no side: neither the text as a whole nor any of its sentences."""
    margins = np.maximum(logits[:, 0], logits[:, 2]) - logits[:, 1]
    return bool(np.nanmax(margins) < CLEARLY_SILENT)


def make_reading(calibration: Mapping[str, Calibration], logits: NDArray[np.float32]) -> Reading:
    """The calibrated reading of one document's `logits` [1 + sentences, 3]."""
    document = Verdict(*calibration["document"].probabilities(logits[:1])[0].tolist())
    rows = calibration["sentence"].probabilities(logits[1:]).tolist()
    return Reading(document, tuple(None if row[0] != row[0] else Verdict(*row) for row in rows))


def _make_batches(order: Sequence[int], encodings: Sequence[EncodedDocument]) -> Iterator[list[int]]:
    batch: list[int] = []
    for place in order:
        if batch and (len(batch) == BATCH or len(encodings[place].ids) * (len(batch) + 1) > BATCH_TOKENS):
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch
