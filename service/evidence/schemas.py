"""Evidence inside a paper on the wire: the request and the response; the JSON of the command line is the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import BaseModel, Field

from counterpoint.nli.evidence import EvidenceSentence
from counterpoint.nli.long_text import list_blocks
from counterpoint.retrieval.core.english import format_count
from counterpoint.retrieval.core.values import Block, Label, Location
from counterpoint.service.evidence.finder import PaperEvidence
from counterpoint.service.schemas import LocationOut, OfValue


def conclude(evidence: Sequence[EvidenceSentence]) -> str:
    """Which way the chosen sentences point, and how many of them; nothing is claimed about the rest of the paper."""
    labels = [one.verdict.label for one in evidence]
    against, for_it = labels.count("contradict"), labels.count("support")
    if not against and not for_it:
        return "None of the sentences chosen clearly contradicts or supports the hypothesis."
    counts = (
        f"{against} of the {format_count(len(evidence), 'sentence')} chosen {_verb('contradict', against)} it and "
        f"{for_it} {_verb('support', for_it)} it."
    )
    if against and for_it:
        direction = (
            "points both ways"
            if against == for_it
            else f"mostly {'contradicts' if against > for_it else 'supports'} the hypothesis"
        )
        return f"What this paper says {direction}: {counts}"
    return f"This paper {'contradicts' if against else 'supports'} the hypothesis: {counts}"


def _verb(verb: str, sentences: int) -> str:
    return f"{verb}s" if sentences == 1 else verb


class StanceOut(OfValue):
    """The small reader's verdict on a sentence: its label and the three probabilities, which sum to 1."""

    label: Label
    support: float
    neutral: float
    contradict: float


class QuotationOut(BaseModel):
    """A sentence of the paper, word for word, and why it was chosen: `quotation == block[start:end]`."""

    rank: int
    quotation: str
    location: LocationOut
    start: int
    end: int
    block: str = Field(description="The paragraph, caption or row of a table in which it stands.")
    context: str = Field("", description="What a row needs to be understood: caption, heads.", exclude_if=lambda text: not text)
    score: float
    relevance: float
    stance: StanceOut
    repeats: float
    why: str
    parts: dict[str, float]

    @classmethod
    def of(cls, one: EvidenceSentence, blocks: Mapping[Location | None, Block]) -> QuotationOut:
        """From the value, and the paper's blocks by their locations."""
        block = blocks[one.sentence.location]
        return cls(
            rank=one.rank, quotation=one.sentence.text, location=LocationOut.of(block.location), start=one.sentence.start,
            end=one.sentence.end, block=block.text, context=block.context, score=one.score, relevance=one.relevance,
            stance=StanceOut.model_validate(one.verdict), repeats=one.repeats, why=one.why, parts=one.parts,
        )  # fmt: skip


class SourceOut(BaseModel):
    """The paper that was read."""

    pmid: str = Field(description="Its id in the index, or the PMID that its file names; empty if there is none.")
    title: str
    file: str = Field(description="The name of its file; empty if it has none.")
    retracted: bool


class EvidenceResponse(BaseModel):
    """The sentences that together carry the most evidence, in the order of selection; `read` counts all candidate sentences."""

    hypothesis: str
    text: str = Field(description="What the chosen sentences say about the hypothesis, in one sentence.")
    source: SourceOut
    results_only: bool
    models: str
    read: int
    evidence: list[QuotationOut]

    @classmethod
    def of(cls, result: PaperEvidence) -> EvidenceResponse:
        """From the value."""
        paper = result.paper
        blocks: dict[Location | None, Block] = {block.location: block for block in list_blocks(paper)}
        return cls(
            hypothesis=result.hypothesis, text=conclude(result.evidence),
            source=SourceOut(
                pmid=paper.record.pmid, title=paper.record.title, file=paper.source, retracted=paper.record.retracted
            ),
            results_only=result.results_only, models=result.models, read=result.read,
            evidence=[QuotationOut.of(one, blocks) for one in result.evidence],
        )  # fmt: skip
