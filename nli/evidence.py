"""Choose the sentences of a paper that bear on a hypothesis: each is read once and scored, and the chosen set repeats little.

A sentence's score is a sum of parts, each with its own reason: where the sentence stands, its role there (nli.text.roles), how
relevant it is to the hypothesis, whether it takes a stance, how much it contains, and whether it reports a finding. The weights
are round numbers, chosen on one part of EvidenceBench and reported on the other; docs/research/evidence.md lists what was tried.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from nli.judge import Judge
from nli.text.roles import ROLES, count_figures, is_report, load_role_model
from retrieval.core.errors import BadInput
from retrieval.core.values import Paper, PaperSentence, Premise, Verdict
from retrieval.dense.encoder import Encoder
from retrieval.rerank.reranker import Reranker

Floats = NDArray[np.float64]
MOST_JUDGED = 48
"""The most sentences of a paper that the judge reads: the abstract's first, then those most relevant to the hypothesis. Most of a
paper's two hundred sentences are about other things, and judging them all takes longer than everything else together."""
_CHUNK = 256
"""Sentences that the reranker and then the encoder read at a time: the shipped encoder reuses what the reranker has just read."""
PARTS = ("place", "role", "relevance", "stance", "length", "figures", "reporting")


@dataclass(frozen=True, slots=True)
class EvidenceWeights:
    """The weight of each part in a sentence's score.

    `abstract` is the bonus for a sentence of the abstract, where the authors themselves say what their paper shows. `roles` and
    `results_roles` [background, methods, results, conclusion] are the weights of each role, without and with results-only;
    background is about other papers, and a conclusion repeats what the results say. `relevance`, `length` and `figures` apply per
    standard deviation within the paper, `stance` to a sentence that is certainly not neutral, and `reporting`, with results-only,
    to words that report a finding. `repeats` is what a sentence loses if it says the same as one already chosen.
    """

    abstract: float = 4.0
    roles: tuple[float, float, float, float] = (-4.0, 2.0, 4.0, 0.0)
    results_roles: tuple[float, float, float, float] = (-4.0, -4.0, 4.0, 0.0)
    relevance: float = 1.0
    stance: float = 2.0
    length: float = 0.5
    figures: float = 0.5
    reporting: float = 1.0
    repeats: float = 2.0


WEIGHTS = EvidenceWeights()


@dataclass(frozen=True, slots=True, eq=False)
class EvidenceReading:
    """What the models say about a paper's sentences, headings included, for one hypothesis; all in the paper's order.

    `relevance` [sentences] is the reranker's score; `verdicts` holds None where the judge was not asked; `vectors`
    [sentences, width] and that of the `hypothesis` [width] have length 1.
    """

    relevance: Floats
    verdicts: tuple[Verdict | None, ...]
    vectors: NDArray[np.float32]
    hypothesis: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class EvidenceSentence:
    """A sentence chosen as evidence: `score` is before the penalty for repetition, `parts` is the contribution of each part.

    `verdict` is None where the judge was not asked; `repeats` is its similarity (0 to 1) to the nearest sentence chosen before.
    """

    sentence: PaperSentence
    rank: int
    score: float
    relevance: float
    verdict: Verdict | None
    repeats: float
    why: str
    parts: dict[str, float] = field(default_factory=dict)


class EvidenceReader:
    """Reads papers with a reranker, a judge and an encoder; any implementations of these interfaces will do."""

    def __init__(self, reranker: Reranker, judge: Judge, encoder: Encoder, most_judged: int = MOST_JUDGED) -> None:
        self._reranker, self._judge, self._encoder, self._most = reranker, judge, encoder, most_judged
        self.name = f"{reranker.name}+{judge.name}+{encoder.name}/{most_judged}"

    def read(self, hypothesis: str, paper: Paper) -> EvidenceReading:
        """Read every sentence once; the judge reads only those of the abstract and the most relevant ones."""
        texts = [sentence.text for sentence in paper.sentences]
        relevance: list[float] = []
        vectors: list[NDArray[np.float32]] = []
        for start in range(0, len(texts), _CHUNK):
            chunk = texts[start : start + _CHUNK]
            relevance += self._reranker(hypothesis, chunk)
            vectors.append(np.asarray(self._encoder.queries(chunk), dtype=np.float32))
        scores = np.array(relevance, dtype=np.float64)
        able = [sentence.index for sentence in paper.body]
        first = sorted(able, key=lambda row: (paper.sentences[row].kind != "abstract", -scores[row], row))[: self._most]
        rows = sorted(first)
        premises = [Premise(texts[row], paper.title) for row in rows]
        verdicts: list[Verdict | None] = [None] * len(texts)
        for row, verdict in zip(rows, self._judge(hypothesis, premises), strict=True):
            verdicts[row] = verdict
        return EvidenceReading(scores, tuple(verdicts), np.concatenate(vectors), self._encoder.queries([hypothesis])[0])


def score_sentences(
    paper: Paper,
    reading: EvidenceReading,
    results_only: bool = False,
    weights: EvidenceWeights = WEIGHTS,
) -> Floats:
    """[sentences, parts] in the order of `PARTS`: what each part contributes to each sentence's score, which is their sum."""
    sentences = paper.sentences
    able = np.array([not sentence.heading for sentence in sentences])
    shares = load_role_model().probabilities(sentences)
    texts = [sentence.text for sentence in sentences]
    parts = np.zeros((len(sentences), len(PARTS)))
    parts[:, 0] = weights.abstract * np.array([sentence.kind == "abstract" for sentence in sentences])
    parts[:, 1] = shares @ np.array(weights.results_roles if results_only else weights.roles)
    parts[:, 2] = weights.relevance * _standardise(reading.relevance, able)
    parts[:, 3] = weights.stance * np.array([1 - verdict.neutral if verdict else 0.0 for verdict in reading.verdicts])
    parts[:, 4] = weights.length * _standardise(np.log1p([len(text.split()) for text in texts]), able)
    parts[:, 5] = weights.figures * _standardise(np.log1p([count_figures(text) for text in texts]), able)
    if results_only:
        parts[:, 6] = weights.reporting * np.array([is_report(text) for text in texts], dtype=np.float64)
    return parts


def _standardise(values: Floats, able: NDArray[np.bool_]) -> Floats:
    """The values minus their mean over the paper's sentences, in standard deviations."""
    scores: Floats = (values - values[able].mean()) / (values[able].std() + 1e-9)
    return scores


def choose_sentences(
    paper: Paper, reading: EvidenceReading, k: int, results_only: bool = False, weights: EvidenceWeights = WEIGHTS
) -> list[EvidenceSentence]:
    """The `k` sentences that together carry the most evidence, in the order of choice; `weights.repeats` 0 is the plain top k.

    Raises `BadInput` where `k` is below 1 or above the number of sentences in the paper.
    """
    check_count(paper, k)
    parts = score_sentences(paper, reading, results_only, weights)
    scores = parts.sum(axis=1)
    able = np.array([not sentence.heading for sentence in paper.sentences])
    vectors = reading.vectors
    rows = diversify(
        np.where(able, scores, -np.inf),
        lambda row: vectors @ vectors[row],
        # Subtracted rather than interpolated, so that a weight of 0 gives the plain ranking.
        lambda worths, overlaps: worths - weights.repeats * overlaps,
        k,
    )
    return [_describe_sentence(paper, reading, parts[row], rows, rank) for rank, row in enumerate(rows, 1)]


def describe_chosen(
    paper: Paper, reading: EvidenceReading, rows: Sequence[int], results_only: bool = False
) -> list[EvidenceSentence]:
    """Sentences chosen by other means (a language model), in the given order, described as in `choose_sentences`."""
    parts = score_sentences(paper, reading, results_only)
    return [_describe_sentence(paper, reading, parts[row], rows, rank) for rank, row in enumerate(rows, 1)]


def check_count(paper: Paper, k: int) -> None:
    """Raise `BadInput` unless `k` sentences can be chosen from the paper."""
    if k < 1:
        raise BadInput(f"k is {k}: expected the number of sentences to choose, at least 1.")
    if k > len(paper.body):
        count = len(paper.body)
        raise BadInput(f"k is {k:,} and the paper has {count:,} sentence{'s' * (count != 1)}; ask for at most that many.")


def _describe_sentence(paper: Paper, reading: EvidenceReading, parts: Floats, rows: Sequence[int], rank: int) -> EvidenceSentence:
    row = rows[rank - 1]
    sentence, verdict = paper.sentences[row], reading.verdicts[row]
    similarities = reading.vectors[rows[: rank - 1]] @ reading.vectors[row] if rank > 1 else np.zeros(1)
    repeats = max(0.0, float(similarities.max()))
    return EvidenceSentence(
        sentence,
        rank,
        float(parts.sum()),
        float(reading.relevance[row]),
        verdict,
        repeats,
        _explain(sentence, verdict, parts, repeats),
        dict(zip(PARTS, map(float, parts), strict=True)),
    )


_LEAST_RELEVANCE, _LEAST_OVERLAP = 1.0, 0.8
_ROLE_SAYS = {
    "background": "gives background", "methods": "describes a method",
    "results": "states a result", "conclusion": "draws a conclusion",
}  # fmt: skip
_SAYS = {"support": "supports it", "contradict": "contradicts it", "neutral": "takes no side"}


def _explain(sentence: PaperSentence, verdict: Verdict | None, parts: Floats, repeats: float) -> str:
    """The reasons for choosing the sentence, in words."""
    reasons = ["in the abstract" if sentence.kind == "abstract" else f"in {_name_place(sentence)}"]
    role = ROLES[int(load_role_model().probabilities([sentence])[0].argmax())]
    reasons.append(_ROLE_SAYS[role])
    if parts[PARTS.index("relevance")] >= _LEAST_RELEVANCE:
        reasons.append("relevant to the hypothesis")
    if verdict:
        reasons.append(f"{_SAYS[verdict.label]} ({getattr(verdict, verdict.label):.2f})")
    if count := count_figures(sentence.text):
        reasons.append(f"contains {count} number{'s' if count > 1 else ''}")
    if repeats >= _LEAST_OVERLAP:
        reasons.append("overlaps with a sentence ranked above")
    return ", ".join(reasons)


def _name_place(sentence: PaperSentence) -> str:
    if sentence.kind == "other":
        return f"“{sentence.section}”" if sentence.section else "the text"
    return f"the {sentence.kind}"


def diversify(
    scores: Floats,
    alike: Callable[[int], NDArray[np.floating]],
    less: Callable[[Floats, Floats], Floats],
    k: int,
    fits: Callable[[int, Sequence[int], float], bool] = lambda row, rows, repetition: True,
) -> list[int]:
    """The rows of the `k` chosen texts, in the order of choice; ties go to the first. Fewer if fewer may be chosen.

    Each time the best remaining text is chosen, penalised for what it repeats of those chosen: maximal marginal relevance
    (Carbonell and Goldstein 1998, doi:10.1145/290941.291025).

    `scores` is [texts], -inf for what must not be chosen; `alike` gives the similarity of every text to one, [texts]; `less`
    reduces scores by how much each text repeats (its similarity to the nearest chosen text, at least 0); `fits` says whether a
    row may join those chosen, given also how much it repeats: one that may not is skipped for good.
    """
    candidates, repetition, rows = np.isfinite(scores), np.zeros(len(scores)), list[int]()
    while len(rows) < k and candidates.any():
        row = int(np.argmax(np.where(candidates, less(scores, repetition), -np.inf)))
        candidates[row] = False
        if fits(row, rows, float(repetition[row])):
            rows.append(row)
            repetition = np.maximum(repetition, alike(row))
    return rows
