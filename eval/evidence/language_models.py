"""Language models as methods of the EvidenceBench table: each answer is kept, so that a stopped run asks for no paper twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from eval.evidence.evidencebench import EvidenceCase, Task
from eval.evidence.methods import Chooser, EvidenceMethod
from generation.prompts.evidence import STRATEGIES, Strategy, ask_for_evidence
from nli.evidence import EvidenceReading
from retrieval.core.code_hash import hash_code
from retrieval.core.errors import GO_ON, translate_write_errors
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


def llm_methods(names: Sequence[str], profile: Profile, folder: Path) -> list[EvidenceMethod]:
    """The methods of those names that are language models', with the profile's; answers are kept in `folder`."""
    strategies = [strategy for strategy in STRATEGIES if PREFIX + strategy in names]
    if not strategies:
        return []
    chat = chat_of(profile)
    return [EvidenceMethod(PREFIX + one, f"{_TITLES[one]} ({chat.model})", _chooser(chat, one, folder)) for one in strategies]


def _chooser(chat: Chat, strategy: Strategy, folder: Path) -> Chooser:
    origin = Origin(None, [chat.model, chat.base_url, strategy], hash_code(["generation.prompts.evidence"]))
    with translate_write_errors("the model's answers", folder, GO_ON):
        journal = Journal.of(origin, folder, f"{PREFIX}{strategy}")

    def chooser(case: EvidenceCase, reading: EvidenceReading, task: Task) -> Sequence[int]:
        k = min(case.goals[task.name].k, len(case.paper.body))
        key = hash_json([case.hypothesis, asdict(case.paper), k, task.results_only])
        if journal.get(key) is None:
            chosen = ask_for_evidence(chat, strategy, case.hypothesis, case.paper, k, task.results_only).indices
            with translate_write_errors("the model's answers", folder, GO_ON):
                journal.add(key, list(chosen))
        return [int(index) for index in journal.get(key)]

    return chooser
