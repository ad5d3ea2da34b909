"""Choose the sentences of a paper that bear on a hypothesis: each is read once and scored, and the chosen set repeats little.

A sentence's score is a sum of parts, each with its own reason: where the sentence stands, its role there (nli.text.roles), how
relevant it is to the hypothesis, how much it contains, and whether it reports a finding. Whether it takes a side is no part of
it: that chooses no better sentences, and is read of those chosen alone. The weights are round numbers, chosen on one part of
EvidenceBench and reported on the other; docs/research/evidence.md lists what was tried.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nli.judge import Judge, drop_question
from nli.long_text import Floats, choose
from nli.text.roles import ROLES, count_figures, is_report, load_role_model
from retrieval.core.errors import BadInput
from retrieval.core.values import Premise, Role, Sentence, Verdict
from retrieval.dense.encoder import Encoder
from retrieval.rerank.reranker import Reranker

_CHUNK = 256
"""Sentences that the reranker and then the encoder read at a time: the shipped encoder reuses what the reranker has just read."""
PARTS = ("place", "role", "relevance", "length", "figures", "reporting")


@dataclass(frozen=True, slots=True)
class EvidenceWeights:
    """The weight of each part in a sentence's score.

    `abstract` is the bonus for a sentence of the abstract, where the authors themselves say what their paper shows. `roles` and
    `results_roles` [background, methods, results, conclusion] are the weights of each role, without and with results-only;
    background is about other papers, and a conclusion repeats what the results say. `relevance`, `length` and `figures` apply per
    standard deviation within the paper, and `reporting`, with results-only, to words that report a finding. `repeats` is what a
    sentence loses if it says the same as one already chosen.
    """

    abstract: float = 4.0
    roles: tuple[float, float, float, float] = (-4.0, 2.0, 4.0, 0.0)
    results_roles: tuple[float, float, float, float] = (-4.0, -4.0, 4.0, 0.0)
    relevance: float = 1.0
    length: float = 0.5
    figures: float = 0.5
    reporting: float = 1.0
    repeats: float = 2.0


WEIGHTS = EvidenceWeights()


@dataclass(frozen=True, slots=True, eq=False)
class EvidenceReading:
    """What the models say of a paper's sentences for one hypothesis, in the paper's order: `relevance` [sentences] is the
    reranker's score, `vectors` [sentences, width] have length 1."""

    relevance: Floats
    vectors: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class EvidenceSentence:
    """A sentence chosen as evidence: `score` is before the penalty for repetition, `parts` is the contribution of each part.

    `verdict` is the judge's on the sentence alone; `repeats` is its similarity (0 to 1) to the nearest sentence chosen before.
    """

    sentence: Sentence
    rank: int
    score: float
    relevance: float
    verdict: Verdict
    repeats: float
    why: str
    parts: dict[str, float]


class EvidenceReader:
    """Reads papers with a reranker, a judge and an encoder; any implementations of these interfaces will do."""

    def __init__(self, reranker: Reranker, judge: Judge, encoder: Encoder) -> None:
        self._reranker, self._judge, self._encoder = reranker, judge, encoder
        self.name = f"{reranker.name}+{judge.name}+{encoder.name}"

    def read(self, hypothesis: str, sentences: Sequence[Sentence]) -> EvidenceReading:
        """Read every sentence once."""
        texts = [sentence.in_context for sentence in sentences]
        relevance: list[float] = []
        vectors: list[NDArray[np.float32]] = []
        for start in range(0, len(texts), _CHUNK):
            chunk = texts[start : start + _CHUNK]
            relevance += self._reranker(hypothesis, chunk)
            vectors.append(np.asarray(self._encoder.queries(chunk), dtype=np.float32))
        return EvidenceReading(np.array(relevance, dtype=np.float64), np.concatenate(vectors))

    def describe(
        self,
        hypothesis: str,
        title: str,
        sentences: Sequence[Sentence],
        reading: EvidenceReading,
        rows: Sequence[int],
        results_only: bool = False,
    ) -> tuple[EvidenceSentence, ...]:
        """The sentences in these rows, in this order, each with the judge's verdict and why it may be chosen."""
        parts, shares = score_sentences(sentences, reading, results_only), load_role_model().probabilities(sentences)
        verdicts = self._judge(hypothesis, [Premise(sentences[row].in_context, drop_question(title)) for row in rows])
        found: list[EvidenceSentence] = []
        for rank, (row, verdict) in enumerate(zip(rows, verdicts, strict=True), 1):
            sentence, own = sentences[row], dict(zip(PARTS, map(float, parts[row]), strict=True))
            repeats = max(0.0, float((reading.vectors[rows[: rank - 1]] @ reading.vectors[row]).max(initial=0.0)))
            why = _explain(sentence, ROLES[int(shares[row].argmax())], verdict, own, repeats)
            score, relevance = float(parts[row].sum()), float(reading.relevance[row])
            found.append(EvidenceSentence(sentence, rank, score, relevance, verdict, repeats, why, own))
        return tuple(found)


def score_sentences(
    sentences: Sequence[Sentence], reading: EvidenceReading, results_only: bool = False, weights: EvidenceWeights = WEIGHTS
) -> Floats:
    """[sentences, parts] in the order of `PARTS`: what each part contributes to each sentence's score, which is their sum."""
    shares = load_role_model().probabilities(sentences)
    texts = [sentence.text for sentence in sentences]
    parts = np.zeros((len(sentences), len(PARTS)))
    parts[:, 0] = weights.abstract * np.array([sentence.in_abstract for sentence in sentences])
    parts[:, 1] = shares @ np.array(weights.results_roles if results_only else weights.roles)
    parts[:, 2] = weights.relevance * _standardise(reading.relevance)
    parts[:, 3] = weights.length * _standardise(np.log1p([len(text.split()) for text in texts]))
    parts[:, 4] = weights.figures * _standardise(np.log1p([count_figures(text) for text in texts]))
    if results_only:
        parts[:, 5] = weights.reporting * np.array([is_report(text) for text in texts], dtype=np.float64)
    return parts


def _standardise(values: Floats) -> Floats:
    """The values minus their mean over the paper's sentences, in standard deviations."""
    scores: Floats = (values - values.mean()) / (values.std() + 1e-9)
    return scores


def choose_sentences(
    sentences: Sequence[Sentence],
    reading: EvidenceReading,
    k: int,
    results_only: bool = False,
    weights: EvidenceWeights = WEIGHTS,
) -> list[int]:
    """The rows of the `k` sentences that together carry the most evidence, in the order of choice."""
    scores = score_sentences(sentences, reading, results_only, weights).sum(axis=1)
    return choose(scores, k, reading.vectors, weights.repeats)


def check_count(sentences: Sequence[Sentence], k: int) -> None:
    """Raise `BadInput` unless `k` sentences can be chosen from these of a paper."""
    if k < 1:
        raise BadInput(f"k is {k}: expected the number of sentences to choose, at least 1.")
    if k > len(sentences):
        count = len(sentences)
        raise BadInput(f"k is {k:,} and the paper has {count:,} sentence{'s' * (count != 1)}; ask for at most that many.")


_LEAST_RELEVANCE, _LEAST_OVERLAP = 1.0, 0.8
_ROLE_SAYS: dict[Role, str] = {
    "background": "gives background", "methods": "describes a method",
    "results": "states a result", "conclusion": "draws a conclusion",
}  # fmt: skip
_SAYS = {"support": "supports it", "contradict": "contradicts it", "neutral": "takes no side"}


def _explain(sentence: Sentence, role: Role, verdict: Verdict, parts: Mapping[str, float], repeats: float) -> str:
    """The reasons for choosing the sentence, in words."""
    reasons = ["a row of a table" if sentence.is_row else _ROLE_SAYS[role]]
    if parts["relevance"] >= _LEAST_RELEVANCE:
        reasons.append("relevant to the hypothesis")
    reasons.append(f"{_SAYS[verdict.label]} ({getattr(verdict, verdict.label):.2f})")
    if count := count_figures(sentence.text):
        reasons.append(f"contains {count} number{'s' if count > 1 else ''}")
    if repeats >= _LEAST_OVERLAP:
        reasons.append("overlaps with a sentence ranked above")
    return ", ".join(reasons)
