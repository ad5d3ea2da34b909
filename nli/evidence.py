"""Choose the sentences of a paper that bear on a hypothesis: each is read once and scored, and the chosen set repeats little.

A sentence's score is a sum of parts, each with its own reason: where the sentence stands, its role there (nli.text.roles), how
relevant it is to the hypothesis, whether it is the one of the body that a claim's reading would quote (nli.long_text), how much
it contains, and whether it reports a finding. The weights are round numbers, chosen on one part of EvidenceBench and on prompts
of doctors, and reported on the other; docs/research/evidence.md lists what was tried.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from counterpoint.nli.judge import Judge, drop_question, make_reader
from counterpoint.nli.long_text import choose_windows, cut_windows
from counterpoint.nli.text.roles import ROLES, count_figures, is_report, load_role_model
from counterpoint.retrieval.core.english import format_count
from counterpoint.retrieval.core.values import Premise, Role, Sentence, Verdict
from counterpoint.retrieval.dense.encoder import Encoder
from counterpoint.retrieval.rerank.reranker import Reranker

Floats = NDArray[np.float64]
_CHUNK = 256
"""Sentences that the reranker and then the encoder read at a time: the shipped encoder reuses what the reranker has just read."""
PARTS = ("place", "role", "relevance", "side", "length", "figures", "reporting")


@dataclass(frozen=True, slots=True)
class EvidenceWeights:
    """The weight of each part in a sentence's score.

    `abstract` is the bonus for a sentence of the abstract, where the authors themselves say what their paper shows. `roles` and
    `results_roles` [background, methods, results, conclusion] are the weights of each role, without and with results-only;
    background is about other papers, and a conclusion repeats what the results say. `relevance`, `length` and `figures` apply per
    standard deviation within the paper, `side` to the sentence of the body that most surely takes a side, and `reporting`, with
    results-only, to words that report a finding. `repeats` is what a sentence loses if it says the same as one already chosen.
    """

    abstract: float = 4.0
    roles: tuple[float, float, float, float] = (-4.0, 2.0, 4.0, 0.0)
    results_roles: tuple[float, float, float, float] = (-4.0, -4.0, 4.0, 0.0)
    relevance: float = 1.0
    side: float = 4.0
    length: float = 0.5
    figures: float = 0.5
    reporting: float = 1.0
    repeats: float = 2.0


WEIGHTS = EvidenceWeights()


@dataclass(frozen=True, slots=True, eq=False)
class EvidenceReading:
    """What the models say of a paper's sentences for one hypothesis, in the paper's order: `relevance` [sentences] is the
    reranker's score, `vectors` [sentences, width] have length 1; `surest` is the row of the sentence of the body that most surely
    takes a side, None if none is likelier to take one than not."""

    relevance: Floats
    vectors: NDArray[np.float32]
    surest: int | None = None


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
        self._reranker, self._reader, self._encoder = reranker, make_reader(judge), encoder
        self.name = f"{reranker.name}+{judge.name}+{encoder.name}"

    def read(
        self, hypothesis: str, title: str, sentences: Sequence[Sentence], check: Callable[[], None] = lambda: None
    ) -> EvidenceReading:
        """Read every sentence once with the reranker and the encoder, and those that may tell a finding with the judge.

        `check` is called every few hundred sentences and may raise to stop the work.
        """
        texts = [sentence.in_context for sentence in sentences]
        relevance: list[float] = []
        vectors: list[NDArray[np.float32]] = []
        for start in range(0, len(texts), _CHUNK):
            check()
            chunk = texts[start : start + _CHUNK]
            relevance += self._reranker(hypothesis, chunk)
            vectors.append(np.asarray(self._encoder.queries(chunk), dtype=np.float32))
        windows = cut_windows(sentences, self._reader.paper.full_text.words)
        found = choose_windows(self._reader, hypothesis, {title: (title, windows)}).get(title)
        surest = sentences.index(found.sentence) if found and found.margin > 0 else None
        return EvidenceReading(np.array(relevance, dtype=np.float64), np.concatenate(vectors), surest)

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
        verdicts = self._reader(hypothesis, [Premise(sentences[row].in_context, drop_question(title)) for row in rows])
        found: list[EvidenceSentence] = []
        for rank, (row, verdict) in enumerate(zip(rows, verdicts, strict=True), 1):
            sentence, own = sentences[row], dict(zip(PARTS, map(float, parts[row]), strict=True))
            repeats = max(0.0, float((reading.vectors[rows[: rank - 1]] @ reading.vectors[row]).max(initial=0.0)))
            why = _explain(sentence, ROLES[int(shares[row].argmax())], verdict, own, repeats)
            score, relevance = float(parts[row].sum()), float(reading.relevance[row])
            found.append(EvidenceSentence(sentence, rank, score, relevance, verdict, repeats, why, own))
        return tuple(found)


def score_sentences(sentences: Sequence[Sentence], reading: EvidenceReading, results_only: bool = False) -> Floats:
    """[sentences, parts] in the order of `PARTS`: what each part contributes to each sentence's score, which is their sum."""
    shares = load_role_model().probabilities(sentences)
    texts = [sentence.text for sentence in sentences]
    parts = np.zeros((len(sentences), len(PARTS)))
    parts[:, 0] = WEIGHTS.abstract * np.array([sentence.in_abstract for sentence in sentences])
    parts[:, 1] = shares @ np.array(WEIGHTS.results_roles if results_only else WEIGHTS.roles)
    parts[:, 2] = WEIGHTS.relevance * _standardise(reading.relevance)
    if reading.surest is not None:
        parts[reading.surest, 3] = WEIGHTS.side
    parts[:, 4] = WEIGHTS.length * _standardise(np.log1p([len(text.split()) for text in texts]))
    parts[:, 5] = WEIGHTS.figures * _standardise(np.log1p([count_figures(text) for text in texts]))
    if results_only:
        parts[:, 6] = WEIGHTS.reporting * np.array([is_report(text) for text in texts], dtype=np.float64)
    return parts


def _standardise(values: Floats) -> Floats:
    """The values minus their mean over the paper's sentences, in standard deviations."""
    scores: Floats = (values - values.mean()) / (values.std() + 1e-9)
    return scores


def choose_sentences(sentences: Sequence[Sentence], reading: EvidenceReading, k: int, results_only: bool = False) -> list[int]:
    """The rows of the `k` sentences that together carry the most evidence, in the order of choice."""
    return diversify(score_sentences(sentences, reading, results_only).sum(axis=1), reading.vectors, WEIGHTS.repeats, k)


def diversify(scores: Floats, vectors: NDArray[np.float32], repeats: float, k: int) -> list[int]:
    """The rows of the `k` best of `scores` [texts], each less `repeats` times its cosine with the nearest of those chosen before;
    ties go to the first.

    This is maximal marginal relevance (Carbonell and Goldstein 1998, doi:10.1145/290941.291025), but subtracted rather than
    interpolated, so that a weight of 0 gives the plain ranking.
    """
    left, repetition, rows = np.ones(len(scores), dtype=bool), np.zeros(len(scores)), list[int]()
    while len(rows) < min(k, len(scores)):
        row = int(np.argmax(np.where(left, scores - repeats * repetition, -np.inf)))
        left[row] = False
        rows.append(row)
        repetition = np.maximum(repetition, vectors @ vectors[row])
    return rows


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
    if parts["side"]:
        reasons.append("the one of the full text that most surely takes a side")
    reasons.append(f"{_SAYS[verdict.label]} ({getattr(verdict, verdict.label):.2f})")
    if count := count_figures(sentence.text):
        reasons.append(f"contains {format_count(count, 'number')}")
    if repeats >= _LEAST_OVERLAP:
        reasons.append("overlaps with a sentence ranked above")
    return ", ".join(reasons)
