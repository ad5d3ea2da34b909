"""What two judges say about each pair: the shipped stance model, and a language model, whose every answer is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from eval.judges.pairs import LabelledPair
from eval.measures.resuming import answer_or, record_each
from nli.judges.chat import WrongQuote, ask_opinion, is_undecided
from nli.judges.judge import Judge
from retrieval.core.code_hash import hash_code
from retrieval.core.values import Label
from retrieval.runtime.chat import Chat
from retrieval.store.journal import Origin, hash_json

UNANSWERED, MISQUOTED = "unanswered", "misquoted"


@dataclass(frozen=True, slots=True)
class JudgedPair:
    """A pair's true label, the small model's label, and the large model's. `large` is None where that model gave nothing usable;
    `fault` then says why: unanswered or misquoted. `undecided` is whether the small model leaves the pair to the large one."""

    true: Label
    small: Label
    large: Label | None
    fault: str
    undecided: bool

    @property
    def alone(self) -> Label:
        """The large model's label where it judges alone; a pair without a usable answer is neutral."""
        return self.large or "neutral"

    @property
    def behind(self) -> Label:
        """The label where the large model is asked only about pairs that the small one leaves undecided."""
        return self.large if self.undecided and self.large else self.small


def judge_pairs(pairs: Sequence[LabelledPair], small: Judge, chat: Chat, work: Path) -> list[JudgedPair]:
    """Judge every pair with both, in order; a resumed run asks about none twice.

    A server that cannot be reached or is too busy raises `ChatUnanswered`: its label would be unknown.
    """
    settings = [chat.model, chat.base_url]
    origin = Origin(None, settings, hash_code(["nli.judges.chat"]))
    items = [(hash_json([pair.claim, pair.premise.title, pair.premise.text]), pair) for pair in pairs]
    answers = record_each(items, lambda pair: _ask(chat, pair), origin, work, "opinions", "pairs")
    opinions: list[JudgedPair] = []
    for pair, (large, fault) in zip(pairs, answers, strict=True):
        (verdict,) = small(pair.claim, [pair.premise])
        opinions.append(JudgedPair(pair.label, verdict.label, large, fault, is_undecided(verdict)))
    return opinions


def _ask(chat: Chat, pair: LabelledPair) -> tuple[Label | None, str]:
    def ask() -> tuple[Label | None, str]:
        try:
            return ask_opinion(chat, pair.claim, pair.premise).label, ""
        except WrongQuote:
            return None, MISQUOTED

    return answer_or((None, UNANSWERED), ask)
