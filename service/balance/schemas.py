"""A verdict at a glance on the wire: designs, tallies, the balance."""

from __future__ import annotations

from pydantic import Field

from service.balance.weighing import Leaning
from service.schemas.values import Figure, OfValue


class DesignOut(OfValue):
    """How a paper studied its question, judged by its publication types or, failing that, by its words."""

    name: str
    says: str = Field(description="The design in words, such as “a randomised trial”.")
    weight: float = Field(description="How much a paper of this design counts compared with others, from 0 to 1.")
    strong: bool = Field(description="Whether it is a systematic review or a randomised trial.")


class PapersOut(OfValue):
    """The number of papers in each place where one can belong."""

    contradict: int
    uncertain: int
    support: int
    silent: int


class TallyOut(OfValue):
    """The weight in each place where a paper can belong."""

    contradict: Figure
    uncertain: Figure
    support: Figure
    silent: Figure


class BalanceOut(OfValue):
    """The verdict at a glance: how many papers that were read contradict the claim, are uncertain, support it or say nothing."""

    leans: Leaning = Field(description="The side with most of the evidence, or why neither side has it.")
    says: str = Field(description="The verdict in one sentence.")
    detail: str = Field(description="The figures in words.")
    papers: PapersOut
    weights: TallyOut = Field(
        description="The total weight of the papers in each place; each paper has the weight of its design."
    )
    strong: PapersOut = Field(description="The systematic reviews and randomised trials among them.")
    retracted: int = Field(description="Retracted papers; they are not counted.")
    unjudged: int = Field(description="Papers whose stance no model judged; they are not counted.")
