"""A request: one side of a claim on its way through its branch, with the index and models it uses and how much was judged."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import tee
from typing import Literal

from nli.judges.judge import BothWays, Judge, Reader
from retrieval.core.values import OPPOSITE, BranchCounts, Claim, Sentence, Stance
from retrieval.index import Index
from service.configuration.config import Branch, GroundingConfig, JudgeStep
from service.configuration.models import Models
from service.grounding.retrieve import Retrieved
from service.grounding.values import JudgedText, RankedDocument, Text


@dataclass(frozen=True, slots=True)
class GroundStage:
    """A step of one side begins, or (`decided`) the side is done; the counts are what is known at that point."""

    name: Literal["retrieve", "rerank", "judge", "decided"]
    side: Stance
    documents: int
    sentences: int = 0
    judged: int = 0
    found: int = 0


OnStage = Callable[[GroundStage], None]
Only = Callable[[Sequence[str]], Collection[str]]
"""Returns those of these PMIDs that a claim may be grounded against; the others are never read."""


def tell_nobody(_stage: GroundStage) -> None:
    """Report to nobody."""


@dataclass(slots=True)
class Request:
    """One side of a claim, what it is grounded with, and how much was judged for it so far.

    `tell` is called as each step begins; an exception from it ends the work there. The documents in `without` are already on the
    other side; those in `close` came close to it; with `only`, no other documents are considered. `retrieved` is shared with the
    claim's other side. `judged` counts the texts whose verdicts were used; `read` holds the positions of their documents.
    """

    claim: Claim
    stance: Stance
    index: Index
    config: GroundingConfig
    models: Models
    tell: OnStage = tell_nobody
    without: frozenset[str] = frozenset()
    close: frozenset[str] = frozenset()
    only: Only | None = None
    retrieved: Retrieved = field(default_factory=Retrieved)
    judged: int = 0
    read: set[int] = field(default_factory=set)

    def turn(self, without: frozenset[str], close: frozenset[str]) -> Request:
        """The request for the claim's other side, which shares what was retrieved."""
        return replace(self, stance=OPPOSITE[self.stance], without=without, close=close, judged=0, read=set())

    @property
    def branch(self) -> Branch:
        """The steps to take."""
        return self.config.contradict if self.stance == "contradict" else self.config.support

    @property
    def label(self) -> Stance:
        """The label that a judge must give a document for it to be chosen."""
        return self.branch.select.label or self.stance

    @property
    def known_pmids(self) -> frozenset[str]:
        """The PMIDs already known to the claim's author, if the branch drops them."""
        return frozenset(self.claim.known_pmids) if self.branch.drop_known else frozenset()

    @property
    def judging(self) -> JudgeStep:
        """How the branch judges; only for a branch with a judge."""
        step = self.branch.judge
        assert step is not None
        return step

    @property
    def judge(self) -> Judge:
        """The judge that the step names, reading in both directions if it says so."""
        model = self.models.judges[self.judging.model]
        return BothWays(model) if self.judging.directions == 2 else model

    @property
    def reader(self) -> Reader | None:
        """The judge if it reads whole abstracts in one pass, else None."""
        model = self.models.judges[self.judging.model]
        return model if self.judging.level == "abstract" and isinstance(model, Reader) else None

    def sentences(self, candidate: RankedDocument) -> tuple[Sentence, ...]:
        """The candidate's sentences that pass the branch's filter."""
        entry = candidate.entry
        return entry.cue_sentences() if self.branch.filter == "negex" else entry.sentences()

    def sentence_count(self, candidate: RankedDocument) -> int:
        """How many sentences pass the filter, counted without building them."""
        entry = candidate.entry
        return entry.cue_sentence_count() if self.branch.filter == "negex" else len(entry)

    def ask(self, judge: Judge, texts: Iterator[Text]) -> Iterator[JudgedText]:
        """Verdicts in the order of the texts, lazily, each counted as it is used; the judge itself reads a window ahead."""
        texts, lookahead = tee(texts)
        for verdict, text in zip(judge(self.claim.text, (one.premise for one in lookahead)), texts, strict=True):
            self.count(text.candidate)
            yield JudgedText(text.candidate, text.sentence, verdict)

    def count(self, candidate: RankedDocument, number: int = 1) -> None:
        """Record that `number` more texts of the candidate were judged."""
        self.judged += number
        self.read.add(candidate.position)

    def begin(self, step: Literal["retrieve", "rerank", "judge"], documents: int, sentences: int = 0) -> None:
        """Report that a step begins, with the numbers of documents and of their sentences."""
        self.tell(GroundStage(step, self.stance, documents, sentences))

    def finish(self, documents: Sequence[RankedDocument], number: int) -> BranchCounts:
        """Report that the side is decided, with the `number` of its `documents` chosen; return how much was looked at."""
        counts = BranchCounts(
            documents=len(documents),
            sentences=sum(len(one.entry) for one in documents),
            candidates=sum(self.sentence_count(one) for one in documents),
            judged=self.judged,
            read=len(self.read),
        )
        self.tell(GroundStage("decided", self.stance, counts.documents, counts.sentences, counts.judged, number))
        return counts
