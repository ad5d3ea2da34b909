"""A language model's draft, checked as a whole: its sentences, each with the citations that hold.

Where a language model reads papers, one request checks every citation of the draft (generation/prompts/check.md). A verdict
counts if the words on which it rests are in the cited paper; otherwise the embedded check decides on that citation, as it does on
all where no model reads. Sentences that fail are corrected once, all in one request that says what failed, and checked again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator

from generation.draft import CitedSource, Draft, DraftSentence, Failed, Generator, Source
from generation.prompting import fill_prompt, read_instructions, write_sentences
from generation.replies import Faults, parse_sentences, refers_elsewhere
from nli.judge import Abstract
from nli.reader.chat import find_quote
from nli.reader.paper import LanguageModelReader
from nli.text.sentences import sentence_spans
from retrieval.core.errors import ModelUnusable
from retrieval.core.values import Citation, Topic
from retrieval.runtime.replies import read_number
from service.answering.attribution import Attribution, CheckedSentence, find_other_figures
from service.queries.classify import find_language

Number = Annotated[int, BeforeValidator(read_number)]
Says = Annotated[Literal["yes", "in part", "no", "opposite"], BeforeValidator(lambda value: str(value).strip(" .\"'").lower())]
_GRADES = {"yes": 2, "in part": 1}
_TOKENS = 100
"""What the check of a citation may take of a reply."""
ALONE = "what it is about is named in another sentence, so it cannot be checked"
NOT_WHOLE = "its documents do not say all of it"


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
    language model said so."""

    sentence: DraftSentence
    citations: tuple[Citation, ...]
    why: str = ""
    answers: bool | None = None


@dataclass(frozen=True, slots=True)
class _Checked:
    """A sentence as it was checked; one that holds may still have to be corrected, since a citation says the opposite."""

    found: CheckedSentence
    answers: bool | None = None
    disputed: bool = False


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
        self.faults = Faults("\n".join(instructions), sources, copies=reader is None)
        self.notes: list[str] = []

    def settle(self, sentences: Sequence[DraftSentence], generator: Generator, rewrite: bool) -> list[Settled]:
        """What becomes of every sentence, in order; with `rewrite`, those that fail are corrected once."""
        checked, faulty = self._check_sound(sentences)
        self.faults.remember_only([sentences[at].text for at, one in checked.items() if one.found.citations and not one.disputed])
        failing = [place for place, one in checked.items() if one.disputed or not one.found.citations] if rewrite else []
        corrected, more = self._correct([Failed(sentences[at], explain(checked[at].found)) for at in failing], generator)
        settled = [Settled(one, (), faulty.get(place, "")) for place, one in enumerate(sentences)]
        for place, one in checked.items():
            why = explain(one.found)
            if place in failing and (again := corrected[failing.index(place)]):
                settled[place] = again
            else:
                settled[place] = Settled(
                    sentences[place], one.found.citations, why + (more if place in failing else ""), one.answers
                )
        return self._drop_dangling(settled)

    def split(self, draft: Draft) -> list[DraftSentence]:
        """The sentences of a draft."""
        return list(draft.sentences) or parse_sentences(draft.text, sentence_spans, self._sources)

    def _check_sound(self, sentences: Sequence[DraftSentence]) -> tuple[dict[int, _Checked], dict[int, str]]:
        """By place, what the check found of each sentence whose words have no fault, and the fault of each other one."""
        faulty = {place: fault for place, one in enumerate(sentences) if (fault := self._find_fault(one.text))}
        sound = [place for place in range(len(sentences)) if place not in faulty]
        return dict(zip(sound, self._check([sentences[place] for place in sound]), strict=True)), faulty

    def _find_fault(self, text: str) -> str:
        """Why a model's sentence may not stand, whatever it cites; "" for nothing: then no later one may repeat it."""
        language = find_language(text)
        fault = f"it is in {language}, not in English" if language else self.faults.find(text)
        if not fault:
            self.faults.remember(text)
        return fault

    def _correct(self, failed: Sequence[Failed], generator: Generator) -> tuple[list[Settled | None], str]:
        """The correction of each sentence if it holds, and otherwise what to add to the reason."""
        if not failed:
            return [], ""
        try:
            drafts = [self.split(draft)[:1] for draft in generator.correct(failed, self._topic, self._sources)]
        except ModelUnusable as error:
            return [None] * len(failed), f"; it could not be rewritten: {error}"
        written = [one for some in drafts for one in some]
        if not written:
            return [None] * len(failed), "; the generator could not rewrite it"
        checked, _ = self._check_sound(written)
        held = {
            id(written[place]): Settled(written[place], one.found.citations, "", one.answers)
            for place, one in checked.items()
            if one.found.citations
        }
        return [held.get(id(some[0])) if some else None for some in drafts], "; one rewrite did not help"

    def _check(self, sentences: Sequence[DraftSentence]) -> list[_Checked]:
        reader = self._reader
        if reader is None or not sentences:
            return [self._check_embedded(one) for one in sentences]
        known = {source.number for source in self._sources if source.sentences}
        asked = [replace(one, cited=tuple(cited for cited in one.cited if cited.number in known)) for one in sentences]
        prompt = fill_prompt("check", self._topic, self._sources, sentences=write_sentences(asked))
        pairs = sum(len(one.cited) for one in asked)
        try:
            reply = reader.ask_in_form(
                prompt.system, prompt.user, DraftCheck, lambda one: _find_gap(one, asked), 1000 + _TOKENS * pairs
            )
        except ModelUnusable as error:
            self.notes.append(f"The embedded models checked the citations: {error}")
            return [self._check_embedded(one) for one in sentences]
        found = {one.sentence: one for one in reply.sentences}
        answering = {*reply.answering}
        return [self._weigh(reader, one, found.get(number), number in answering) for number, one in enumerate(sentences, 1)]

    def _check_embedded(self, sentence: DraftSentence) -> _Checked:
        """The citations of a sentence that hold; none if it was written to be read after another."""
        if refers_elsewhere(sentence.text):
            return _Checked(CheckedSentence((), (ALONE,)))
        return _Checked(self._attribution.check(sentence))

    def _weigh(
        self, reader: LanguageModelReader, sentence: DraftSentence, check: SentenceCheck | None, answers: bool
    ) -> _Checked:
        """What the model's reply makes of a sentence; the embedded check decides on each citation that it does not settle."""
        said = {one.document: one for one in check.citations} if check else {}
        citations, failures, settled, disputed = dict[CitedSource, Citation](), list[str](), 0, False
        for cited in sentence.cited:
            one = said.get(cited.number)
            outcome = self._weigh_citation(reader, cited, sentence.text, one) if one else None
            settled += outcome is not None
            disputed = disputed or bool(isinstance(outcome, str) and one and one.verdict == "opposite")
            outcome = outcome or self._attribution.judge(cited, sentence.text)
            if isinstance(outcome, Citation):
                citations[cited] = outcome
            if isinstance(outcome, str) or outcome.verdict.partial:
                failures.append(
                    outcome if isinstance(outcome, str) else f"[{cited.number}] says only some of it: {outcome.verdict.reason}"
                )
        plain = [cited for cited, one in citations.items() if not one.verdict.partial]
        # What the embedded check supports, it supports as a whole.
        whole = (
            bool(check and check.whole)
            or not settled
            or any(not cited.part and not citations[cited].verdict.quote for cited in plain)
        )
        if not sentence.cited or (citations and not whole):
            failures.append(NOT_WHOLE if sentence.cited else "it cites no document")
        if figures := self._find_lacking_figures(sentence, citations.values()):
            failures.append(f"its documents do not give the figure {' or '.join(figures)}")
        parts = [cited for cited in sentence.cited if cited.part]
        enough = set(parts) <= set(plain) if parts else bool(plain) or len(citations) > 1
        if not (whole and citations and enough) or figures:
            return _Checked(CheckedSentence((), tuple(failures)), answers)
        return _Checked(CheckedSentence(self._attribution.choose_best([*citations.values()]), tuple(failures)), answers, disputed)

    def _weigh_citation(
        self, reader: LanguageModelReader, cited: CitedSource, text: str, check: CitationCheck
    ) -> Citation | str | None:
        """The citation, or why it does not hold; None if the words on which the model's verdict rests are not in the paper."""
        source = next((one for one in self._sources if one.number == cited.number), None)
        if source is None:
            return None
        paper = Abstract(source.document.title, tuple(sentence.text for sentence in source.sentences))
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

    def _find_lacking_figures(self, sentence: DraftSentence, citations: Iterable[Citation]) -> tuple[str, ...]:
        """The figures in a sentence that none of the papers gives that bear it out."""
        papers = {one.document.pmid for one in citations}
        texts = [
            " ".join((source.document.title, *(one.text for one in source.sentences)))
            for source in self._sources
            if source.document.pmid in papers
        ]
        return find_other_figures(sentence.text, " ".join(texts)) if texts else ()

    def _drop_dangling(self, settled: Sequence[Settled]) -> list[Settled]:
        """The same without sentences that begin with a word for something in a sentence that is removed."""
        kept: list[Settled] = []
        for one in settled:
            dangles = one.citations and refers_elsewhere(one.sentence.text) and not (kept and kept[-1].citations)
            kept.append(replace(one, citations=(), why=ALONE) if dangles else one)
        return kept


def explain(found: CheckedSentence) -> str:
    """Why a sentence fails."""
    return "; ".join(found.failures) or "it cites no document, and none of the documents tried supports it"


def _find_gap(reply: DraftCheck, sentences: Sequence[DraftSentence]) -> str:
    """Why a reply cannot be used: it says nothing of any citation."""
    asked = {(number, cited.number) for number, one in enumerate(sentences, 1) for cited in one.cited}
    said = {(one.sentence, citation.document) for one in reply.sentences for citation in one.citations}
    return "" if not asked or asked & said else "It says nothing of the sentences and documents that were asked about."
