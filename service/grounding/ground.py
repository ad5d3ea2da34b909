"""Grounding a claim: the papers that contradict it and those that support it, no paper on both sides.

The path is find → gate → read → show; `weigh` gives the verdict on what is shown.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count, repeat
from types import MappingProxyType

from counterpoint.nli.judge import Reader, make_reader
from counterpoint.retrieval.core.errors import BadInput
from counterpoint.retrieval.core.values import Claim, Grounding
from counterpoint.retrieval.index import Index
from counterpoint.retrieval.runtime.asking import AsksInForm
from counterpoint.retrieval.runtime.usage import Budget, count_usage, find_room
from counterpoint.retrieval.store.documents import Entry
from counterpoint.service.configuration.config import GroundingConfig, PathStep, ReadStep, Variant
from counterpoint.service.configuration.defaults import MOST_READ
from counterpoint.service.configuration.models import Models
from counterpoint.service.grounding.claims import state_claim
from counterpoint.service.grounding.coverage import READING
from counterpoint.service.grounding.find import Only, find
from counterpoint.service.grounding.full_text import Windows, find_windows, keep_within
from counterpoint.service.grounding.gate import gate, take_best
from counterpoint.service.grounding.read import contrast, read
from counterpoint.service.grounding.show import list_papers, show
from counterpoint.service.grounding.values import GroundStage, OnStage, PaperReading, ReadPaper, ignore_progress

Choose = Callable[[Sequence[Entry]], Sequence[Entry]]
"""Returns the papers to read of those that are ranked."""


class Grounder:
    """Grounds claims on one index with one configuration and its models; safe to use from several threads at once."""

    reads_papers = True
    """Whether `reader`, `find`, `rank` and `read` can be used."""
    config: Variant
    """The configuration as far as the index allows it."""
    asked_config: Variant

    def __init__(self, index: Index, config: GroundingConfig, models: Models) -> None:
        """Ground on `index` as `config` says; raises `IndexUnusable` if the index lacks vectors that are required."""
        self.index, self._asked, self._asked_models = index, config, models
        self.path, self.models = adapt(index, config.path, models)
        self.asked_config, self.config = config, config.model_copy(update={"path": self.path})

    def over(self, index: Index) -> Grounder:
        """The same grounder over another index; raises `IndexUnusable` if that lacks vectors that are required."""
        return Grounder(index, self._asked, self._asked_models)

    def for_answers(self, budget: Budget | None, found: int | None) -> Grounder:
        """The same grounder with an answer's budget, which finds so many papers for a language model to choose from; without one
        it leaves out full texts, which the embedded models neither quote in an answer nor check."""
        path = self._asked.path
        asks = isinstance(self.reader, AsksInForm)
        change = {"k": max(path.find.k, found or 0)} if asks else {"passages": "ignored"}
        path = path.model_copy(update={"find": path.find.model_copy(update=change)})
        return Grounder(self.index, self._asked.model_copy(update={"budget": budget, "path": path}), self._asked_models)

    def with_reader(self, reader: Reader) -> Grounder:
        """The same grounder with another reader of papers."""
        judges = {**self._asked_models.judges, self._asked.path.read.model: reader}
        return Grounder(self.index, self._asked, replace(self._asked_models, judges=judges))

    @property
    def reader(self) -> Reader:
        """What reads papers."""
        return make_reader(self.models.judges[self.path.read.model])

    def ground(
        self,
        claim: Claim,
        on_stage: OnStage | None = None,
        only: Only | None = None,
        papers: int | None = None,
        until: float | None = None,
        full_text: bool = False,
        choose: Choose | None = None,
    ) -> Grounding:
        """Both sides of a claim. `on_stage` is called as each step begins; an exception from it ends the work there.

        With `choose`, what it returns of the papers that are ranked is read, in its order.

        With `only`, nothing is read but the documents that it returns, and with `full_text` none without one. `papers` is how
        many are read, whatever they say, if not as many as configured. From the time `until` on (by `time.monotonic`), no further
        paper is read; the others are weighed. Raises `BadInput` for a number of papers that is not possible.
        """
        if papers is not None and not 1 <= papers <= MOST_READ:
            raise BadInput(f"{papers} papers cannot be read for a claim; expected 1 to {MOST_READ}.")
        on_progress, stated = on_stage or ignore_progress, _state(claim)
        if full_text:
            only = self._keep_texts(only)
        with count_usage(self.config.budget) as tally:
            grounding = self._ground(stated, on_progress, only, papers, until, choose)
        return replace(grounding, claim=claim, usage=tally.total)

    def _keep_texts(self, only: Only | None) -> Only:
        """Of the documents that `only` returns those with a full text; raises `BadInput` if the index has no full text at all."""
        store = self.index.store
        if not self.index.has_texts:
            raise BadInput("This index has no full texts; add them with `counterpoint index update INDEX --full-text FOLDER`.")
        return store.hash_texts if only is None else lambda pmids: store.hash_texts(list(only(pmids)))

    def _ground(
        self,
        claim: Claim,
        on_progress: OnStage,
        only: Only | None,
        papers: int | None,
        until: float | None,
        choose: Choose | None,
    ) -> Grounding:
        on_progress(GroundStage("find", self.index.manifest.counts.documents))
        found = self.find(claim, only)
        on_progress(GroundStage("gate", len(found)))
        windows = self._choose_windows(claim, [entry for entry in found if not len(entry)])
        step = self.path.read if papers is None else self.path.read.model_copy(update={"papers": papers, "most": papers})
        ranked = self.rank(claim, found, windows, step.most or step.papers)
        ranked = [*choose(ranked)] if choose else ranked
        readings = self._read_best(step, claim, ranked, on_progress, until, windows)
        entries = {entry.pmid: entry for entry in ranked}
        grounding = show(claim, readings, entries, len(found), self.path.show)
        if until is None or time.monotonic() < until:
            grounding = replace(grounding, contrasts=contrast(self.reader, claim, grounding, entries))
        sides, checked = (len(grounding.contradicting), len(grounding.supporting)), grounding.checked
        on_progress(GroundStage("weigh", checked.documents, checked.sentences, checked.read, *sides))
        return grounding

    def _read_best(
        self, step: ReadStep, claim: Claim, ranked: Sequence[Entry], on_progress: OnStage, until: float | None, windows: Windows
    ) -> list[PaperReading]:
        """The readings of the best papers, and of more while too few have taken a side and there is time."""
        readings: list[PaperReading] = []
        most = step.most or step.papers
        for papers in range(step.papers, most + step.papers, step.papers):
            best = take_best(claim, ranked, min(papers, most))
            readings += self.read(claim, best[len(readings) :], on_progress, until, readings, windows)
            on_a_side = sum(reading.verdict.label != "neutral" for reading in readings)
            if on_a_side >= step.sides or len(readings) < len(best) or len(best) == len(ranked):
                break
        return readings

    def ground_both(
        self, first: Claim, second: Claim, papers: int | None = None, choose: Choose | None = None
    ) -> tuple[Grounding, Grounding]:
        """Two claims that are set against each other: the papers found and read for the first are read on the second as well.

        A language model is only asked about those that contradict the first or may: what supports one contradicts the other.
        """
        grounding = self.ground(first, papers=papers, choose=choose)
        listed = {one.document.pmid: one for one in list_papers(grounding)}
        entries = {entry.pmid: entry for entry in self.index.entries([*listed])}
        turned = dict[str, PaperReading]()
        if isinstance(self.reader, AsksInForm):
            clear = [one for one in listed.values() if one in grounding.silent or one.verdict.label == "support"]
            known = ((one.document.pmid, one.verdict.turn(), one.sentence, one.scored_by) for one in clear)
            turned = {one[0]: PaperReading(*one) for one in known}
        again = iter(self.read(second, [entry for pmid, entry in entries.items() if pmid not in turned]))
        readings = [turned.get(pmid) or next(again) for pmid in entries]
        return grounding, show(_state(second), readings, entries, grounding.checked.documents, self.path.show)

    def find(self, claim: Claim, only: Only | None = None, k: int | None = None) -> list[Entry]:
        """The papers that a claim may be about, best first, at most `k` if not as many as configured."""
        step = self.path.find
        return find(self.index, self.models, step if k is None else step.model_copy(update={"k": k}), claim, only)

    def rank(self, claim: Claim, found: Sequence[Entry], windows: Windows | None = None, most: int = 0) -> list[Entry]:
        """Those of the papers found that are worth reading, best first; `most` is how many are read in the end (0: all).

        Of a paper without an abstract its window of `windows` counts; without them, they are chosen.
        """
        models, names = self.models, self.path.gate
        rerankers = [models.rerankers[name] for name in names if name in models.rerankers]
        if windows is None:
            windows = self._choose_windows(claim, [entry for entry in found if not len(entry)])
        return gate(rerankers, self._gate_readers(), claim, found, windows, most)

    def _gate_readers(self) -> list[Reader]:
        return [make_reader(self.models.judges[name]) for name in self.path.gate if name in self.models.judges]

    def _choose_windows(self, claim: Claim, entries: Sequence[Entry]) -> Windows:
        """What to read of the full texts of these papers, by the gate's reader or, if it has none, the reader."""
        if self.path.find.passages == "ignored":
            return {}
        reader = next(iter(self._gate_readers()), self.reader)
        return find_windows(self.index, reader, self.reader.paper.full_text, claim.text, entries)

    def choose_windows(self, claim: Claim, entries: Sequence[Entry], besides: int, sent: int = 1) -> Windows:
        """What to read of the full texts of these papers; a language model is sent it `sent` times, as far as the budget has room
        besides so many tokens."""
        windows = self._choose_windows(_state(claim), entries)
        return keep_within(windows, find_room() - besides, sent) if isinstance(self.reader, AsksInForm) else windows

    def read(
        self,
        claim: Claim,
        entries: Sequence[Entry],
        on_progress: OnStage = ignore_progress,
        until: float | None = None,
        before: Sequence[PaperReading] = (),
        windows: Windows = MappingProxyType({}),
    ) -> list[PaperReading]:
        """What each of these papers says on a claim, whether or not a search would find them.

        Those read `before` are counted in what `on_progress` is told; `windows` are those that are chosen already.
        """
        documents, done = {entry.pmid: entry.document for entry in entries}, count(len(before) + 1)
        stage = GroundStage("read", len(before) + len(entries), sum(map(len, entries)), len(before))
        on_progress(stage)

        def report_reading(reading: PaperReading) -> None:
            document = documents[reading.pmid]
            stance = "neutral" if document.retracted else reading.verdict.label
            on_progress(replace(stage, read=next(done), paper=ReadPaper(reading.pmid, document.title, stance)))

        others = [entry for entry in entries if entry.pmid not in windows]
        windows = {**windows, **self.choose_windows(claim, others, READING * len(entries))}
        return read(self.reader, repeat(_state(claim)), entries, report_reading, until, windows)


def _state(claim: Claim) -> Claim:
    """The claim as it is searched for and read; the result shows it as it was typed."""
    return replace(claim, text=state_claim(claim.text))


def adapt(index: Index, path: PathStep, models: Models) -> tuple[PathStep, Models]:
    """The path and the models without the full texts and the vectors that the index lacks, as far as these are not required."""
    step = path.find
    encoder = models.encoders.get(step.encoder)
    if not index.has_texts:
        step = step.model_copy(update={"passages": "ignored"})
    if step.vectors == "if-present" and not (encoder and index.has_vectors(encoder.name)):
        step = step.without_vectors()
    encoders = {step.encoder: encoder} if encoder and "dense" in step.sources else {}
    for one in encoders.values():
        index.dense(one.name)
    return path.model_copy(update={"find": step}), replace(models, encoders=encoders)
