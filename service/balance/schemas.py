"""A verdict at a glance over the wire: designs, tallies, the balance."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from nli.text.designs import Design
from service.balance.weighing import Leaning

Figure = Annotated[float, AfterValidator(lambda value: round(value, 4))]
"""A count, or a sum of weights, as it is shown."""


class DesignOut(BaseModel):
    """How a paper studied its question, by its publication types or else by its words."""

    name: str
    says: str = Field(description="The design in words: “a randomised trial”.")
    weight: float = Field(description="What a paper of this design counts beside others, 0 to 1.")
    strong: bool = Field(description="Whether it is a systematic review or a randomised trial.")

    @classmethod
    def of(cls, design: Design) -> DesignOut:
        """From the value."""
        return cls(name=design.name, says=design.says, weight=design.weight, strong=design.strong)


class PapersOut(BaseModel):
    """The papers in each place where one can belong."""

    model_config = ConfigDict(from_attributes=True)

    contradict: int
    uncertain: int
    support: int
    silent: int


class TallyOut(BaseModel):
    """The weight in each place where a paper can belong."""

    model_config = ConfigDict(from_attributes=True)

    contradict: Figure
    uncertain: Figure
    support: Figure
    silent: Figure


class BalanceOut(BaseModel):
    """The verdict at a glance: how many of the papers read contradict the claim, are uncertain, support it or say nothing."""

    model_config = ConfigDict(from_attributes=True)

    leans: Leaning = Field(description="The side with most of the evidence, or why neither has it.")
    says: str = Field(description="The verdict in one sentence.")
    detail: str = Field(description="The figures in words.")
    papers: PapersOut
    weights: TallyOut = Field(description="The sums of their designs' weights.")
    strong: PapersOut = Field(description="The systematic reviews and randomised trials among them.")
    retracted: int = Field(description="Retracted papers; they are not counted.")
    unjudged: int = Field(description="Papers whose stance no model judged; they are not counted.")
