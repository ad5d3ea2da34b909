"""A checked text over the wire; the JSON of `counterpoint check` is the same, and so is what a journal keeps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from service.checking.checkable import Reason
from service.checking.readers.passage import BlockKind
from service.checking.readers.reading import TextFormat
from service.checking.verdicts import VERDICTS, TextVerdict
from service.grounding.schemas import CheckedOut, EvidenceOut
from service.schemas.papers import SentenceOut
from service.schemas.provenance import Provenance

MOST_CHARACTERS = 200_000
MOST_TEXT_CLAIMS = 100
"""What one request may ask; the command line checks more."""
MOST_NAME = 255
"""Characters of a file's name, as file systems have it."""

CitedStatus = Literal["bears it out", "contradicts it", "does not say it", "not judged", "not in the index"]


class TextRequest(BaseModel):
    """A text to check, written out or as a file."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "text": "Does beta-carotene prevent cancer? Beta-carotene reduces the risk of lung cancer "
                    "(PMID demo-betacarotene-atbc-1994). Intensive insulin therapy lowers mortality in critically ill patients."
                }
            ]
        },
    )

    text: str = Field(
        default="", description=f"Running text or Markdown, at most {MOST_CHARACTERS:,} characters and {MOST_TEXT_CLAIMS} claims."
    )
    format: TextFormat = Field(default="auto", description="auto takes a text for Markdown where it has Markdown's marks.")
    file: str = Field(
        default="",
        description="In place of `text`, in base64: a DOCX, a PDF with a text layer, a CSV file with a column `claim`, text "
        "or Markdown.",
    )
    name: str = Field(
        default="", max_length=MOST_NAME, description="The file's name, whose ending may tell its format; errors call it so."
    )


class CitedOut(BaseModel):
    """A paper that a sentence cites, held against what it is cited for."""

    kind: Literal["pmid", "doi"]
    id: str = Field(description="The PMID, or the DOI in lower case.")
    status: CitedStatus = Field(
        description="What the paper says of the claim; `not judged` for a protocol, without an abstract, or without a judge."
    )
    title: str = ""
    year: int | None = None
    journal: str = ""
    retracted: bool = False
    sentence: SentenceOut | None = Field(default=None, description="The sentence of its abstract that speaks most for it.")
    likely: float | None = Field(
        default=None, description="The judge's probability of the side that it takes, or comes nearest to."
    )


class ClaimResult(BaseModel):
    """What was found for one claim."""

    verdict: TextVerdict = Field(
        description="`mixed` where papers stand on both sides; `uncertain` where some only come close, or are retracted."
    )
    why: str = Field(description="How many papers say what.")
    against: list[EvidenceOut] = Field(description="The papers that contradict the claim, best first.")
    in_favour: list[EvidenceOut] = Field(description="The papers that support it, best first.")
    uncertain: list[EvidenceOut] = Field(description="Papers that come close to a side, are retracted, or that no judge read.")
    checked: CheckedOut
    cited: list[CitedOut] = Field(description="The papers that the sentence cites.")


class TextSentenceOut(BaseModel):
    """A sentence of the text: `text[start:end]` of the whole."""

    index: int
    block: int = Field(description="The block that it stands in.")
    start: int
    end: int
    verdict: TextVerdict
    reason: Reason | None = Field(description="Why it makes no claim.")
    claim: str = Field(
        description='The claim as it was grounded: without citations and words such as "However"; "" where it makes none.'
    )
    unresolved: list[int] = Field(description="Numbers by which it cites entries of a list that name no PMID or DOI.")
    row: int = Field(description="Its row in a list of claims, from 1; 0 in a text.")
    result: ClaimResult | None = Field(description="null where it makes no claim.")


class BlockOut(BaseModel):
    """A paragraph, heading, list entry, table cell, or claim of a list; offsets into the text."""

    start: int
    end: int
    kind: BlockKind


class CheckedText(BaseModel):
    """A text with the verdict on each of its sentences."""

    text: str = Field(description="The text as it was read: of Markdown, what a reader sees.")
    blocks: list[BlockOut]
    sentences: list[TextSentenceOut]
    counts: dict[TextVerdict, int] = Field(description="How many sentences have each verdict.")
    summary: str
    provenance: Provenance


class TextPlan(BaseModel):
    """The text was read (event "plan")."""

    sentences: int
    claims: int
    detail: str = Field(description="The same in words.")


class ClaimDone(BaseModel):
    """A claim was checked (event "claim")."""

    done: int = Field(description="How many claims are checked by now.")
    claims: int
    index: int = Field(description="The sentence's.")
    claim: str
    verdict: TextVerdict
    detail: str = Field(description="The same in words.")


def counted(verdicts: Sequence[TextVerdict]) -> dict[TextVerdict, int]:
    """How often each verdict was given, none left out."""
    return {one: verdicts.count(one) for one in VERDICTS}
