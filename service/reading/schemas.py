"""Evidence inside a paper on the wire: the request and the response; the JSON of the command line is the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from indexes.readers.prose.article import read_article, read_sentences
from nli.evidence import EvidenceSentence
from nli.long_text import list_blocks
from retrieval.core.characters import replace_surrogates
from retrieval.core.english import format_count
from retrieval.core.errors import BadInput
from retrieval.core.values import Block, FullText, Label, Location
from retrieval.index import Index
from service.checking.reading import read_text
from service.reading.evidence import PaperEvidence
from service.reading.papers import parse_jats, take_paper
from service.schemas import LocationOut, OfValue, Sent, faults


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


def name_paper(
    sentences: Sequence[str] | None, text: str | None, jats: str | None, pmid: str | int | None
) -> dict[str, str | list[str] | None]:
    """The fields of a request that say which paper is meant, as far as they are given."""
    return {
        "pmid": None if pmid is None else str(pmid),
        "sentences": None if sentences is None else [*sentences],
        "text": text,
        "jats": jats,
    }


class EvidenceRequest(Sent):
    """A hypothesis and one paper: its id in the index, its sentences, its text, or its JATS XML."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "hypothesis": "Beta-carotene reduces the risk of lung cancer.",
                    "sentences": [
                        "We gave 29,133 male smokers beta-carotene or placebo.",
                        "Lung cancer was 18 % more frequent with beta-carotene.",
                        "Smoking is harmful.",
                    ],
                    "k": 2,
                }
            ]
        }
    )

    hypothesis: str = Field(description="One sentence that the paper may support or contradict.")
    pmid: str | None = Field(
        None, description="The PMID, DOI or id of a paper of the index, which is read with its full text if the index has it."
    )
    sentences: list[str] | None = Field(
        None, fail_fast=True, description="The paper's sentences in order, including any headings."
    )
    text: str | None = Field(None, description="The paper as plain text, each heading on its own line, or as Markdown.")
    jats: str | None = Field(None, description="The paper as JATS XML, as PubMed Central provides it.")
    k: int = Field(5, strict=True, description="How many sentences to choose.")
    results_only: bool = Field(False, description="Choose only sentences about what the study found, not about how it was done.")

    @model_validator(mode="after")
    def _one_paper(self) -> Self:
        count = sum(one is not None for one in (self.pmid, self.sentences, self.text, self.jats))
        if count != 1:
            fault = "is missing" if not count else f"is given {count} times"
            raise ValueError(f"The paper {fault}; give the paper once: as pmid, sentences, text or jats")
        return self

    @classmethod
    def check(cls, **fields: Any) -> Self:
        """The request with these fields; raises `BadInput` for the first fault."""
        try:
            return cls.model_validate(fields)
        except ValidationError as error:
            raise BadInput(faults.sentence(error.errors(), cls)) from None

    def paper(self, index: Index) -> FullText:
        """The paper that was sent or named; raises `BadInput` if it cannot be read."""
        if self.pmid is not None:
            return take_paper(index.store, self.pmid, index.manifest.counts.documents)
        if self.sentences is not None:
            return read_sentences([replace_surrogates(one) for one in self.sentences])
        if self.text is not None:
            return read_article(read_text(self.text, name="The paper"))
        return parse_jats(replace_surrogates(self.jats or "").encode())


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
    says: str = Field(description="What the chosen sentences say about the hypothesis, in one sentence.")
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
            hypothesis=result.hypothesis, says=conclude(result.evidence),
            source=SourceOut(
                pmid=paper.record.pmid, title=paper.record.title, file=paper.source, retracted=paper.record.retracted
            ),
            results_only=result.results_only, models=result.models, read=result.read,
            evidence=[QuotationOut.of(one, blocks) for one in result.evidence],
        )  # fmt: skip
