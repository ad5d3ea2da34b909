"""A verdict at a glance over the wire: designs, tallies, the balance."""

from __future__ import annotations

from pydantic import Field

from service.balance.weighing import Leaning
from service.schemas.values import Figure, OfValue


class DesignOut(OfValue):
    """How a paper studied its question, by its publication types or else by its words."""

    name: str
    says: str = Field(description="The design in words: “a randomised trial”.")
    weight: float = Field(description="What a paper of this design counts beside others, 0 to 1.")
    strong: bool = Field(description="Whether it is a systematic review or a randomised trial.")


class PapersOut(OfValue):
    """The papers in each place where one can belong."""

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
    """The verdict at a glance: how many of the papers read contradict the claim, are uncertain, support it or say nothing."""

    leans: Leaning = Field(description="The side with most of the evidence, or why neither has it.")
    says: str = Field(description="The verdict in one sentence.")
    detail: str = Field(description="The figures in words.")
    papers: PapersOut
    weights: TallyOut = Field(description="The sums of their designs' weights.")
    strong: PapersOut = Field(description="The systematic reviews and randomised trials among them.")
    retracted: int = Field(description="Retracted papers; they are not counted.")
    unjudged: int = Field(description="Papers whose stance no model judged; they are not counted.")
