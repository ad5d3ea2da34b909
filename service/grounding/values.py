"""What each step of a branch passes to the next, in order: candidates, judged texts, chosen documents, a side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from retrieval.core.values import BranchCounts, Evidence, Premise, Sentence, Verdict
from retrieval.store.rows import Entry


@dataclass(frozen=True, slots=True)
class RankedDocument:
    """A document of a branch's ranking: its position, from 0; the score that put it there, and its source; its stored text.

    `behind` is how far its score is below the best match's, or 0 without a reranker: decisions are fitted only to the scale of a
    reranker's scores.
    """

    position: int
    score: float
    scored_by: str
    entry: Entry
    behind: float = 0.0


@dataclass(frozen=True, slots=True)
class Text:
    """What a judge is asked about: a sentence of a candidate or, if `sentence` is None, its whole abstract."""

    candidate: RankedDocument
    sentence: Sentence | None
    premise: Premise


@dataclass(frozen=True, slots=True)
class JudgedText:
    """A sentence of a candidate, or None for its whole abstract, and the judge's verdict on it."""

    candidate: RankedDocument
    sentence: Sentence | None
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class DecidedDocument:
    """The judge's decision on a candidate as a whole, and the verdicts on its sentences behind it.

    `unnamed` are the claim's names that the document does not mention; if there are any, it takes no side.
    """

    candidate: RankedDocument
    sentences: tuple[JudgedText, ...]
    verdict: Verdict
    unnamed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ChosenDocument:
    """A document that a rule chose, with the sentence that speaks for it, or None if none is picked yet.

    `quotable` holds the sentences that may be quoted in its place, best first, with their fitness.
    """

    candidate: RankedDocument
    sentence: Sentence | None
    verdict: Verdict | None
    score: float
    scored_by: str
    quotable: tuple[tuple[Sentence, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Selection:
    """What a rule chose, and what came close; `more` of both, after the first n; and what was read but says nothing (`silent`).

    All are best first.
    """

    chosen: Sequence[ChosenDocument]
    uncertain: Sequence[ChosenDocument] = ()
    more: Sequence[ChosenDocument] = ()
    silent: Sequence[ChosenDocument] = ()


@dataclass(frozen=True, slots=True)
class Side:
    """What one branch found, with the fields of its `Selection`, and how much was looked at."""

    evidence: tuple[Evidence, ...]
    uncertain: tuple[Evidence, ...]
    more: tuple[Evidence, ...]
    silent: tuple[Evidence, ...]
    counts: BranchCounts
