"""A language model's draft, checked as a whole: its sentences, each with the citations that hold.

Where a language model reads papers, one request checks every citation of the draft (generation/prompts/check.md). A verdict
counts if the words on which it rests are in the cited paper; otherwise the embedded check decides on that citation, as it does on
all where no model reads. Sentences that fail are corrected once, all in one request that says what failed, and checked again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator

from counterpoint.generation.draft import CitedSource, Draft, DraftSentence, Failed, Generator, Source
from counterpoint.generation.prompting import fill_prompt, read_instructions, write_sentences
from counterpoint.generation.replies import Faults, parse_sentences, refers_elsewhere
from counterpoint.nli.long_text import make_abstract
from counterpoint.nli.reader.chat import find_quote
from counterpoint.nli.reader.paper import LanguageModelReader
from counterpoint.nli.text.sentences import sentence_spans
from counterpoint.retrieval.core.errors import ModelUnusable
from counterpoint.retrieval.core.values import Citation, Topic
from counterpoint.retrieval.runtime.replies import read_number
from counterpoint.service.answering.attribution import Attribution, CheckedSentence, find_other_figures
from counterpoint.service.queries.classify import find_language

Number = Annotated[int, BeforeValidator(read_number)]
Says = Annotated[Literal["yes", "in part", "no", "opposite"], BeforeValidator(lambda value: str(value).strip(" .\"'").lower())]
_GRADES = {"yes": 2, "in part": 1}
_TOKENS = 100
"""What the check of a citation may take of a reply."""
ALONE = "what it is about is named in another sentence, so it cannot be checked"


class CitationCheck(BaseModel):
    """What a language model says of one citation, with the words of the document that show it."""

    document: Number
    words: str
    fault: str
    verdict: Says


class SentenceCheck(BaseModel):
    """The same of all citations of a sentence; `whole` says that together they say all of it."""

    sentence: Number
    citations: list[CitationCheck]
    whole: bool


class DraftCheck(BaseModel):
    """The same of a draft; `answering` are the sentences that answer the question."""

    sentences: list[SentenceCheck]
    answering: list[Number]


@dataclass(frozen=True, slots=True)
class Settled:
    """A sentence with the citations that hold, none if it has to be removed, and why; whether it answers the question, None if no
    language model said so; and whether to correct it, since its citations fail or one of them says the opposite."""

    sentence: DraftSentence
    citations: tuple[Citation, ...] = ()
    why: str = ""
    answers: bool | None = None
    mend: bool = False

    @classmethod
    def of(cls, sentence: DraftSentence, found: CheckedSentence) -> Settled:
        """What the embedded check found of a sentence."""
        why = "; ".join(found.failures) or "it cites no document, and none of the documents tried supports it"
        return cls(sentence, found.citations, why, mend=not found.citations)


class DraftChecker:
    """Checks and corrects the draft of one answer. `notes` says where a language model was to check and could not."""

    def __init__(
        self,
        attribution: Attribution,
        reader: LanguageModelReader | None,
        topic: Topic,
        sources: Sequence[Source],
        prompt: str,
    ) -> None:
        """`reader` is the language model that checks, None for the embedded check; `prompt` is what the draft was asked with."""
        self._attribution, self._reader, self._topic, self._sources = attribution, reader, topic, sources
        instructions = (read_instructions(name) for name in (prompt, "rewrite"))
        self._faults = Faults("\n".join(instructions), sources, copies=reader is None)
        self.notes: list[str] = []

    def split(self, draft: Draft) -> list[DraftSentence]:
        """The sentences of a draft."""
        return list(draft.sentences) or parse_sentences(draft.text, sentence_spans, self._sources)

    def settle(self, sentences: Sequence[DraftSentence], generator: Generator, rewrite: bool) -> list[Settled]:
        """What becomes of every sentence, in order; with `rewrite`, those that fail are corrected once."""
        settled = self._check_sound(sentences)
        self._faults.remember_only([one.sentence.text for one in settled if one.citations and not one.mend])
        if rewrite and (failed := [one for one in settled if one.mend]):
            corrected = iter(self._correct(failed, generator))
            settled = [next(corrected) if one.mend else one for one in settled]
        kept: list[Settled] = []
        for one in settled:  # one that needs the sentence before it is not kept without that
            dangles = refers_elsewhere(one.sentence.text) and not (kept and kept[-1].citations)
            kept.append(replace(one, citations=(), why=ALONE) if one.citations and dangles else one)
        return kept

    def _correct(self, failed: Sequence[Settled], generator: Generator) -> list[Settled]:
        """The correction of each sentence that holds, or else the sentence as it was."""
        told = [Failed(one.sentence, one.why) for one in failed]
        try:
            drafts = [self.split(draft)[:1] for draft in generator.correct(told, self._topic, self._sources)]
        except ModelUnusable as error:
            return [replace(one, why=f"{one.why}; it could not be rewritten: {error}") for one in failed]
        checked = iter(self._check_sound([one for some in drafts for one in some], again=True))
        corrected = []
        for one, some in zip(failed, drafts, strict=True):
            again = next(checked) if some else None
            vain = "one rewrite did not help" if some else "the generator could not rewrite it"
            corrected.append(again if again and again.citations else replace(one, why=f"{one.why}; {vain}"))
        return corrected

    def _check_sound(self, sentences: Sequence[DraftSentence], again: bool = False) -> list[Settled]:
        """What a check finds of each sentence; those whose words have a fault are not checked."""
        faulty = [self._find_fault(one.text) for one in sentences]
        checked = iter(self._check([one for one, fault in zip(sentences, faulty, strict=True) if not fault], again))
        return [Settled(one, why=fault) if fault else next(checked) for one, fault in zip(sentences, faulty, strict=True)]

    def _find_fault(self, text: str) -> str:
        """Why a model's sentence may not stand, whatever it cites; "" for nothing: then no later one may repeat it."""
        language = find_language(text)
        fault = f"it is in {language}, not in English" if language else self._faults.find(text)
        if not fault:
            self._faults.remember(text)
        return fault

    def _check(self, sentences: Sequence[DraftSentence], again: bool) -> list[Settled]:
        """All citations of these sentences, by the language model in one request, else by the embedded check."""
        reader = self._reader
        if reader is None or not sentences:
            return [self._check_embedded(one) for one in sentences]
        # What was corrected is checked against the papers that it cites alone.
        needed = {cited.number for one in sentences for cited in one.cited}
        sources = [one for one in self._sources if one.number in needed or not again]
        prompt = fill_prompt("check", self._topic, sources, sentences=write_sentences(sentences))
        longest = _TOKENS * (10 + sum(len(one.cited) for one in sentences))
        try:
            reply = reader.ask_in_form(prompt.system, prompt.user, DraftCheck, lambda one: _find_gap(one, sentences), longest)
        except ModelUnusable as error:
            self.notes.append(f"The embedded models checked the citations: {error}")
            return [self._check_embedded(one) for one in sentences]
        found, answering = {one.sentence: one for one in reply.sentences}, {*reply.answering}
        return [self._weigh(reader, one, found.get(number), number in answering) for number, one in enumerate(sentences, 1)]

    def _check_embedded(self, sentence: DraftSentence) -> Settled:
        """The citations of a sentence that hold; none if it was written to be read after another."""
        alone = CheckedSentence((), (ALONE,))
        return Settled.of(sentence, alone if refers_elsewhere(sentence.text) else self._attribution.check(sentence))

    def _weigh(self, reader: LanguageModelReader, sentence: DraftSentence, check: SentenceCheck | None, answers: bool) -> Settled:
        """What the model's reply makes of a sentence; the embedded check decides on each citation that it does not settle."""
        said = {one.document: one for one in check.citations} if check else {}
        citations, failures, settled, opposed = dict[CitedSource, Citation](), list[str](), 0, False
        for cited in sentence.cited:
            one = said.get(cited.number)
            outcome = self._weigh_citation(reader, cited, sentence.text, one) if one else None
            settled += outcome is not None
            opposed |= isinstance(outcome, str) and one is not None and one.verdict == "opposite"
            outcome = outcome or self._attribution.judge(cited, sentence.text)
            if isinstance(outcome, str):
                failures.append(outcome)
                continue
            citations[cited] = outcome
            if outcome.verdict.partial:
                failures.append(f"[{cited.number}] says only some of it: {outcome.verdict.reason}")
        plain = [cited for cited, one in citations.items() if not one.verdict.partial]
        # What the embedded check supports, it supports as a whole.
        embedded = any(not cited.part and not citations[cited].verdict.quote for cited in plain)
        whole = (check is not None and check.whole) or not settled or embedded
        if citations and not whole:
            failures.append("its documents do not say all of it")
        cites = {cited.number for cited in citations}
        given = " ".join(one.text for one in self._sources if one.number in cites)
        figures = find_other_figures(sentence.text, given, sums=True) if citations else ()
        if figures:
            failures.append(f"its documents do not give the figure {' or '.join(figures)}")
        parts = {cited for cited in sentence.cited if cited.part}
        enough = parts <= {*plain} if parts else plain or len(citations) > 1
        kept = self._attribution.choose_best([*citations.values()]) if whole and enough and not figures else ()
        return Settled(sentence, kept, "; ".join(failures) or "it cites no document", answers, opposed or not kept)

    def _weigh_citation(
        self, reader: LanguageModelReader, cited: CitedSource, text: str, check: CitationCheck
    ) -> Citation | str | None:
        """The citation, or why it does not hold; None if the words on which the model's verdict rests are not in the paper."""
        source = next((one for one in self._sources if one.number == cited.number), None)
        if source is None:
            return None
        paper = make_abstract(source.document.title, source.sentences)
        if check.verdict == "no":
            return f"[{cited.number}] does not say it: {check.fault}".rstrip(": ")
        quoted = find_quote(check.words, paper)
        if quoted is None:
            return None
        if check.verdict == "opposite":
            return f"[{cited.number}] says the opposite, “{quoted[1]}”: {check.fault}".rstrip(": ")
        verdict = reader.weigh(cited.part or text, paper, _GRADES[check.verdict])
        partial = check.verdict == "in part"
        shown = replace(verdict, decided="support", quote=quoted[1], partial=partial, reason=check.fault if partial else "")
        return Citation(source.document, source.sentences[quoted[0]], shown)


def _find_gap(reply: DraftCheck, sentences: Sequence[DraftSentence]) -> str:
    """Why a reply cannot be used: it says nothing of any citation."""
    asked = {(number, cited.number) for number, one in enumerate(sentences, 1) for cited in one.cited}
    said = {(one.sentence, citation.document) for one in reply.sentences for citation in one.citations}
    return "" if not asked or asked & said else "It says nothing of the sentences and documents that were asked about."
