"""The methods of the EvidenceBench table, by name: each chooses sentences of a paper for a hypothesis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from eval.evidence.evidencebench import EvidenceCase, Task
from eval.measures.names import check_names
from nli.evidence import WEIGHTS, EvidenceReading, Floats, choose_sentences
from retrieval.training.bm25 import TextIndex

Chooser = Callable[[EvidenceCase, EvidenceReading, Task], Sequence[int]]
"""The sentences chosen for a case, best first."""


@dataclass(frozen=True, slots=True)
class EvidenceMethod:
    """A row of the table. `choose` is None for the two rows that are computed without choosing sentences: maximum and random."""

    name: str
    title: str
    choose: Chooser | None = None


def _first(case: EvidenceCase, reading: EvidenceReading, task: Task) -> Sequence[int]:
    return range(len(case.paper.sentences))


def _abstract_end(case: EvidenceCase, reading: EvidenceReading, task: Task) -> Sequence[int]:
    """The abstract's sentences, last first, and no others: the way the issue's baseline was measured."""
    return [sentence.index for sentence in reversed(case.paper.abstract)]


def _bm25(case: EvidenceCase, reading: EvidenceReading, task: Task) -> Sequence[int]:
    # The usual k1 and b: the service's own 0.9 and 0.4 suit abstracts, but within a paper they favour long sentences.
    index = TextIndex([sentence.text for sentence in case.paper.sentences], k1=1.2, b=0.75)
    return _rank(index.scores(case.hypothesis))


def _bi_encoder(case: EvidenceCase, reading: EvidenceReading, task: Task) -> Sequence[int]:
    return _rank((reading.vectors @ reading.hypothesis).astype(np.float64))


def _relevance(case: EvidenceCase, reading: EvidenceReading, task: Task) -> Sequence[int]:
    return _rank(reading.relevance)


def _cross_encoder(case: EvidenceCase, reading: EvidenceReading, task: Task) -> Sequence[int]:
    """Sentences by the judge's probability of either stance; those it was not asked about come last, by relevance."""
    low = reading.relevance / (1e3 + np.abs(reading.relevance).max()) - 2
    return _rank(np.array([1 - one.neutral if one else low[row] for row, one in enumerate(reading.verdicts)]))


def _ours(repeats: float) -> Chooser:
    weights = replace(WEIGHTS, repeats=repeats)

    def chooser(case: EvidenceCase, reading: EvidenceReading, task: Task) -> Sequence[int]:
        k = min(case.goals[task.name].k, len(case.paper.body))
        return [one.sentence.index for one in choose_sentences(case.paper, reading, k, task.results_only, weights)]

    return chooser


def _rank(scores: Floats) -> list[int]:
    return [int(row) for row in np.argsort(-scores, kind="stable")]


TOP, SET = "ours-top", "ours"
"""The plain ranking by our scores, and the set chosen for low redundancy: their difference is the gain from set selection."""
METHODS = {
    method.name: method
    for method in (
        EvidenceMethod("maximum", "upper bound for this many sentences"),
        EvidenceMethod("random", "random sentences (expected)"),
        EvidenceMethod("first", "the first sentences", _first),
        EvidenceMethod("abstract-end", "the last sentences of the abstract", _abstract_end),
        EvidenceMethod("bm25", "BM25", _bm25),
        EvidenceMethod("bi-encoder", "bi-encoder, mean vectors", _bi_encoder),
        EvidenceMethod("relevance", "our relevance model", _relevance),
        EvidenceMethod("cross-encoder", "our stance cross-encoder", _cross_encoder),
        EvidenceMethod(TOP, "ours, top k", _ours(0.0)),
        EvidenceMethod(SET, "ours with set selection", _ours(WEIGHTS.repeats)),
    )
}


def methods(names: Sequence[str], others: Sequence[str] = ()) -> list[EvidenceMethod]:
    """The methods with these names, without duplicates; `all` stands for every one here. Names in `others` are skipped."""
    return [METHODS[name] for name in check_names(names, METHODS, "method", others) if name in METHODS]
