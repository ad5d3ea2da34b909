"""The document reader that ships with the package, on OpenVINO or ONNX Runtime; needs neither torch nor transformers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from counterpoint.nli.judge import WINDOW, Abstract, Decide, Reading, drop_question, judge_lazily
from counterpoint.nli.reader.answers import AnswerRule, Answers, decode_answers
from counterpoint.nli.reader.encode import DocumentTokenizer, EncodedDocument
from counterpoint.nli.reader.paper import PaperDecision
from counterpoint.nli.reader.synonyms import add_synonyms
from counterpoint.nli.text.sentences import sentence_spans
from counterpoint.retrieval.core.errors import ModelUnusable
from counterpoint.retrieval.core.probabilities import softmax
from counterpoint.retrieval.core.values import Premise, Verdict
from counterpoint.retrieval.runtime.engine import (
    EncodedPair,
    Engine,
    batch_by_length,
    collate,
    make_model_name,
    open_graph,
    read_card,
    read_tokenizer,
)

MODELS = Path(__file__).parents[1] / "models"
LARGE, SMALL = MODELS / "reader", MODELS / "small-reader"
LABELS = ["support", "neutral", "contradict"]
BATCH, BATCH_TOKENS = 8, 512
"""The most texts and tokens in a batch: an abstract is a batch of its own, short texts are read eight at a time."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """How logits become probabilities: softmax(scale * logits + bias).

    Temperature scaling with one bias per class (Guo et al. 2017, "On Calibration of Modern Neural Networks", arXiv 1706.04599,
    section 4.2), fitted on claims from the train split.
    """

    scale: float
    bias: tuple[float, float, float]

    def probabilities(self, logits: NDArray[np.float32]) -> NDArray[np.float64]:
        """[texts, 3] from logits [texts, 3]."""
        return softmax(self.scale * logits.astype(np.float64) + np.asarray(self.bias))


class DocumentReader:
    """Reads abstracts, and single sentences as abstracts of one sentence, on the CPU.

    `size` chooses one of the two models that ship, `folder` another of the same design; `card` stands in place of the folder's
    own while its numbers are fitted. Raises `ModelUnusable` where the model's folder is incomplete or damaged.
    """

    def __init__(
        self,
        folder: Path | None = None,
        engine: Engine = "auto",
        threads: int = 0,
        size: Literal["large", "small"] = "large",
        card: Mapping[str, Any] | None = None,
    ) -> None:
        folder = folder or (LARGE if size == "large" else SMALL)
        self.card = card or read_card(folder)
        self.name = make_model_name(self.card)
        if self.card["labels"] != LABELS or self.card.get("reads") != "documents":
            raise ModelUnusable(
                f"{folder} does not contain a document reader; expected the labels {LABELS} and reads: documents."
            )
        self._tokenize = DocumentTokenizer(read_tokenizer(folder), int(self.card["max_tokens"]))
        self._graph = open_graph(folder / "model.onnx", engine, threads)
        try:
            self.calibration = {part: Calibration(**values) for part, values in self.card["calibration"].items()}
            self.paper: Decide = PaperDecision.read(self.card)
        except (TypeError, KeyError, ValueError, AttributeError) as error:
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
            return [Verdict(*row) for row in self.calibration["single"].probabilities(rows).tolist()]

        return judge_lazily(predict, premises, WINDOW)

    def logits(self, claim: str, documents: Sequence[Abstract]) -> list[NDArray[np.float32]]:
        """For each document [1 + sentences, 3], before calibration: its own, then its sentences', NaN for those not read.

        A claim is read in each document's own words (nli.reader.synonyms).
        """
        encodings = [self._encode(claim, one) for one in documents]
        return [_take_logits(output, one.ends) for output, one in zip(self._run(encodings), encodings, strict=True)]

    def find_answers(self, question: str, documents: Sequence[Abstract]) -> list[Answers]:
        """What each document answers to an open question; only for a reader whose card says how it `answers`."""
        rule = AnswerRule(**self.card["answers"])
        encodings = [self._encode(question, one) for one in documents]
        outputs = self._run(encodings)
        return [
            decode_answers(one, encoding, output[:, len(LABELS)], self._tokenize, rule)
            for one, encoding, output in zip(documents, encodings, outputs, strict=True)
        ]

    def _encode(self, claim: str, document: Abstract) -> EncodedDocument:
        claim, title = " ".join(claim.split()), drop_question(document.title)
        if self.card.get("synonyms"):  # the claim in the document's words
            claim = add_synonyms(claim, " ".join((title, *document.sentences)))
        return self._tokenize(claim, title, document.sentences)

    def _run(self, encodings: Sequence[EncodedDocument]) -> list[NDArray[np.float32]]:
        """What the model gives for each document [tokens and padding, outputs]."""
        batches = batch_by_length([len(one.ids) for one in encodings], BATCH_TOKENS, BATCH)
        outputs: dict[int, NDArray[np.float32]] = {}
        runs = self._graph.each(
            collate([EncodedPair(encodings[row].ids, encodings[row].types) for row in rows]) for rows in batches
        )
        for batch, output in zip(batches, runs, strict=True):
            outputs.update(zip(batch, output, strict=True))
        return [outputs[place] for place in range(len(encodings))]


def _take_logits(output: NDArray[np.float32], ends: NDArray[np.int64]) -> NDArray[np.float32]:
    """[1 + sentences, 3]: the document's logits, then its sentences', NaN for those not read."""
    rows = np.full((1 + len(ends), len(LABELS)), np.nan, dtype=np.float32)
    rows[0] = output[0, : len(LABELS)]
    rows[1:][ends >= 0] = output[ends[ends >= 0], : len(LABELS)]
    return rows


def make_reading(calibration: Mapping[str, Calibration], logits: NDArray[np.float32]) -> Reading:
    """The calibrated reading of one document's `logits` [1 + sentences, 3]."""
    document = Verdict(*calibration["document"].probabilities(logits[:1])[0].tolist())
    rows = calibration["sentence"].probabilities(logits[1:]).tolist()
    return Reading(document, tuple(None if row[0] != row[0] else Verdict(*row) for row in rows))
