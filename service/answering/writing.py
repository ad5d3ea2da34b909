"""Writing an answer: the generator's sentences, each with its citations checked, and none beyond the limits.

Whatever the generator does, no unchecked sentence is kept: every sentence has a citation that holds, and those without one are
listed as removed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from generation.draft import Draft, DraftSentence, Generator, Limits, Source
from generation.prompts.filling import read_instructions
from generation.replies.faults import Faults, refers_elsewhere
from generation.replies.reply import parse_sentences
from nli.text.sentences import sentence_spans
from retrieval.core.answers import CitedSentence, Drafted, RemovedSentence, Usage
from retrieval.core.errors import ModelUnusable
from retrieval.core.values import Topic
from service.answering.attribution import Attribution, CheckedSentence, Led
from service.answering.events import KeptSentences, OnEvent, Stage
from service.configuration.answers import AnswerConfig
from service.configuration.models import FALLBACK, Models
from service.typed.language import find_language

EXTRACTIVE = "This answer is extractive: rules chose its sentences from the papers and put them in order."


class Writing:
    """One answer in progress: the sentences kept and removed so far, and what they cost.

    `topic` is in American spelling, like the papers as they are read; `shown` is the topic as asked, for a language model.
    """

    def __init__(self, config: AnswerConfig, models: Models, topic: Topic, shown: Topic, tell: OnEvent) -> None:
        self.config, self.models, self.topic, self.shown, self.tell = config, models, topic, shown, tell
        self.limits = Limits(config.limits.words, config.limits.citations)
        self.usage = Usage()
        self.kept: list[CitedSentence] = []
        self.removed: list[RemovedSentence] = []
        self.drafted: Drafted | None = None

    def write(self, generator: Generator, sources: Sequence[Source], led: Led | None = None) -> tuple[Generator, str]:
        """Write and check every sentence; return the generator that wrote, and a note about it.

        `led` is what the first sentence says, if it gives a verdict.
        Raises `ModelUnusable` if the generator does not respond and no other can write instead.
        """
        generator, draft, note = self._draft(generator, sources)
        self.usage = add_usage(self.usage, draft.usage)
        before = len(self.kept)
        self._check_draft(draft, generator, sources, led)
        stand_in = self.models.generators.get(FALLBACK)
        if len(self.kept) > before or generator.extractive or stand_in is None:
            return generator, note
        failure = f"Nothing that {generator.name} wrote held ({len(self.removed)} sentences removed)."
        self.tell(Stage("write", f"{failure} {stand_in.name} writes instead."))
        draft = stand_in(self.topic, sources, self._room(), self.config.generate.prompt)
        self._check_draft(draft, stand_in, sources, led)
        return stand_in, f"{failure} {EXTRACTIVE}"

    def _check_draft(self, draft: Draft, generator: Generator, sources: Sequence[Source], led: Led | None) -> None:
        judge, rules = self.models.judges[self.config.attribute.model], self.config.attribute
        attribution = Attribution(judge, rules, self.limits.citations, sources, led)
        sentences = _split(draft, sources)
        self.drafted = Drafted(
            len(sentences), sum(bool(one.cited) for one in sentences), sum(len(one.cited) for one in sentences)
        )
        self.tell(Stage("check", f"Checking the citations of {len(sentences)} sentences."))
        self._check(sentences, attribution, generator, sources)

    def keep(self, sentence: CitedSentence) -> bool:
        """Add a sentence if the answer stays within its word limit; return whether it was added."""
        words = sum(len(one.text.split()) for one in (*self.kept, sentence))
        if words > self.limits.words:
            return False
        self.kept.append(sentence)
        self.tell(KeptSentences(len(self.kept) - 1, sentence))
        return True

    def _draft(self, generator: Generator, sources: Sequence[Source]) -> tuple[Generator, Draft, str]:
        """The generator that wrote, its draft, and a note about it."""
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
        """The limits, less the words already used."""
        return replace(self.limits, words=self.limits.words - sum(len(one.text.split()) for one in self.kept))

    def _check(
        self, sentences: Sequence[DraftSentence], attribution: Attribution, generator: Generator, sources: Sequence[Source]
    ) -> None:
        faults = None if generator.extractive else Faults(self._read_prompts(), sources)
        for place, sentence in enumerate(sentences):
            if faults and (why := _find_fault(sentence.text, faults)):
                self._remove(sentence, why)
                continue
            checked, more = _check_alone(sentence, attribution, written=faults is not None), ""
            why = "; ".join(checked.failures) or "it cites no document, and none of the documents tried supports it"
            if not checked.citations and self.config.attribute.rewrite and faults:
                again, more = self._rewrite(sentence, generator, sources, faults)
                if again:
                    checked, more = _check_alone(again, attribution, written=True), "; one rewrite did not help"
                    sentence = again if checked.citations else sentence
            if not checked.citations:
                self._remove(sentence, why + more)
            elif not self.keep(CitedSentence(sentence.text, checked.citations)):
                for rest in (sentence, *sentences[place + 1 :]):
                    self._remove(rest, f"the answer is limited to {self.limits.words} words")
                return
            elif faults:
                faults.remember(sentence.text)

    def _read_prompts(self) -> str:
        """All instructions that the model gets, whatever the task."""
        return f"{read_instructions(self.config.generate.prompt)}\n{read_instructions('rewrite')}"

    def _rewrite(
        self, sentence: DraftSentence, generator: Generator, sources: Sequence[Source], faults: Faults
    ) -> tuple[DraftSentence | None, str]:
        """The generator's rewrite of a sentence that does not hold, or None and the reason."""
        try:
            draft = generator.rewrite(sentence.text, self.topic, sources, self.limits)
        except ModelUnusable as error:
            return None, f"; it could not be rewritten: {error}"
        self.usage = add_usage(self.usage, draft.usage)
        again = [one for one in _split(draft, sources) if not _find_fault(one.text, faults)]
        return (again[0], "") if again else (None, "; the generator could not rewrite it")

    def _remove(self, sentence: DraftSentence, reason: str) -> None:
        self.removed.append(RemovedSentence(sentence.text, reason))
        self.tell(self.removed[-1])


def _check_alone(sentence: DraftSentence, attribution: Attribution, written: bool) -> CheckedSentence:
    """The citations of a sentence that hold; none if a model wrote it to be read after another."""
    if written and refers_elsewhere(sentence.text):
        return CheckedSentence((), ("what it is about is named in another sentence, so it cannot be checked",))
    return attribution.check(sentence)


def _find_fault(text: str, faults: Faults) -> str:
    """Why a model's sentence may not stand, whatever it cites; "" for nothing."""
    language = find_language(text)
    return f"it is in {language}, not in English" if language else faults.find(text)


def add_usage(one: Usage, other: Usage) -> Usage:
    """The sum of both; a cost is known if either is."""
    costs = [usage.cost for usage in (one, other) if usage.cost is not None]
    return Usage(
        one.requests + other.requests,
        one.prompt_tokens + other.prompt_tokens,
        one.completion_tokens + other.completion_tokens,
        sum(costs) if costs else None,
    )


def _split(draft: Draft, sources: Sequence[Source]) -> list[DraftSentence]:
    return list(draft.sentences) or parse_sentences(draft.text, sentence_spans, sources)
