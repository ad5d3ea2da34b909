"""Answering a topic: lead, or retrieve → rerank → enough?; write → check every citation → keep the limits → look for conflicts.

A question that asks for yes or no is grounded as a claim on both sides: its papers are those that take one, and the first
sentence says what they come to (service.answering.lead). For any other question the best documents are given to the generator.

Whatever the generator does, nothing leaves here that was not checked: every sentence has a citation that holds, and what had
none is listed as removed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from generation.draft import Draft, DraftSentence, Finding, Generator, Limits, Source
from generation.replies.reply import parse_sentences
from nli.judges.judge import Judge
from nli.text.roles import find_findings
from nli.text.sentences import sentence_spans
from retrieval.core.answers import Answer, CitedSentence, Conflict, RemovedSentence, Usage
from retrieval.core.errors import ModelUnusable
from retrieval.core.values import Hit, Topic
from retrieval.index import Index
from retrieval.rerank.reranker import make_passage
from retrieval.words.forms import add_other_forms, unify_text
from service.answering.attribution import Attribution
from service.answering.conflicts import Disagreements, find_conflicts_between_sides
from service.answering.lead import (
    NEAREST,
    Leads,
    Studied,
    collect_findings,
    describe_not_studied,
    name_nearest,
    write_lead_sentence,
)
from service.answering.relevance import about
from service.configuration.answers import AnswerConfig
from service.configuration.models import FALLBACK, Models
from service.grounding.ground import Grounder

EXTRACTIVE = "This answer is extractive: rules chose its sentences from the papers and put them in order."
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


@dataclass(frozen=True, slots=True)
class TooLittle:
    """Why nothing is written, and the documents that came nearest."""

    note: str
    nearest: list[Hit]


class Answerer:
    """Answers topics on one index with one configuration and its models; safe to use from several threads at once.

    `grounder` is None where the configuration looks for no conflicts.
    """

    def __init__(self, index: Index, config: AnswerConfig, models: Models, grounder: Grounder | None) -> None:
        self.index, self.config, self.models, self.grounder = index, config, models, grounder

    def over(self, index: Index) -> Answerer:
        """The same over another index; raises `IndexUnusable` where that lacks the vectors that the models need."""
        return Answerer(index, self.config, self.models, self.grounder.over(index) if self.grounder else None)

    def extractive(self, generated_by: str) -> bool:
        """Whether the generator of that name only quotes."""
        return any(one.extractive for one in self.models.generators.values() if one.name == generated_by)

    def answer(self, topic: Topic, on_event: OnEvent | None = None) -> Answer:
        """The answer to a topic's question; `on_event` is told each stage and sentence as it comes."""
        return _Work(self, topic, on_event or (lambda event: None)).answer()


class _Work:
    """One topic on its way to an answer."""

    def __init__(self, answerer: Answerer, topic: Topic, tell: OnEvent) -> None:
        self.index, self.config, self.grounder = answerer.index, answerer.config, answerer.grounder
        self.models = answerer.models.with_caches()
        self.tell = tell
        # Everything is read in American spelling, so that how a question is spelt decides nothing; shown is what was asked.
        self.shown = topic
        self.topic = unify_topic(topic) if self.config.retrieve.spellings else topic
        self.limits = Limits(self.config.limits.words, self.config.limits.citations)
        self.usage = Usage()
        self.kept: list[CitedSentence] = []
        self.removed: list[RemovedSentence] = []

    def answer(self) -> Answer:
        generator = self.models.generators[self.config.generate.generator]
        studied = self._studied()
        if studied and studied.lead is None:
            return self._decline(
                describe_not_studied(studied), [Hit(one.document.pmid, one.score) for one in studied.read], generator.name
            )
        hits = self._hits_on(studied, generator) if studied else self._hits()
        if isinstance(hits, TooLittle):
            return self._decline(hits.note, hits.nearest, generator.name)
        sources = self._sources(hits, collect_findings(studied) if studied else {})
        first = write_lead_sentence(self.shown.question, studied, self.limits.citations) if studied else None
        if first:
            self._keep(first)
        generator, draft, note = self._write(generator, sources)
        self.usage = add_usage(self.usage, draft.usage)
        judge, rules = self.models.judges[self.config.attribute.model], self.config.attribute
        attribution = Attribution(judge, rules, self.limits.citations, sources)
        sentences = self._sentences(draft, sources)
        self.tell(Stage("check", f"Checking the citations of {len(sentences)} sentences."))
        self._check(sentences, attribution, generator, sources)
        if not self.kept:
            reason = (
                f"the retrieved documents support none of what {generator.name} wrote ({len(self.removed)} sentences removed)"
            )
            return self._decline(f"The index has too little on this: {reason}.", hits, generator.name)
        conflicts = find_conflicts_between_sides(studied, self.kept) if studied else self._disagreements(judge, hits)
        return Answer(
            self.shown,
            "answered",
            tuple(self.kept),
            conflicts,
            tuple(self.removed),
            tuple(hits),
            generator.name,
            self.usage,
            note,
            studied.lead if studied else None,
        )

    def _studied(self) -> Studied | None:
        """What the papers say to a question that asks for yes or no; None where it asks for something else."""
        if not (self.grounder and self.config.lead):
            return None
        grounder = Grounder(self.index, self.grounder.config, self.models)
        leads = Leads(grounder, self.config.lead)
        self.tell(Stage("retrieve", f"Searching {self.index.manifest.counts.documents:,} documents for both sides."))
        return leads.of(self.shown.question)

    def _hits_on(self, studied: Studied, generator: Generator) -> list[Hit]:
        """The papers on the question, those first that carry the lead; a language model is given the next best beside them."""
        hits = [Hit(one.evidence.document.pmid, one.evidence.score) for one in studied.papers]
        if not generator.extractive:
            there = {hit.pmid for hit in hits}
            hits += [hit for hit, _ in self._rerank(self._find_candidates()) if hit.pmid not in there]
        return hits[: self.config.documents]

    def _hits(self) -> list[Hit] | TooLittle:
        """The documents that the generator is given, best first, or why there is too little in them to answer from."""
        found = self._find_candidates()
        # What all candidates together lack their best ten lack too: then nothing need be reranked.
        lacking = self._lacking([text for _, text in found])
        ranked = found if lacking else self._rerank(found)
        hits, texts = [hit for hit, _ in ranked], [text for _, text in ranked]
        lacking = lacking or self._lacking(texts)
        if lacking:
            nearest = hits[: self.config.documents]
            titles = [entry.document for entry in self.index.entries([hit.pmid for hit in nearest[:NEAREST]])]
            return TooLittle(f"The index has too little on this: {lacking}.{name_nearest(titles)}", nearest)
        return hits

    def _disagreements(self, judge: Judge, hits: list[Hit]) -> tuple[Conflict, ...]:
        """What the index holds against the sentences; the strongest is told in a closing sentence, its papers join the hits."""
        if not (self.grounder and self.config.conflicts):
            return ()
        self.tell(Stage("conflicts", "Looking for papers that contradict the answer."))
        against = Disagreements(self.grounder, self.config.conflicts, judge, self.config.attribute.contradict, self.topic)
        conflicts = against.against(self.kept)
        told = against.told(self.kept, conflicts, self.limits) if self.config.conflicts.tell else None
        if told:
            self._keep(told)
            known = {hit.pmid for hit in hits}
            hits += [Hit(c.document.pmid, 0.0) for c in told.citations if c.document.pmid not in known]
        return conflicts

    def _find_candidates(self) -> list[tuple[Hit, str]]:
        """The candidates by BM25, best first, with the text that a reranker reads; a retracted paper is none of them."""
        step, rerank = self.config.retrieve, self.config.rerank
        self.tell(Stage("retrieve", f"Searching {self.index.manifest.counts.documents:,} documents."))
        query = _make_query(self.topic, step.query)
        hits = self.index.search(add_other_forms(query) if step.spellings else query, step.k)
        if rerank and rerank.depth:
            hits = hits[: rerank.depth]
        entries = self.index.entries([hit.pmid for hit in hits])
        both = zip(hits, entries, strict=True)
        return [(hit, make_passage(entry.document)) for hit, entry in both if not entry.document.retracted]

    def _rerank(self, found: Sequence[tuple[Hit, str]]) -> list[tuple[Hit, str]]:
        """The documents that the generator is given, best first."""
        step = self.config.rerank
        if step is None:
            return list(found[: self.config.documents])
        self.tell(Stage("rerank", f"Reading {len(found):,} documents."))
        scores = self.models.rerankers[step.model](_make_query(self.topic, step.query), [text for _, text in found])
        # sorted() is stable: of two equal scores the better BM25 rank stands first.
        ranked = sorted(zip(found, scores, strict=True), key=lambda pair: -pair[1])[: self.config.documents]
        return [(Hit(hit.pmid, score), text) for (hit, text), score in ranked]

    def _sources(self, hits: Sequence[Hit], found: Mapping[str, Finding]) -> list[Source]:
        sources = []
        for number, entry in enumerate(self.index.entries([hit.pmid for hit in hits]), 1):
            sentences = entry.sentences()
            tells = frozenset(find_findings([one.text for one in sentences])) if self.config.lead else None
            sources.append(Source(number, entry.document, sentences, found.get(entry.pmid), tells))
        return sources

    def _lacking(self, texts: Sequence[str]) -> str:
        """Why there is too little to answer from, "" where there is enough."""
        enough = self.config.enough
        if not texts:
            return "no document shares a word with the question"
        if enough is None:
            return ""
        best = sorted(about(self.topic.question, texts), reverse=True)[: min(enough.among, self.config.documents)]
        held = sum(best) / len(best)
        reason = f"the best documents cover {held:.0%} of what the question asks about; {enough.about:.0%} is needed"
        return reason if held < enough.about else ""

    def _write(self, generator: Generator, sources: Sequence[Source]) -> tuple[Generator, Draft, str]:
        """Who wrote, what, and what is to be said about it."""
        prompt, note = self.config.generate.prompt, EXTRACTIVE if generator.extractive else ""
        self.tell(Stage("write", f"Writing from {len(sources)} documents with {generator.name}."))
        try:
            return generator, generator(self.topic if generator.extractive else self.shown, sources, self._room(), prompt), note
        except ModelUnusable as error:
            if FALLBACK not in self.models.generators:
                raise
            stand_in = self.models.generators[FALLBACK]
            self.tell(Stage("write", f"{error} {stand_in.name} writes instead."))
            return stand_in, stand_in(self.topic, sources, self._room(), prompt), f"{error} {EXTRACTIVE}"

    def _room(self) -> Limits:
        """What is left of the limits behind the lead."""
        return replace(self.limits, words=self.limits.words - sum(len(one.text.split()) for one in self.kept))

    def _sentences(self, draft: Draft, sources: Sequence[Source]) -> list[DraftSentence]:
        return list(draft.sentences) or parse_sentences(draft.text, sentence_spans, sources)

    def _check(
        self, sentences: Sequence[DraftSentence], attribution: Attribution, generator: Generator, sources: Sequence[Source]
    ) -> None:
        for place, sentence in enumerate(sentences):
            checked, more = attribution.check(sentence), ""
            why = "; ".join(checked.failures) or "it cites no document, and none of the documents tried supports it"
            if not checked.citations and self.config.attribute.rewrite and not generator.extractive:
                again, more = self._rewrite(sentence, generator, sources)
                if again:
                    checked, more = attribution.check(again), "; one rewrite did not help"
                    sentence = again if checked.citations else sentence
            if not checked.citations:
                self._remove(sentence, why + more)
            elif not self._keep(CitedSentence(sentence.text, checked.citations)):
                for left in (sentence, *sentences[place + 1 :]):
                    self._remove(left, f"the answer is limited to {self.limits.words} words")
                return

    def _rewrite(
        self, sentence: DraftSentence, generator: Generator, sources: Sequence[Source]
    ) -> tuple[DraftSentence | None, str]:
        """The sentence as the generator writes it when it is told that it does not hold, or None and why there is none."""
        try:
            draft = generator.rewrite(sentence.text, self.topic, sources, self.limits)
        except ModelUnusable as error:
            return None, f"; it could not be rewritten: {error}"
        self.usage = add_usage(self.usage, draft.usage)
        again = self._sentences(draft, sources)
        return (again[0], "") if again else (None, "; the generator could not rewrite it")

    def _keep(self, sentence: CitedSentence) -> bool:
        """Add a sentence if the answer then still has no more words than allowed."""
        words = sum(len(one.text.split()) for one in (*self.kept, sentence))
        if words > self.limits.words:
            return False
        self.kept.append(sentence)
        self.tell(KeptSentences(len(self.kept) - 1, sentence))
        return True

    def _remove(self, sentence: DraftSentence, reason: str) -> None:
        self.removed.append(RemovedSentence(sentence.text, reason))
        self.tell(self.removed[-1])

    def _decline(self, note: str, hits: Sequence[Hit], generator: str) -> Answer:
        return Answer(self.shown, "too little", (), (), tuple(self.removed), tuple(hits), generator, self.usage, note)


def unify_topic(topic: Topic) -> Topic:
    """The topic in American spelling, its Greek letters as their names."""
    parts = (unify_text(part) for part in (topic.question, topic.topic, topic.narrative))
    return Topic(topic.id, *parts)


def _make_query(topic: Topic, parts: str) -> str:
    """The parts of a topic, joined; where what is asked for is not there the question stands in."""
    named = [getattr(topic, part) for part in parts.split("+")]
    return " ".join(part for part in named if part) or topic.question


def add_usage(one: Usage, other: Usage) -> Usage:
    """Both together; a cost is known as far as any is."""
    costs = [usage.cost for usage in (one, other) if usage.cost is not None]
    return Usage(
        one.requests + other.requests,
        one.prompt_tokens + other.prompt_tokens,
        one.completion_tokens + other.completion_tokens,
        sum(costs) if costs else None,
    )
