"""What goes over the wire: HTTP bodies and the JSON of the command line, built from the values and never the reverse."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field, field_validator

from counterpoint.nli.text.designs import Subjects, find_design, find_subjects
from counterpoint.retrieval.core.values import Aspect, Details, Evidence, Grounding, Label, NegationScope, QualifierKind, Standing
from counterpoint.service.grounding.coverage import summary
from counterpoint.service.grounding.weigh import Outcome, Side, find_side, weigh
from counterpoint.service.schemas import (
    Figure,
    FollowUpOut,
    FollowUpsField,
    OfValue,
    Provenance,
    RankedPaper,
    Rounded,
    SentenceOut,
    UsageField,
    UsageOut,
    facts_of,
)


class DesignOut(OfValue):
    """How a paper studied its question, judged by its publication types or, failing that, by its words."""

    name: str
    text: str = Field(description="The design in words, such as “a randomised trial”.")
    weight: float = Field(description="How much a paper of this design counts compared with others, from 0 to 1.")
    strong: bool = Field(description="Whether it is a systematic review or a randomised trial.")


class PapersOut(OfValue):
    """The number of papers on each side."""

    contradict: int
    uncertain: int
    support: int
    silent: int


class TallyOut(OfValue):
    """The weight on each side."""

    contradict: Figure
    uncertain: Figure
    support: Figure
    silent: Figure


class WeighedOut(OfValue):
    """The verdict at a glance: how many papers that were read contradict the claim, are uncertain, support it or say nothing."""

    outcome: Outcome = Field(description="The side with most of the evidence, or why neither side has it.")
    certainty: Figure = Field(
        description="The probability that the outcome is right, if it is a side; calibrated on questions with known answers."
    )
    word: str = Field(description="The certainty in one word: sure, probable or possible.")
    certain: str = Field(description="The certainty in a sentence; empty if the outcome is no side.")
    text: str = Field(description="The verdict in one sentence.")
    detail: str = Field(description="The figures in words.")
    papers: PapersOut
    weights: TallyOut = Field(
        description="The total weight of the papers on each side: the weight of their design, on a side times their probability."
    )
    strong: PapersOut = Field(description="The systematic reviews and randomised trials among them.")
    reports: int = Field(description="Further reports of trials that are counted already; they are not counted again.")
    retracted: int = Field(description="Retracted papers; they are not counted.")


class NegationOut(BaseModel):
    """A negation cue and what it negates; offsets are into the abstract."""

    cue: str
    start: int
    end: int
    scope_start: int
    scope_end: int

    @classmethod
    def of(cls, scope: NegationScope) -> NegationOut:
        """From the value."""
        return cls(
            cue=scope.cue.name,
            start=scope.cue.start,
            end=scope.cue.end,
            scope_start=scope.scope_start,
            scope_end=scope.scope_end,
        )


class QualifierOut(OfValue):
    """Words of the sentence that qualify it and that the claim lacks; offsets are into the abstract."""

    kind: QualifierKind
    start: int
    end: int


class DetailsOut(OfValue):
    """What a table shows beside a paper's finding, each word for word from the abstract; "" for what was not found there."""

    people: str = Field(description="Who was studied.")
    number: str = Field(description="How many.")
    effect: str = Field(description="The effect on the claim's outcome, with its interval if the abstract gives one.")


class VerdictOut(OfValue):
    """The judge's probabilities, which sum to 1, and its decision, by its own thresholds if it has any."""

    label: Label
    of: Literal["sentence", "document"] = Field(
        "sentence",
        description="What was judged: the sentence alone or the whole paper. For a paper, `score` is the "
        "probability of its stance.",
    )
    support: Rounded
    neutral: Rounded
    contradict: Rounded
    quote: str = Field("", description="The words of the sentence that decided the verdict; language models only.")
    reason: str = Field("", description="Why the judge, or a rule, decided so, if it says.")
    details: DetailsOut | None = Field(
        None, description="Where a language model reads, and only if it found some.", exclude_if=lambda details: details is None
    )

    @field_validator("details", mode="before")
    @classmethod
    def _leave_out_none(cls, details: object) -> object:
        return None if details == Details() else details


class EvidenceOut(RankedPaper):
    """One document for or against the claim, with its evidence sentence."""

    design: DesignOut
    subjects: Subjects = Field(description="Whom the paper studied, judging by its design and its words.")
    stance: str
    side: Side = Field(
        description="Where the paper belongs: on the side of its stance only if the judge's own label says so, otherwise "
        "`uncertain`; `silent` if it says nothing about the claim."
    )
    sentence: SentenceOut | None
    other: SentenceOut | None = Field(
        None,
        description="A sentence of the full text that is opposed to it: the abstract and the full text disagree.",
        exclude_if=lambda other: other is None,
    )
    read_from: Literal["abstract", "full text"] = Field("abstract", description="Where the sentence stands.")
    negations: list[NegationOut]
    qualifiers: list[QualifierOut] = Field(description="The qualifiers that the sentence has and the claim does not.")
    standing: Standing = Field(
        description="`retracted` if the paper is; `equal` if a language model says that it found an answer no better than "
        "another; `partial` if there are qualifiers or a language model says so; else `plain`."
    )
    score: Rounded = Field(
        description="The score that ranked the document in its list; scores from different scorers are not comparable. "
        "If the verdict is on the whole paper, it is the calibrated probability of this stance."
    )
    scored_by: str = Field(description="The model (with the hash of its weights) or method behind `score`.")
    verdict: VerdictOut = Field(
        description="The judge's verdict on the sentence or on the whole paper (`of`); neutral if no judge was asked."
    )
    why: str
    trial: str = Field(
        description="The trial that other papers on this side report too, by its name, its registration number or its first "
        "paper; empty if none does. A trial is counted once."
    )

    @classmethod
    def of(cls, evidence: Evidence, side: Side | None = None) -> EvidenceOut:
        """From the value; `side` is the one that its list implies."""
        return cls(
            rank=evidence.rank,
            **facts_of(evidence.document),
            design=DesignOut.model_validate(find_design(evidence.document)),
            subjects=find_subjects(evidence.document),
            stance=evidence.stance,
            side=side or find_side(evidence),
            sentence=SentenceOut.of(evidence.sentence) if evidence.sentence else None,
            other=SentenceOut.of(evidence.other) if evidence.other else None,
            read_from="full text" if evidence.sentence and evidence.sentence.location else "abstract",
            negations=[NegationOut.of(scope) for scope in evidence.negations],
            qualifiers=[QualifierOut.model_validate(one) for one in evidence.qualifiers],
            standing=evidence.standing,
            score=evidence.score,
            scored_by=evidence.scored_by,
            verdict=VerdictOut.model_validate(evidence.verdict),
            why=evidence.why,
            trial=evidence.trial,
        )


class ContrastOut(OfValue):
    """What differs between two papers that disagree, in the words of each."""

    aspect: Aspect
    first: str = Field(description="The words of the first contradicting paper.")
    second: str = Field(description="The words of the first supporting paper.")


class CheckedOut(OfValue):
    """How much was looked at for the claim."""

    documents: int = Field(description="Documents found.")
    read: int = Field(description="How many of them were read.")
    sentences: int = Field(description="The sentences that were read.")


class ClaimOut(OfValue):
    """The claim as the service read it."""

    text: str
    question: str
    known_pmids: list[str]


class GroundResponse(BaseModel):
    """Both sides of a claim, contradictions first."""

    claim: ClaimOut
    weighed: WeighedOut
    contradicting: list[EvidenceOut]
    supporting: list[EvidenceOut]
    uncertain: list[EvidenceOut] = Field(
        description="Documents that may take a side but are on neither, and retracted ones that would, most probable first."
    )
    more: list[EvidenceOut] = Field(description="Further documents that belong in these lists, after the first few of each.")
    silent: list[EvidenceOut] = Field(description="Documents that were read and say nothing about the claim.")
    contrasts: list[ContrastOut] = Field(
        default_factory=list, description="What differs between the first papers of either side; language models only."
    )
    follow_ups: FollowUpsField
    checked: CheckedOut
    summary: str
    usage: UsageField = None
    provenance: Provenance

    @classmethod
    def of(cls, grounding: Grounding, provenance: Provenance) -> GroundResponse:
        """From the value, with the provenance of its figures."""
        claim = grounding.claim
        return cls(
            claim=ClaimOut.model_validate(claim),
            weighed=WeighedOut.model_validate(weigh(grounding)),
            contradicting=[EvidenceOut.of(evidence) for evidence in grounding.contradicting],
            supporting=[EvidenceOut.of(evidence) for evidence in grounding.supporting],
            uncertain=[EvidenceOut.of(evidence) for evidence in grounding.uncertain],
            more=[EvidenceOut.of(evidence) for evidence in grounding.more],
            silent=[EvidenceOut.of(evidence, "silent") for evidence in grounding.silent],
            contrasts=[ContrastOut.model_validate(one) for one in grounding.contrasts],
            follow_ups=[FollowUpOut.model_validate(one) for one in grounding.follow_ups],
            checked=CheckedOut.model_validate(grounding.checked),
            summary=summary(grounding),
            usage=UsageOut.of(grounding.usage),
            provenance=provenance,
        )
