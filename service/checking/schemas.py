"""A checked text on the wire; the JSON of `counterpoint check` and the records of a journal are the same."""

from __future__ import annotations

from typing import Literal, get_args

from pydantic import BaseModel, Field

from counterpoint.indexes.readers.prose.passage import BlockKind
from counterpoint.service.checking.checkable import Reason
from counterpoint.service.grounding.schemas import CheckedOut, EvidenceOut
from counterpoint.service.schemas import Provenance, SentenceOut, UsageField

TextVerdict = Literal["contradicted", "mixed", "supported", "uncertain", "nothing found", "not a claim"]
VERDICTS: tuple[TextVerdict, ...] = get_args(TextVerdict)
CitedStatus = Literal["bears it out", "contradicts it", "does not say it", "not judged", "not in the index", "several fit"]
CITED: dict[CitedStatus, tuple[str, str]] = {
    "bears it out": ("says so", "say so"), "contradicts it": ("says the opposite", "say the opposite"),
    "does not say it": ("does not say it", "do not say it"), "not judged": ("not judged", "not judged"),
    "not in the index": ("not in the index", "not in the index"), "several fit": ("fits several papers", "fit several papers"),
}  # fmt: skip
"""Each status in words, of one citation and of several."""


class CitedOut(BaseModel):
    """A paper that a sentence cites, checked against the claim that it is cited for."""

    kind: Literal["pmid", "pmcid", "doi", "title", "author"] = Field(description="What names the paper in the text.")
    id: str = Field(
        description="The PMID or PMCID; the DOI in lower case; the entry in the list of references; or author and year, as typed."
    )
    pmid: str = Field(default="", description="The id of the paper in the index; empty if the index does not hold it.")
    status: CitedStatus = Field(
        description="What the paper says about the claim; `not judged` if it is a protocol, if it has neither abstract nor full "
        "text, or if there is no judge; `several fit` if author and year fit several papers of the index."
    )
    title: str = ""
    year: int | None = None
    journal: str = ""
    retracted: bool = False
    sentence: SentenceOut | None = Field(
        default=None,
        description="The sentence of its abstract or full text with the strongest evidence for the side in `likely`.",
    )
    likely: float | None = Field(
        default=None, description="The judge's probability for the side that the paper takes, or comes closest to."
    )


class ClaimResult(BaseModel):
    """What was found for one claim."""

    verdict: TextVerdict = Field(
        description="`mixed` if papers take both sides; `uncertain` if none takes a side but some may or are retracted."
    )
    why: str = Field(description="How many papers take each side, in words.")
    against: list[EvidenceOut] = Field(description="The papers that contradict the claim, best first.")
    in_favour: list[EvidenceOut] = Field(description="The papers that support it, best first.")
    uncertain: list[EvidenceOut] = Field(description="Papers that may take a side, are retracted, or were read by no judge.")
    checked: CheckedOut
    cited: list[CitedOut] = Field(description="The papers that the sentence cites.")
    usage: UsageField = None


class TextSentenceOut(BaseModel):
    """A sentence of the text, which is `text[start:end]` of the whole text."""

    index: int
    block: int = Field(description="The block that it is in.")
    start: int
    end: int
    verdict: TextVerdict
    reason: Reason | None = Field(description="Why it makes no claim, if it makes none.")
    claim: str = Field(
        description='The claim as it was grounded: without citations and words such as "However"; "" if it makes none.'
    )
    unresolved: list[int] = Field(description="Numbers that it cites and that no list of references in the text has.")
    row: int = Field(description="Its row in a list of claims, counted from 1; 0 if it is not from a list.")
    result: ClaimResult | None = Field(description="What was found for its claim; null if it makes none.")


class BlockOut(BaseModel):
    """A paragraph, heading, list item, table cell, or claim in a list; offsets are into the text."""

    start: int
    end: int
    kind: BlockKind


class CheckedText(BaseModel):
    """A text with the verdict on each of its sentences."""

    text: str = Field(description="The text as it was read; for Markdown, as a reader sees it.")
    blocks: list[BlockOut]
    sentences: list[TextSentenceOut]
    counts: dict[TextVerdict, int] = Field(description="How many sentences have each verdict.")
    summary: str
    usage: UsageField = None
    provenance: Provenance


class TextPlan(BaseModel):
    """The text was read (event "plan")."""

    sentences: int
    claims: int
    detail: str = Field(description="The same in words.")


class ClaimDone(BaseModel):
    """A claim was checked (event "claim")."""

    done: int = Field(description="How many claims have been checked so far.")
    claims: int
    index: int = Field(description="The index of the sentence that makes the claim.")
    claim: str
    verdict: TextVerdict
    detail: str = Field(description="The same in words.")
