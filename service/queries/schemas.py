"""Input as JSON: what it is taken for, what can be done with it, suggestions for words that no document contains."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, Field

from counterpoint.generation.question import TWO_AT_A_TIME, offers_many
from counterpoint.retrieval.core.english import format_count
from counterpoint.retrieval.core.values import Document
from counterpoint.service.grounding.schemas import GroundResponse
from counterpoint.service.queries.classify import Kind, Query
from counterpoint.service.queries.spelling import SuggestionOut
from counterpoint.service.schemas import SentenceOut, facts_of

Offer = Literal["ground", "answer", "search", "text"]
_OFFERS: dict[Kind, tuple[Offer, ...]] = {
    "claim": ("ground",),
    "question": ("answer", "ground"),
    "keywords": ("search",),
    "paper": ("ground",),
    "text": ("text",),
    "language": ("ground",),
}
_UNSURE_OFFERS: tuple[Offer, ...] = ("ground", "search")


class PaperOut(BaseModel):
    """The paper that was typed; `finding` is the sentence that says what it found, word for word."""

    pmid: str
    title: str
    year: int | None
    journal: str
    types: list[str]
    retracted: bool
    finding: SentenceOut | None


class InputOut(BaseModel):
    """What was typed, and what kind of input it is."""

    kind: Kind = Field(description="What kind of input the service takes it to be.")
    detail: str = Field(description="The same in words, and what can be done with it.")
    text: str = Field(description="What was typed, on one line.")
    claim: str = Field(description="The claim to ground for this input, however it was worded; empty if there is none.")
    offers: list[Offer] = Field(description="What can be done with it, most likely first.")
    language: str = Field("", description="The language, if it is not English.")
    paper: PaperOut | None = None
    suggestions: list[SuggestionOut] = Field(
        default_factory=list, description="Replacements for words that are not in the index."
    )
    missing: list[str] = Field(default_factory=list, description="The words, other than verbs, that no document contains.")

    @classmethod
    def of(
        cls,
        query: Query,
        claim: str,
        document: Document | None = None,
        finding: SentenceOut | None = None,
        suggestions: Sequence[SuggestionOut] = (),
        missing: tuple[str, ...] = (),
    ) -> InputOut:
        """From the values."""
        return cls(
            kind=query.kind,
            detail=describe(query, claim, document),
            text=query.text,
            claim=claim,
            offers=[one for one in (_UNSURE_OFFERS if query.unsure else _OFFERS[query.kind]) if one != "ground" or claim],
            language=query.language,
            paper=PaperOut(**facts_of(document), finding=finding) if document else None,
            suggestions=list(suggestions),
            missing=list(missing),
        )


class GroundedInput(GroundResponse):
    """Both sides of a claim, and the input that it came from."""

    input: InputOut


def describe(query: Query, claim: str, document: Document | None) -> str:
    """What the input is taken for, in one or two sentences."""
    match query.kind:
        case "claim":
            return "Read as a claim; if you meant keywords, use search." if query.unsure else "This is a claim."
        case "question" if query.choice and claim:
            first, second = query.choice.names
            return (
                f"This is a choice between “{first}” and “{second}”. It can be answered, or its first side checked as the claim "
                f"“{claim.rstrip('.')}”: what contradicts that is for the other side, or finds no difference."
            )
        case "question" if offers_many(query.text):
            return f"{TWO_AT_A_TIME}."
        case "question":
            alternative = f", or check the claim “{claim.rstrip('.')}”" if claim and claim != query.text else ""
            return f"This is a question. It can be answered{alternative}."
        case "keywords":
            return "These are keywords, which have no verdict. A claim is one sentence with a verb that can be true or false."
        case "text":
            length = format_count(query.sentences, "sentence")
            return f"This is a text of {length}. Check a text gives a verdict on each of its claims."
        case "language":
            return f"This seems to be {query.language}. The papers and the models are English: write the claim in English."
        case "paper":
            return _describe_paper(document, claim)


def _describe_paper(document: Document | None, claim: str) -> str:
    if document is None:
        return "This is a paper."
    name = f"This is the paper {document.pmid}, “{document.title.rstrip('.')}”."
    return f"{name} {'What it finds is checked as a claim.' if claim else 'It has no abstract, so there is nothing to check.'}"
