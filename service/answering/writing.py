"""Writing an answer: the generator's sentences, each with its citations checked, and none beyond the limits.

Whatever the generator does, nothing is kept here that was not checked: every sentence has a citation that holds, and what had
none is listed as removed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from generation.draft import Draft, DraftSentence, Generator, Limits, Source
from generation.replies.reply import parse_sentences
from nli.text.sentences import sentence_spans
from retrieval.core.answers import CitedSentence, RemovedSentence, Usage
from retrieval.core.errors import ModelUnusable
from retrieval.core.values import Topic
from service.answering.attribution import Attribution
from service.answering.events import KeptSentences, OnEvent, Stage
from service.configuration.answers import AnswerConfig
from service.configuration.models import FALLBACK, Models

EXTRACTIVE = "This answer is extractive: rules chose its sentences from the papers and put them in order."


class Writing:
    """One answer while it is written: the sentences that were kept and removed so far, and what they cost.

    `topic` is in American spelling, as the papers are read; `shown` is as it was asked, for a language model.
    """

    def __init__(self, config: AnswerConfig, models: Models, topic: Topic, shown: Topic, tell: OnEvent) -> None:
        self.config, self.models, self.topic, self.shown, self.tell = config, models, topic, shown, tell
        self.limits = Limits(config.limits.words, config.limits.citations)
        self.usage = Usage()
        self.kept: list[CitedSentence] = []
        self.removed: list[RemovedSentence] = []

    def write(self, generator: Generator, sources: Sequence[Source]) -> tuple[Generator, str]:
        """Write and check every sentence; who wrote, and what is to be said about it.

        Raises `ModelUnusable` where the generator does not answer and no other can write instead.
        """
        generator, draft, note = self._draft(generator, sources)
        self.usage = add_usage(self.usage, draft.usage)
        judge, rules = self.models.judges[self.config.attribute.model], self.config.attribute
        attribution = Attribution(judge, rules, self.limits.citations, sources)
        sentences = _split(draft, sources)
        self.tell(Stage("check", f"Checking the citations of {len(sentences)} sentences."))
        self._check(sentences, attribution, generator, sources)
        return generator, note

    def keep(self, sentence: CitedSentence) -> bool:
        """Add a sentence if the answer then still has no more words than allowed."""
        words = sum(len(one.text.split()) for one in (*self.kept, sentence))
        if words > self.limits.words:
            return False
        self.kept.append(sentence)
        self.tell(KeptSentences(len(self.kept) - 1, sentence))
        return True

    def _draft(self, generator: Generator, sources: Sequence[Source]) -> tuple[Generator, Draft, str]:
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
            elif not self.keep(CitedSentence(sentence.text, checked.citations)):
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
        again = _split(draft, sources)
        return (again[0], "") if again else (None, "; the generator could not rewrite it")

    def _remove(self, sentence: DraftSentence, reason: str) -> None:
        self.removed.append(RemovedSentence(sentence.text, reason))
        self.tell(self.removed[-1])


def add_usage(one: Usage, other: Usage) -> Usage:
    """Both together; a cost is known as far as any is."""
    costs = [usage.cost for usage in (one, other) if usage.cost is not None]
    return Usage(
        one.requests + other.requests,
        one.prompt_tokens + other.prompt_tokens,
        one.completion_tokens + other.completion_tokens,
        sum(costs) if costs else None,
    )


def _split(draft: Draft, sources: Sequence[Source]) -> list[DraftSentence]:
    return list(draft.sentences) or parse_sentences(draft.text, sentence_spans, sources)
