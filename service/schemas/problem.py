"""What went wrong, as a body."""

from __future__ import annotations

from pydantic import BaseModel, Field


class Problem(BaseModel):
    """What went wrong, in the format of RFC 9457; `error` repeats `detail` for clients of the first version."""

    type: str = Field(description="The kind of problem: `urn:counterpoint:problem:` and one word.")
    title: str = Field(description="The kind in words.")
    status: int
    detail: str = Field(description="What went wrong, in one sentence.")
    request_id: str
    error: str
