"""Answers on the wire: the JSON of POST /answer and of `counterpoint answer --json`, built from the values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, Field

from counterpoint.nli.text.designs import find_design
from counterpoint.retrieval.core.values import (
    Answer,
    AnswerVerdict,
    Citation,
    CitedSentence,
    Document,
    Evidence,
    Outcome,
    PaperFinding,
    RemovedSentence,
    Row,
    VerdictOutcome,
)
from counterpoint.service.answering.answer import Answerer
from counterpoint.service.answering.attribution import describe_check
from counterpoint.service.answering.events import KeptSentence, Stage
from counterpoint.service.grounding.schemas import DesignOut, EvidenceOut, VerdictOut, WeighedOut
from counterpoint.service.grounding.weigh import describe_certainty, weigh
from counterpoint.service.schemas import (
    AUTHORS,
    Figure,
    FollowUpOut,
    FollowUpsField,
    OfValue,
    Provenance,
    Rounded,
    SentenceOut,
    UsageOut,
    facts_of,
)


class CitationOut(BaseModel):
    """A cited document, and the sentence of its abstract or full text that supports the answer's sentence."""

    number: int = Field(description="The document's number in `documents`, from 1.")
    pmid: str
    sentence: SentenceOut
    verdict: VerdictOut = Field(
        description="The judge's verdict on that sentence, or on the whole paper (`of`), for the answer's sentence; where that "
        "states the answer's verdict, `support` is the probability that the paper takes the side on which the verdict counts it."
    )
    verbatim: bool = Field(
        description="Whether the abstract, or the full text at the sentence's `location`, contains the answer's sentence, or the "
        "text it quotes, word for word."
    )
    checked: str = Field(
        description="What was checked: where the sentence was found, and the judge's stance with its probability."
    )


class AnswerSentenceOut(BaseModel):
    """A sentence of the answer, with its citations.

    Each citation says how it was checked: whether the paper contains the sentence (or its quotation) word for word or, if not,
    the judge's verdict on the paper, with its probability.
    """

    text: str
    citations: list[CitationOut]


class RemovedOut(OfValue):
    """A sentence that the check removed from the answer."""

    text: str
    reason: str


class DraftedOut(OfValue):
    """How much the generator wrote before the check: sentences, sentences with a citation, and citations."""

    sentences: int
    cited: int
    citations: int


class NumberedPaperOut(BaseModel):
    """A paper with its number in `documents`."""

    number: int
    pmid: str
    title: str
    year: int | None
    journal: str
    authors: list[str] = Field(description=AUTHORS)
    doi: str
    pmcid: str
    types: list[str]
    design: DesignOut


class CitedDocumentOut(NumberedPaperOut):
    """A document given to the generator or added by a conflict; `cited` says whether the answer cites it."""

    score: Rounded = Field(description="The score that ranked it; 0 for a document added by a conflict.")
    cited: bool


def _describe_paper(document: Document, number: int) -> dict[str, Any]:
    """The fields of `NumberedPaperOut`."""
    return {"number": number, **facts_of(document), "design": DesignOut.model_validate(find_design(document))}


class ConflictOut(BaseModel):
    """Evidence in the index that contradicts a sentence of the answer; `sentence` counts from 0."""

    sentence: int
    evidence: EvidenceOut


class VerdictPaperOut(BaseModel):
    """A paper that takes a side, with the probability that it does and the kind of study."""

    pmid: str
    probability: Figure
    study: str
    evidence: EvidenceOut | None = Field(default=None, description="The paper with the sentence that says so.")


class AnswerVerdictOut(BaseModel):
    """What the papers show overall, as stated in the first sentence; only for a yes-or-no question or a choice."""

    claim: str = Field(description="The question reworded as a claim; for a choice, that of the side that the papers are on.")
    outcome: VerdictOutcome
    certainty: Figure = Field(
        description="The probability that the outcome is right, calibrated on questions with known answers."
    )
    word: str = Field(description="The certainty in one word: sure, probable or possible.")
    supporting: list[VerdictPaperOut] = Field(description="Papers that found the claim true, the most heavily weighted first.")
    contradicting: list[VerdictPaperOut] = Field(description="Papers that found the claim to be false.")
    silent: int = Field(description="Papers on the question that do not clearly report either.")
    choice: list[str] = Field(default=[], description="The two sides that the question offers; empty for a yes-or-no question.")
    chosen: str = Field(default="", description="The side that the papers are on, or “no difference”; empty if they are on none.")

    @classmethod
    def of(cls, verdict: AnswerVerdict) -> AnswerVerdictOut:
        """From the value."""
        return cls(
            claim=verdict.claim,
            outcome=verdict.outcome,
            certainty=verdict.certainty,
            word=describe_certainty(verdict.certainty),
            supporting=[_show_paper(one) for one in verdict.supporting],
            contradicting=[_show_paper(one) for one in verdict.contradicting],
            silent=verdict.silent,
            choice=list(verdict.choice),
            chosen=verdict.chosen,
        )


def _show_paper(evidence: Evidence) -> VerdictPaperOut:
    shown = EvidenceOut.of(evidence)
    return VerdictPaperOut(pmid=shown.pmid, probability=evidence.score, study=shown.design.text, evidence=shown)


class RowOut(BaseModel):
    """A paper that answers an open question: what it found to be an answer, and the sentence that says so (`evidence`)."""

    answer: str = Field(description="The answer; rows on the same thing follow one another and share this name.")
    named: str = Field(description="The answer in the paper's own words.")
    claim: str = Field(description="The question with this answer, as it was read against the paper.")
    statement: str = Field(description="The same as a plain statement, which can be checked; empty if none can be made.")
    evidence: EvidenceOut
    condition: str = Field(
        default="",
        description="The paper's words that limit its finding; only where a language model read it.",
        exclude_if=lambda words: not words,
    )

    @classmethod
    def of(cls, row: Row) -> RowOut:
        """From the value."""
        named = {name: getattr(row, name) for name in ("answer", "named", "claim", "statement", "condition")}
        return cls(**named, evidence=EvidenceOut.of(row.evidence))


class PaperFindingOut(NumberedPaperOut):
    """A paper on the subject of an open question, and the sentence that states what it found."""

    sentence: SentenceOut | None

    @classmethod
    def of(cls, found: PaperFinding, number: int) -> PaperFindingOut:
        """From the value."""
        sentence = SentenceOut.of(found.sentence) if found.sentence else None
        return cls(**_describe_paper(found.document, number), sentence=sentence)


class TopicOut(OfValue):
    """The topic as the service read it."""

    id: str
    question: str
    topic: str
    narrative: str


class AnswerResponse(BaseModel):
    """A short answer with checked citations; unless it is “answered” or “nearest”, there are no sentences and `note` says why."""

    topic: TopicOut
    outcome: Outcome = Field(
        description="“answered”; “nearest” if the sentences hold but, by the language model that checked them, do not answer the "
        "question; “listed” if no answer to an open question is claimed but papers on its subject are in `others`; or "
        "“too little”."
    )
    verdict: AnswerVerdictOut | None = Field(description="What the first sentence says; null for an open question.")
    weighed: WeighedOut | None = Field(
        default=None, description="The verdict on the claim of a yes-or-no question, as for a claim; null for other questions."
    )
    text: str = Field(
        description="The whole answer, with citations such as [1] or [1, 2]: the numbers in `documents`, in order of appearance."
    )
    sentences: list[AnswerSentenceOut]
    conflicts: list[ConflictOut]
    heading: str = Field(default="", description="What stands over `rows`, such as “What 3 papers here found”.")
    rows: list[RowOut] = Field(
        default=[], description="What papers answer to an open question, for or against; those on the same thing together."
    )
    others: list[PaperFindingOut] = Field(
        default=[], description="Further papers on the subject of an open question, best first, each with its finding."
    )
    follow_ups: FollowUpsField
    removed: list[RemovedOut]
    drafted: DraftedOut | None = Field(default=None, description="How much was written before the check; null if nothing was.")
    documents: list[CitedDocumentOut]
    words: int
    generated_by: str
    extractive: bool = Field(description="Whether the answer consists of quotations; if so, no language model wrote it.")
    note: str
    usage: UsageOut
    provenance: Provenance

    @classmethod
    def of(cls, answer: Answer, answerer: Answerer) -> AnswerResponse:
        """From the value, with the documents as the index holds them and the provenance."""
        numbers = numbers_of(answer)
        cited = {citation.document.pmid for sentence in answer.sentences for citation in sentence.citations}
        scores = {hit.pmid: hit.score for hit in answer.context}
        documents = [
            CitedDocumentOut(
                **_describe_paper(entry.document, number), score=scores.get(entry.pmid, 0.0), cited=entry.pmid in cited
            )
            for number, entry in enumerate(answerer.index.entries(list(numbers)), 1)
        ]
        return cls(
            topic=TopicOut.model_validate(answer.topic),
            outcome=answer.outcome,
            verdict=AnswerVerdictOut.of(answer.verdict) if answer.verdict else None,
            weighed=WeighedOut.model_validate(weigh(answer.grounding)) if answer.grounding else None,
            text=running_text(answer),
            sentences=[sentence_out(sentence, numbers) for sentence in answer.sentences],
            conflicts=[ConflictOut(sentence=one.sentence, evidence=EvidenceOut.of(one.evidence)) for one in answer.conflicts],
            heading=answer.heading,
            rows=[RowOut.of(row) for row in answer.rows],
            others=[PaperFindingOut.of(one, numbers[one.document.pmid]) for one in answer.others],
            follow_ups=[FollowUpOut.model_validate(one) for one in answer.follow_ups],
            removed=[RemovedOut.model_validate(one) for one in answer.removed],
            drafted=DraftedOut.model_validate(answer.drafted) if answer.drafted else None,
            documents=documents,
            words=answer.words,
            generated_by=answer.generated_by,
            extractive=answerer.extractive(answer.generated_by),
            note=answer.note,
            usage=UsageOut.model_validate(answer.usage),
            provenance=Provenance.of(answerer),
        )


class StageEvent(OfValue):
    """A step of the work begins (event "stage")."""

    name: str
    detail: str


class SentenceEvent(BaseModel):
    """A sentence passed the check (event "sentence"); `place` counts from 0. Documents are still identified by PMID."""

    place: int
    text: str
    pmids: list[str]


def numbers_of(answer: Answer) -> dict[str, int]:
    """Each document's number in the answer, by PMID, from 1.

    The cited documents come first, in the order in which the text cites them, then the others as they were ranked, and those that
    are listed alone.
    """
    cited = [citation.document.pmid for sentence in answer.sentences for citation in sentence.citations]
    listed = dict.fromkeys([*cited, *(hit.pmid for hit in answer.context), *(one.document.pmid for one in answer.others)])
    return {pmid: number for number, pmid in enumerate(listed, 1)}


def running_text(answer: Answer) -> str:
    """The answer as text; each sentence has its citations, in ascending order, before its final punctuation mark."""
    numbers = numbers_of(answer)
    return " ".join(
        _mark_citations(sentence.text, sorted(numbers[c.document.pmid] for c in sentence.citations))
        for sentence in answer.sentences
    )


def _mark_citations(text: str, cited: Sequence[int]) -> str:
    stop = text[-1] if text[-1:] in ".!?" else ""
    return f"{text.removesuffix(stop)} [{', '.join(map(str, cited))}]{stop}"


def sentence_out(sentence: CitedSentence, numbers: dict[str, int]) -> AnswerSentenceOut:
    """One sentence with its citations."""
    return AnswerSentenceOut(text=sentence.text, citations=[_citation(one, numbers) for one in sentence.citations])


def _citation(citation: Citation, numbers: dict[str, int]) -> CitationOut:
    return CitationOut(
        number=numbers[citation.document.pmid],
        pmid=citation.document.pmid,
        sentence=SentenceOut.of(citation.sentence),
        verdict=VerdictOut.model_validate(citation.verdict),
        verbatim=citation.verbatim,
        checked=describe_check(citation),
    )


def event_out(event: Stage | KeptSentence | RemovedSentence) -> tuple[str, BaseModel]:
    """An event's name on the stream, and its data."""
    if isinstance(event, Stage):
        return "stage", StageEvent.model_validate(event)
    if isinstance(event, KeptSentence):
        pmids = [citation.document.pmid for citation in event.sentence.citations]
        return "sentence", SentenceEvent(place=event.place, text=event.sentence.text, pmids=pmids)
    return "removed", RemovedOut.model_validate(event)
