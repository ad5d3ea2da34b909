"""Examples over the wire: what the page shows first and what its example buttons fill in."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, Field

from service.examples.finding import Example
from service.grounding.schemas import GroundResponse
from service.schemas import Provenance

CITED = 1
"""For the text to check: which of its statements cites its paper."""


class ExamplePaper(BaseModel):
    """A paper from the index as plain text, and a hypothesis that it may support or contradict."""

    hypothesis: str
    text: str


class ExamplesResponse(BaseModel):
    """Examples made from the index; each is empty or null if the index has none."""

    claims: list[str] = Field(default_factory=list, description="Claims that papers in the index make, word for word.")
    questions: list[str] = Field(default_factory=list, description="Questions that these claims answer.")
    paper: ExamplePaper | None = None
    text: str = Field(default="", description="A short text made of these claims, one of them with its citation.")
    grounding: GroundResponse | None = Field(default=None, description="The first claim, grounded.")

    @classmethod
    def of(cls, examples: Sequence[Example], provenance: Provenance) -> ExamplesResponse:
        """From the values, with the provenance of their groundings."""
        if not examples:
            return cls()
        first, paper = examples[0], examples[0].papers[-1]
        claims = [one.statement.claim for one in examples]
        return cls(
            claims=claims,
            questions=[one.statement.question for one in examples],
            paper=ExamplePaper(hypothesis=claims[0], text=f"# {paper.title}\n\n## Abstract\n{paper.abstract}"),
            text=_write_text(examples),
            grounding=GroundResponse.of(first.grounding, provenance),
        )


def _write_text(examples: Sequence[Example]) -> str:
    sentences = [
        f"{one.statement.claim.rstrip('.')} (PMID {one.statement.document.pmid})." if place == CITED else one.statement.claim
        for place, one in enumerate(examples)
    ]
    return " ".join([*sentences, "More research is needed."])
