"""Building blocks of JSON bodies: models made from values, rounded numbers, and the body of a fault."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

Rounded = Annotated[float, AfterValidator(lambda value: round(value, 6))]
"""A score or a probability as it is shown."""
Figure = Annotated[float, AfterValidator(lambda value: round(value, 4))]
"""A count, a sum of weights or a certainty as it is shown."""


class Sent(BaseModel):
    """The body of a request: unknown fields are refused, but only the first is looked at, however many there are."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _one_unknown_field(cls, data: Any) -> Any:
        known = cls.model_fields
        if not isinstance(data, dict) or len(data) <= len(known) + 1:
            return data
        unknown = next(name for name in data if name not in known)
        return {name: value for name, value in data.items() if name in known or name == unknown}


class OfValue(BaseModel):
    """Made from a value that has the same attributes: `model_validate(value)`."""

    model_config = ConfigDict(from_attributes=True)


class Problem(BaseModel):
    """What went wrong, in the format of RFC 9457; `error` repeats `detail` for clients of the first version."""

    type: str = Field(description="The kind of problem: `urn:counterpoint:problem:` and one word.")
    title: str = Field(description="The kind in words.")
    status: int
    detail: str = Field(description="What went wrong, in one sentence.")
    request_id: str
    error: str
