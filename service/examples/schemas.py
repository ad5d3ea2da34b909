"""Examples over the wire and kept in an index's folder: what the page shows first and what its example buttons fill in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, Field, ValidationError

from retrieval.index import Index
from retrieval.store.manifest import write_atomically
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


NAME = "examples.json"


class _Kept(BaseModel):
    """The examples, and the version of the index that they were made from."""

    version: int
    examples: ExamplesResponse


def keep_examples(folder: Path, version: int, examples: ExamplesResponse) -> None:
    """Write the examples of this version of an index into its folder, in the place of older ones."""
    write_atomically(folder / NAME, _Kept(version=version, examples=examples).model_dump_json())


def has_examples(folder: Path, version: int) -> bool:
    """Whether the examples of this version of an index were looked for, and kept if there were any."""
    kept = _read(folder)
    return kept is not None and kept.version == version


def read_examples(index: Index, provenance: Provenance) -> ExamplesResponse:
    """The examples of the index; none if they were made from another version of it, or with other models or settings."""
    kept = _read(index.folder)
    if kept is None or kept.version != index.manifest.version:
        return ExamplesResponse()
    made_here = kept.examples.grounding is not None and kept.examples.grounding.provenance == provenance
    return kept.examples if made_here else ExamplesResponse()


def _read(folder: Path) -> _Kept | None:
    try:
        return _Kept.model_validate_json((folder / NAME).read_bytes())
    except (OSError, ValidationError):
        return None
