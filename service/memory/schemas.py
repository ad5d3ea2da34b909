"""What is remembered, as it is stored in the file and sent over the wire."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, Field

from counterpoint.service.answering.schemas import AnswerResponse
from counterpoint.service.checking.schemas import CheckedText
from counterpoint.service.grounding.claims import MAX_CHARACTERS
from counterpoint.service.grounding.schemas import EvidenceOut, GroundResponse
from counterpoint.service.queries.schemas import GroundedInput
from counterpoint.service.schemas import MOST_NAME, Provenance, Rounded, Sent

MOST_NOTE = 1000
Kind = Literal["first contradiction", "new contradiction", "support retracted", "paper removed"]
Shown = Literal["support", "contradict", "uncertain"]
Right = Literal["support", "contradict", "neutral"]


class KeptPaper(BaseModel):
    """A paper that a result listed on one of its sides."""

    pmid: str
    title: str
    year: int | None
    journal: str
    retracted: bool
    stance: Literal["support", "contradict"]
    score: Rounded
    sentence: str = Field(description="Its evidence sentence; empty if it had none.")

    @classmethod
    def of(cls, evidence: EvidenceOut) -> KeptPaper:
        """From a piece of evidence in a response."""
        same = evidence.model_dump(include={"pmid", "title", "year", "journal", "retracted", "score"})
        sentence = evidence.sentence.text if evidence.sentence else ""
        return cls(**same, stance="contradict" if evidence.stance == "contradict" else "support", sentence=sentence)


def papers_of(response: GroundResponse) -> list[KeptPaper]:
    """The papers on both sides, contradictions first."""
    return [KeptPaper.of(one) for one in (*response.contradicting, *response.supporting)]


class Entry(BaseModel):
    """A claim or question, what was found for it, and with which index, configuration and models."""

    mode: Literal["claim", "question"]
    text: str = Field(description="The claim, or the question.")
    question: str = Field(default="", description="The question that a claim answers.")
    known_pmids: list[str] = []
    narrative: str = ""
    summary: str
    papers: list[KeptPaper] = Field(default=[], description="The papers listed for a claim, contradictions first.")
    provenance: Provenance


class HistoryOut(Entry):
    """An entry of the history."""

    id: str
    library: str = Field(description="The id of the library that it belongs to.")
    at: str = Field(description="When it was asked: UTC, ISO 8601.")
    link: str = Field(
        description="Add this to the end of the page's address: the page asks the same again and says what has changed."
    )
    changed: list[str] = Field(
        description="What has changed since then, one sentence each: the index, the configuration, the models."
    )


class HistoryPage(BaseModel):
    """Entries, newest first."""

    entries: list[HistoryOut]
    next_before: str | None = Field(description="Pass it as `before` to get older entries; null if there are none.")


class Saved(Entry):
    """A saved claim as it is stored: `papers` are those now listed on its sides, `provenance` is that of the last grounding."""

    note: str = ""


class SavedOut(Saved):
    """A saved claim. It is grounded again when its index changes, against new and changed documents only."""

    id: str
    library: str = Field(description="The id of the library that it belongs to.")
    at: str = Field(description="When it was saved: UTC, ISO 8601.")
    index_version: int = Field(description="The version of the index up to which it was grounded.")
    link: str
    changed: list[str]


class SavedList(BaseModel):
    """All saved claims, newest first."""

    saved: list[SavedOut]


class AlertData(BaseModel):
    """What changed for a saved claim."""

    claim: str
    detail: str = Field(description="What changed, in one sentence.")
    paper: KeptPaper
    link: str
    index: str
    index_version: int
    models: dict[str, str]


class AlertOut(AlertData):
    """An alert, raised once for each claim, kind and paper."""

    id: str
    library: str = Field(description="The id of the library that it belongs to.")
    at: str = Field(description="When it was raised: UTC, ISO 8601.")
    kind: Kind
    saved: str = Field(description="The saved claim's id.")


class AlertList(BaseModel):
    """Alerts, newest first."""

    alerts: list[AlertOut]


class FeedbackRequest(Sent):
    """What a reader says about one result: the side that the paper is really on."""

    claim: str = Field(max_length=MAX_CHARACTERS)
    question: str = Field(default="", max_length=MAX_CHARACTERS)
    pmid: str = Field(max_length=200)
    sentence: str = Field(default="", max_length=20_000, description="The evidence sentence that was shown, word for word.")
    shown: Shown = Field(description="The side that the paper was shown on.")
    right: Right = Field(description="What the paper really says about the claim; `neutral` if it does neither.")
    comment: str = Field(default="", max_length=MOST_NOTE)
    provenance: Provenance | None = Field(
        default=None, description="The provenance of the result that was shown; by default, that of the service now."
    )


class Opinion(BaseModel):
    """Feedback as it is stored, with the index and the models behind what was shown."""

    claim: str
    question: str = ""
    pmid: str
    sentence: str
    shown: Shown
    right: Right
    comment: str = ""
    provenance: Provenance


class FeedbackOut(Opinion):
    """Feedback that was given."""

    id: str
    library: str = Field(description="The id of the library that it belongs to.")
    at: str


class FeedbackList(BaseModel):
    """All feedback that was given with this key, newest first."""

    feedback: list[FeedbackOut]


RESULTS: dict[str, type[GroundedInput | AnswerResponse | CheckedText]] = {
    "claim": GroundedInput, "question": AnswerResponse, "text": CheckedText,
}  # fmt: skip
"""The results that can be shared, by their `mode`."""


class ShareRequest(Sent):
    """A result to share."""

    result: dict[str, Any] = Field(description="The JSON of /v1/ground, /v1/answer or /v1/text, unchanged.")
    name: str = Field(default="", max_length=MOST_NAME, description="What a checked text is called, such as its file's name.")


class Shared(BaseModel):
    """What is told of a shared result."""

    mode: Literal["claim", "question", "text"]
    title: str = Field(description="The claim, the question, or the name of the text.")
    summary: str
    library_name: str = Field(description="What the library was called then.")
    again: str = Field(description="As `link`, to ask the same again now; empty for a text.")
    provenance: Provenance


class SharedOut(Shared):
    """A shared result: whoever may see its library and knows its id may read it."""

    id: str
    by: str = Field(description="Who shared it: the name of their API key, or empty.")
    library: str = Field(description="The id of the library that it belongs to.")
    at: str = Field(description="When it was shared: UTC, ISO 8601.")
    link: str = Field(description="Add this to the end of the page's address to open it there.")
    changed: list[str] = Field(description="What has changed since then, one sentence each.")

    @property
    def about(self) -> str:
        """From when and where it is, in words."""
        at = datetime.fromisoformat(self.at)
        return f"Shared on {at.day} {at:%B %Y, %H:%M} UTC and kept as it was. Library: {self.library_name}."


class SharedList(BaseModel):
    """What you share (with the scope admin: what anybody shares), newest first."""

    shared: list[SharedOut]


class SharedResult(SharedOut):
    """A shared result, as it was."""

    result: GroundedInput | AnswerResponse | CheckedText


class MemoryOut(BaseModel):
    """What this service remembers for the caller."""

    on: bool = Field(default=False, description="Whether anything is kept.")
    history: bool = Field(default=False, description="Whether claims and questions are kept in the history.")
    watching: bool = Field(default=False, description="Whether saved claims are grounded again when the index changes.")
    holder: str = Field(description="Whose memory it is: the name of the API key, or empty if no keys are set.")
    entries: int = Field(default=0, description="How many entries the history has.")
    saved: int = 0
    alerts: int = 0
    feedback: int = 0
    shared: int = 0
    feed: str = Field(
        default="", description="The address of your own Atom feed, relative to the service; whoever has it can read your alerts."
    )
