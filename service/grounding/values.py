"""What the steps of grounding pass on: a paper's reading, and the stages that are reported."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from counterpoint.retrieval.core.values import Label, Sentence, Verdict

StageName = Literal["find", "gate", "read", "weigh"]


@dataclass(frozen=True, slots=True)
class PaperReading:
    """What one paper says on a claim: of claim, paper and reader alone.

    `sentence` is the one to quote, None without one, `other` one of the full text that is opposed to it; `by` names the reader;
    `note` says what went wrong, "" for nothing.
    """

    pmid: str
    verdict: Verdict
    sentence: Sentence | None
    by: str
    note: str = ""
    other: Sentence | None = None


@dataclass(frozen=True, slots=True)
class ReadPaper:
    """A paper that was just read, and the side that it takes; a retracted one takes none."""

    pmid: str
    title: str
    stance: Label


@dataclass(frozen=True, slots=True)
class GroundStage:
    """A step begins, a `paper` was read, or (`weigh`) all is done; the counts are what is known at that point."""

    name: StageName
    documents: int
    sentences: int = 0
    read: int = 0
    contradicting: int = 0
    supporting: int = 0
    paper: ReadPaper | None = None


OnStage = Callable[[GroundStage], None]


def ignore_progress(*_: object) -> None:
    """Report to nobody."""
