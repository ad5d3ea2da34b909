"""The methods of the EvidenceBench table, by name: each chooses sentences of a paper for a hypothesis.

Each answer of a language model is kept, so that a resumed run asks about no paper twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from eval.evidence.evidencebench import EvidenceCase, Task, check_names
from eval.measures.resuming import answer_or
from generation.prompting import STRATEGIES, Strategy, ask_for_evidence
from nli.evidence import WEIGHTS, EvidenceReading, Floats, choose_sentences
from retrieval.core.code_hash import hash_code
from retrieval.runtime.chat import Chat
from retrieval.store.journal import Journal, Origin, hash_json
from retrieval.training.bm25 import TextIndex
from service.configuration.config import Profile
from service.reading.evidence import chat_of

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


_TITLES: dict[Strategy, str] = {
    "plain": "language model, reasoning first",
    "shots": "language model, eight examples",
    "sections": "language model, section by section",
}
PREFIX = "llm-"
LLM_NAMES = tuple(PREFIX + strategy for strategy in STRATEGIES)


def methods(names: Sequence[str], others: Sequence[str] = ()) -> list[EvidenceMethod]:
    """The methods with these names, without duplicates; `all` stands for every one here. Names in `others` are skipped."""
    return [METHODS[name] for name in check_names(names, METHODS, "method", others) if name in METHODS]


class ModelChooser:
    """A `Chooser` that asks a chat model; every answer is kept, including an unusable one, which counts as an empty choice."""

    def __init__(self, chat: Chat, strategy: Strategy, folder: Path) -> None:
        self._chat, self._strategy = chat, strategy
        self.asked = self.unanswered = 0
        origin = Origin(None, [chat.model, chat.base_url, strategy], hash_code(["generation.prompting"]))
        self._journal = Journal.of(origin, folder, f"{PREFIX}{strategy}")

    def __call__(self, case: EvidenceCase, reading: EvidenceReading, task: Task) -> Sequence[int]:
        """The sentences for this task, from the journal or from the model; raises `ChatUnanswered` where the server is gone."""
        k = min(case.goals[task.name].k, len(case.paper.body))
        key = hash_json([case.hypothesis, asdict(case.paper), k, task.results_only])

        def ask() -> list[int]:
            return [*ask_for_evidence(self._chat, self._strategy, case.hypothesis, case.paper, k, task.results_only).indices]

        indices: list[int] = self._journal.fill(key, lambda: answer_or([], ask))
        self.asked += 1
        self.unanswered += not indices
        return indices


def llm_methods(names: Sequence[str], profile: Profile, folder: Path) -> list[EvidenceMethod]:
    """The methods among these names that use language models, with the profile's model; answers are kept in `folder`."""
    strategies = [strategy for strategy in STRATEGIES if PREFIX + strategy in names]
    if not strategies:
        return []
    chat = chat_of(profile)
    return [EvidenceMethod(PREFIX + one, f"{_TITLES[one]} ({chat.model})", ModelChooser(chat, one, folder)) for one in strategies]


def describe_unanswered(methods: Sequence[EvidenceMethod]) -> list[str]:
    """A sentence for each language model that gave no usable answer to some requests."""
    choosers = [(method.name, method.choose) for method in methods if isinstance(method.choose, ModelChooser)]
    return [
        f"{name}: no usable answer to {one.unanswered} of {one.asked} papers and tasks; these count as 0."
        for name, one in choosers
        if one.unanswered
    ]
