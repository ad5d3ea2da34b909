"""Examples over the wire: what the page shows first and what its example buttons fill in."""

from __future__ import annotations

from pydantic import BaseModel, Field

from service.examples.finding import Examples
from service.grounding.schemas import GroundResponse
from service.schemas.provenance import Provenance

CITED, CLAIMS = 1, 3
"""For the text to check: which of its statements cites its paper, and how many statements it has."""


class ExamplePaper(BaseModel):
    """A paper from the index as plain text, and a hypothesis that it may support or contradict."""

    hypothesis: str
    text: str


class ExamplesResponse(BaseModel):
    """Examples made from the index; each is empty or null if the index holds no sentence to make it from."""

    claims: list[str] = Field(description="Claims that papers in the index make, those with papers on both sides first.")
    questions: list[str] = Field(description="Questions that these claims answer.")
    paper: ExamplePaper | None
    text: str = Field(description="A short text made of these claims, one of them with its citation.")
    grounding: GroundResponse | None = Field(description="The first claim, grounded.")

    @classmethod
    def of(cls, examples: Examples, provenance: Provenance) -> ExamplesResponse:
        """From the value, with the provenance of its grounding."""
        claims = [one.claim for one in examples.statements]
        paper = examples.paper
        return cls(
            claims=claims,
            questions=[one.question for one in examples.statements],
            paper=ExamplePaper(hypothesis=claims[0], text=f"# {paper.title}\n\n## Abstract\n{paper.abstract}") if paper else None,
            text=_write_text(examples),
            grounding=GroundResponse.of(examples.grounding, provenance) if examples.grounding else None,
        )


def _write_text(examples: Examples) -> str:
    sentences = [
        f"{one.claim.rstrip('.')} (PMID {one.document.pmid})." if place == CITED else one.claim
        for place, one in enumerate(examples.statements[:CLAIMS])
    ]
    return " ".join([*sentences, "More research is needed."]) if sentences else ""
