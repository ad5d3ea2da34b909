"""What two judges say of each pair: the shipped stance model, and a language model, whose every answer is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tqdm import tqdm

from eval.judges.pairs import LabelledPair
from nli.judges.chat import WrongQuote, ask_opinion, is_undecided
from nli.judges.judge import Judge
from retrieval.core.code_hash import hash_code
from retrieval.core.errors import GO_ON, Interrupted, translate_write_errors
from retrieval.core.values import Label
from retrieval.runtime.chat import Chat, ChatUnanswered
from retrieval.store.journal import Journal, Origin, hash_json

UNANSWERED, MISQUOTED = "unanswered", "misquoted"


@dataclass(frozen=True, slots=True)
class Judged:
    """A pair's true label, the small model's, and the large one's; `large` is None where it gave nothing usable, and `fault`
    then says what: unanswered or misquoted. `undecided` says that the small model leaves the pair to the large one."""

    true: Label
    small: Label
    large: Label | None
    fault: str
    undecided: bool

    @property
    def alone(self) -> Label:
        """The large model's label where it judges alone: what it gives no usable answer for is neutral."""
        return self.large or "neutral"

    @property
    def behind(self) -> Label:
        """The label where it is asked only for what the small one leaves undecided."""
        return self.large if self.undecided and self.large else self.small


def judge_pairs(pairs: Sequence[LabelledPair], small: Judge, chat: Chat, work: Path) -> list[Judged]:
    """Every pair judged by both, in order; a stopped run asks for none twice.

    A server that cannot be reached or is too busy raises `ChatUnanswered`: what it would have said is not known.
    """
    settings = [chat.model, chat.base_url]
    with translate_write_errors("the model's answers", work, GO_ON):
        journal = Journal.of(Origin(None, settings, hash_code(["nli.judges.chat"])), work, "opinions")
    found: list[Judged] = []
    try:
        for pair in tqdm(pairs, desc="pairs judged", unit="pair", disable=None):
            (verdict,) = small(pair.claim, [pair.premise])
            key = hash_json([pair.claim, pair.premise.title, pair.premise.text])
            if journal.get(key) is None:
                record = _ask(chat, pair)
                with translate_write_errors("the model's answers", work, GO_ON):
                    journal.add(key, record)
            large, fault = journal.get(key)
            found.append(Judged(pair.label, verdict.label, large, fault, is_undecided(verdict)))
    except KeyboardInterrupt:
        raise Interrupted(f"Stopped after {len(found)} of {len(pairs)} pairs; the same command resumes from {work}.") from None
    return found


def _ask(chat: Chat, pair: LabelledPair) -> tuple[Label | None, str]:
    try:
        return ask_opinion(chat, pair.claim, pair.premise).label, ""
    except WrongQuote:
        return None, MISQUOTED
    except ChatUnanswered as error:
        if error.status == 503:
            raise
        return None, UNANSWERED
