"""Language models as methods of the EvidenceBench table: each answer is kept, so that a resumed run asks about no paper twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from eval.evidence.evidencebench import EvidenceCase, Task
from eval.evidence.methods import EvidenceMethod
from eval.measures.resuming import answer_or
from generation.prompts.evidence import STRATEGIES, Strategy, ask_for_evidence
from nli.evidence import EvidenceReading
from retrieval.core.code_hash import hash_code
from retrieval.runtime.chat import Chat
from retrieval.store.journal import Journal, Origin, hash_json
from service.configuration.config import Profile
from service.reading.evidence import chat_of

_TITLES: dict[Strategy, str] = {
    "plain": "language model, reasoning first",
    "shots": "language model, eight examples",
    "sections": "language model, section by section",
}
PREFIX = "llm-"
LLM_NAMES = tuple(PREFIX + strategy for strategy in STRATEGIES)


class ModelChooser:
    """A `Chooser` that asks a chat model; every answer is kept, including an unusable one, which counts as an empty choice."""

    def __init__(self, chat: Chat, strategy: Strategy, folder: Path) -> None:
        self._chat, self._strategy = chat, strategy
        self.asked = self.unanswered = 0
        origin = Origin(None, [chat.model, chat.base_url, strategy], hash_code(["generation.prompts.evidence"]))
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
    choosers = [(one.name, one.choose) for one in methods if isinstance(one.choose, ModelChooser)]
    return [
        f"{name}: no usable answer to {one.unanswered} of {one.asked} papers and tasks; these count as 0."
        for name, one in choosers
        if one.unanswered
    ]
