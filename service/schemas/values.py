"""Bodies made from values, and how numbers are shown."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict

Rounded = Annotated[float, AfterValidator(lambda value: round(value, 6))]
"""A score or a probability as it is shown."""
Figure = Annotated[float, AfterValidator(lambda value: round(value, 4))]
"""A count, a sum of weights or a certainty as it is shown."""


class OfValue(BaseModel):
    """Made from a value that has the same attributes: `model_validate(value)`."""

    model_config = ConfigDict(from_attributes=True)
