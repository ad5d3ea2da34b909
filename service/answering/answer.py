"""Answering a topic: lead, or retrieve → rerank → enough?; write → check every citation → keep to the limits → find conflicts.

A yes-or-no question is grounded as a claim, on both sides. Its papers are those that take a side, and the first sentence states
their overall verdict (service.answering.lead). For any other question, the generator gets the best documents.
"""

from __future__ import annotations

from collections.abc import Sequence

from generation.draft import Source
from nli.text.roles import find_findings
from retrieval.core.answers import Answer, Conflict
from retrieval.core.values import Hit, Topic
from retrieval.index import Index
from service.answering.attribution import Led
from service.answering.conflicts import Disagreements, find_conflicts_between_sides
from service.answering.events import OnEvent, Stage
from service.answering.lead import Studied, describe_not_studied, list_nearest, study, write_lead_sentence
from service.answering.retrieve import DocumentSearch, FoundDocuments, TooLittle, unify_topic
from service.answering.writing import Writing
from service.configuration.answers import AnswerConfig
from service.configuration.models import Models
from service.grounding.ground import Grounder


class Answerer:
    """Answers topics on one index with one configuration and its models; safe to use from several threads at once.

    `grounder` is None if the configuration looks for no conflicts.
    """

    def __init__(self, index: Index, config: AnswerConfig, models: Models, grounder: Grounder | None) -> None:
        self.index, self.config, self.grounder = index, config, grounder
        # Leads are searched for as the grounder searches, with the vectors that it uses.
        self.models = models.with_encoders(grounder.models.encoders) if grounder else models

    def over(self, index: Index) -> Answerer:
        """The same answerer over another index; raises `IndexUnusable` if that lacks vectors that are required."""
        return Answerer(index, self.config, self.models, self.grounder.over(index) if self.grounder else None)

    def extractive(self, generated_by: str) -> bool:
        """Whether the generator with this name only quotes."""
        return any(one.extractive for one in self.models.generators.values() if one.name == generated_by)

    def answer(self, topic: Topic, on_event: OnEvent | None = None) -> Answer:
        """The answer to a topic's question; `on_event` receives each stage and sentence as it comes.

        Raises `ModelUnusable` if the generator does not respond and no other can write instead.
        """
        return _Work(self, topic, on_event or (lambda event: None)).answer()


class _Work:
    """One topic on its way to an answer."""

    def __init__(self, answerer: Answerer, topic: Topic, tell: OnEvent) -> None:
        self.index, self.config, self.grounder = answerer.index, answerer.config, answerer.grounder
        self.models = answerer.models.with_caches()
        self.tell = tell
        # Everything is read in American spelling, so that spelling makes no difference; the question is shown as it was asked.
        self.shown = topic
        self.topic = unify_topic(topic) if self.config.retrieve.spellings else topic
        self.search = DocumentSearch(self.index, self.config, self.models, self.topic, tell)
        self.writing = Writing(self.config, self.models, self.topic, topic, tell)

    def answer(self) -> Answer:
        generator = self.models.generators[self.config.generate.generator]
        studied = self._studied()
        if studied and studied.lead is None:
            nearest = [Hit(one.pmid, 0.0) for one in list_nearest(studied)]
            return self._decline(describe_not_studied(studied), nearest, generator.name)
        # A language model also gets the next best documents, after those on the question.
        fill = not generator.extractive
        found = self.search.find_studied(studied, fill) if studied else self.search.find(fill)
        if isinstance(found, TooLittle):
            return self._decline(found.note, found.nearest, generator.name)
        hits, sources = found.hits, self._sources(found)
        first = write_lead_sentence(self.shown.question, studied, self.writing.limits.citations) if studied else None
        if first:
            self.writing.keep(first)
        generator, note = self.writing.write(generator, sources, self._state_lead(studied))
        kept, removed = self.writing.kept, self.writing.removed
        if not kept:
            reason = f"the retrieved documents support none of what {generator.name} wrote ({len(removed)} sentences removed)"
            return self._decline(f"The index has too little on this: {reason}.", hits, generator.name)
        conflicts = find_conflicts_between_sides(studied, kept) if studied else self._disagreements(hits)
        return Answer(
            self.shown,
            "answered",
            tuple(kept),
            conflicts,
            tuple(removed),
            tuple(hits),
            generator.name,
            self.writing.usage,
            note,
            studied.lead if studied else None,
            self.writing.drafted,
        )

    def _studied(self) -> Studied | None:
        """What the papers say on a yes-or-no question; None if the question is of another kind."""
        if not (self.grounder and self.config.lead):
            return None
        self.tell(Stage("retrieve", f"Searching {self.index.manifest.counts.documents:,} documents for both sides."))
        return study(self.grounder, self.shown.question)

    def _state_lead(self, studied: Studied | None) -> Led | None:
        """What the first sentence says, as a claim and a side; None if there is no lead."""
        return Led(studied.asked.claim, studied.lead.side) if studied and studied.lead else None

    def _sources(self, found: FoundDocuments) -> list[Source]:
        sources = []
        for number, entry in enumerate(self.index.entries([hit.pmid for hit in found.hits]), 1):
            sentences = entry.sentences()
            tells = frozenset(find_findings([one.text for one in sentences])) if self.config.lead else None
            sources.append(Source(number, entry.document, sentences, found.findings.get(entry.pmid), tells))
        return sources

    def _disagreements(self, hits: list[Hit]) -> tuple[Conflict, ...]:
        """What in the index contradicts the sentences; a closing sentence states the strongest; its papers join the hits."""
        if not (self.grounder and self.config.conflicts):
            return ()
        self.tell(Stage("conflicts", "Looking for papers that contradict the answer."))
        attribute, sentences = self.config.attribute, self.writing.kept
        judge = self.models.judges[attribute.model]
        against = Disagreements(self.grounder, self.config.conflicts, judge, attribute.contradict, self.topic)
        conflicts = against.against(sentences)
        closing = against.state_conflict(sentences, conflicts, self.writing.limits) if self.config.conflicts.tell else None
        if closing:
            self.writing.keep(closing)
            known = {hit.pmid for hit in hits}
            hits += [Hit(c.document.pmid, 0.0) for c in closing.citations if c.document.pmid not in known]
        return conflicts

    def _decline(self, note: str, hits: Sequence[Hit], generator: str) -> Answer:
        removed = tuple(self.writing.removed)
        usage, drafted = self.writing.usage, self.writing.drafted
        return Answer(self.shown, "too little", (), (), removed, tuple(hits), generator, usage, note, drafted=drafted)
