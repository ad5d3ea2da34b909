"""What an answer tells of while it is made: the step that begins, and each sentence that is kept or removed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from retrieval.core.answers import CitedSentence, RemovedSentence

StageName = Literal["retrieve", "rerank", "write", "check", "conflicts"]


@dataclass(frozen=True, slots=True)
class Stage:
    """A step of the work begins; `detail` says in words what it does."""

    name: StageName
    detail: str


@dataclass(frozen=True, slots=True)
class KeptSentences:
    """A sentence was checked and stands in the answer, at this place from 0."""

    place: int
    sentence: CitedSentence


Event = Stage | KeptSentences | RemovedSentence
OnEvent = Callable[[Event], None]
