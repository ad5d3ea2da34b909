"""What one step of a branch hands on to the next, in this order: candidates, what was judged of them, what was chosen, a side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from retrieval.core.values import BranchCounts, Evidence, Premise, Sentence, Verdict
from retrieval.store.rows import Entry


@dataclass(frozen=True, slots=True)
class RankedDocument:
    """A document of a branch's ranking: its place, from 0; the score that put it there, and whose score that is; its stored text.

    `behind` is how far the score lies behind the best match's, 0 where no reranker gave it: only scores of a reranker have a
    scale that a decision was fitted to.
    """

    position: int
    score: float
    scored_by: str
    entry: Entry
    behind: float = 0.0


@dataclass(frozen=True, slots=True)
class Text:
    """What a judge is asked about: a sentence of a candidate, or, where `sentence` is None, its whole abstract."""

    candidate: RankedDocument
    sentence: Sentence | None
    premise: Premise


@dataclass(frozen=True, slots=True)
class JudgedText:
    """A sentence of a candidate, or None for its whole abstract, and what the judge made of it."""

    candidate: RankedDocument
    sentence: Sentence | None
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Decided:
    """What the judge's decision says of a candidate as a whole, and the verdicts on its sentences behind that."""

    candidate: RankedDocument
    sentences: tuple[JudgedText, ...]
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class ChosenDocument:
    """A document that a rule chose, with the sentence that speaks for it: None as long as none was picked."""

    candidate: RankedDocument
    sentence: Sentence | None
    verdict: Verdict | None
    score: float
    scored_by: str


@dataclass(frozen=True, slots=True)
class Selection:
    """What a rule chose, and what came close to being chosen; `more` of both, behind the first n; what was read for nothing.

    All best first.
    """

    chosen: Sequence[ChosenDocument]
    uncertain: Sequence[ChosenDocument] = ()
    more: Sequence[ChosenDocument] = ()
    silent: Sequence[ChosenDocument] = ()


@dataclass(frozen=True, slots=True)
class Side:
    """What one branch found, as its `Selection` has it; and how much was looked at."""

    evidence: tuple[Evidence, ...]
    uncertain: tuple[Evidence, ...]
    more: tuple[Evidence, ...]
    silent: tuple[Evidence, ...]
    counts: BranchCounts
