"""The events of an answer in progress: each step that begins, and each sentence that is kept or removed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from counterpoint.retrieval.core.values import CitedSentence, RemovedSentence

StageName = Literal["find", "gate", "read", "write", "check", "conflicts"]


@dataclass(frozen=True, slots=True)
class Stage:
    """A step of the work begins; `detail` describes it in words."""

    name: StageName
    detail: str


@dataclass(frozen=True, slots=True)
class KeptSentence:
    """A sentence passed the check and is now in the answer, at this place, from 0."""

    place: int
    sentence: CitedSentence


Event = Stage | KeptSentence | RemovedSentence
OnEvent = Callable[[Event], None]
