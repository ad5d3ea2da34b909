"""Evidence inside a paper on the wire: the request and the response; the JSON of the command line is the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from indexes.readers.paper import make_paper, parse_paper
from nli.evidence import EvidenceSentence
from retrieval.core.characters import replace_surrogates
from retrieval.core.counts import format_count
from retrieval.core.errors import BadInput
from retrieval.core.values import Label, Paper, SectionKind
from service.reading.evidence import How, PaperEvidence
from service.schemas import OfValue, Sent, UsageField, UsageOut, faults


def conclude(evidence: Sequence[EvidenceSentence]) -> str:
    """Which way the chosen sentences point, and how many of them; nothing is claimed about the rest of the paper."""
    labels = [one.verdict.label for one in evidence if one.verdict]
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


class EvidenceRequest(Sent):
    """A hypothesis and one paper: its sentences, its plain text, or its JATS XML."""

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
        },
    )

    hypothesis: str = Field(description="One sentence that the paper may support or contradict.")
    sentences: list[str] | None = Field(
        None, fail_fast=True, description="The paper's sentences in order, including any headings."
    )
    text: str | None = Field(None, description="The paper as plain text, each heading on its own line.")
    jats: str | None = Field(None, description="The paper as JATS XML, as PubMed Central provides it.")
    k: int = Field(5, strict=True, description="How many sentences to choose.")
    results_only: bool = Field(False, description="Choose only sentences about what the study found, not about how it was done.")
    how: How = Field("embedded", description="The embedded models, or a strategy that uses the profile's language model.")

    @model_validator(mode="after")
    def _one_paper(self) -> Self:
        count = sum(one is not None for one in (self.sentences, self.text, self.jats))
        if count != 1:
            fault = "is missing" if not count else f"is given {count} times"
            raise ValueError(f"The paper {fault}; give the paper once: as sentences, as text or as jats")
        return self

    @classmethod
    def check(cls, **fields: Any) -> Self:
        """The request with these fields; raises `BadInput` for the first fault."""
        try:
            return cls.model_validate(fields)
        except ValidationError as error:
            raise BadInput(faults.sentence(error.errors(), cls)) from None

    def paper(self) -> Paper:
        """The paper that was sent; raises `BadInput` if it has no sentence or cannot be read."""
        if self.sentences is not None:
            return make_paper(self.sentences)
        if self.text is not None:
            return parse_paper(replace_surrogates(self.text).encode(), "text")
        return parse_paper(replace_surrogates(self.jats or "").encode(), "jats")


class StanceOut(OfValue):
    """The small reader's verdict on a sentence: its label and the three probabilities, which sum to 1."""

    label: Label
    support: float
    neutral: float
    contradict: float


class EvidenceSentenceOut(BaseModel):
    """A sentence of the paper, word for word. `start` and `end` are its offsets in the text that was sent (or in its
    sentences or paragraphs joined by line breaks); `index` counts every sentence and heading from 0.

    `stance` is null if the sentence was not judged: the model reads only the abstract and the most relevant other sentences.
    """

    rank: int
    index: int
    start: int
    end: int
    text: str
    section: str
    kind: SectionKind
    score: float
    relevance: float
    stance: StanceOut | None
    repeats: float
    why: str
    parts: dict[str, float]

    @classmethod
    def of(cls, one: EvidenceSentence) -> EvidenceSentenceOut:
        """From the value: its own attributes and those of its sentence."""
        return cls.model_validate({**asdict(one.sentence), **asdict(one), "stance": one.verdict})


class EvidenceResponse(BaseModel):
    """The sentences that together carry the most evidence, in the order of selection; `read` counts all candidate sentences."""

    hypothesis: str
    says: str = Field(description="What the chosen sentences say about the hypothesis, in one sentence.")
    title: str
    results_only: bool
    how: How
    models: str
    read: int
    judged: int
    evidence: list[EvidenceSentenceOut]
    usage: UsageField = None

    @classmethod
    def of(cls, result: PaperEvidence) -> EvidenceResponse:
        """From the value."""
        return cls(
            hypothesis=result.hypothesis, says=conclude(result.evidence), title=result.paper.title,
            results_only=result.results_only, how=result.how,
            models=result.models, read=result.read, judged=result.judged,
            evidence=[EvidenceSentenceOut.of(one) for one in result.evidence], usage=UsageOut.of(result.usage),
        )  # fmt: skip
