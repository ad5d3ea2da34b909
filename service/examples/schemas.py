"""Examples over the wire and kept in an index's folder: what the page shows first and what its example buttons fill in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, Field, ValidationError

from counterpoint.retrieval.index import Index
from counterpoint.retrieval.store.manifest import write_atomically
from counterpoint.service.examples.finding import Example
from counterpoint.service.grounding.schemas import GroundResponse
from counterpoint.service.schemas import Provenance


class ExamplePaper(BaseModel):
    """A paper from the index as plain text, and a hypothesis that it may support or contradict."""

    hypothesis: str
    text: str


class ExamplesResponse(BaseModel):
    """Examples made from the index; each is empty or null if the index has none."""

    claims: list[str] = Field(default_factory=list, description="Claims that papers in the index make or deny.")
    questions: list[str] = Field(default_factory=list, description="Questions that these claims answer.")
    paper: ExamplePaper | None = None
    text: str = Field(default="", description="A short text made of these claims, one of them with its citation.")
    grounding: GroundResponse | None = Field(
        default=None, description="The first claim, grounded; null if no second paper takes a side on it."
    )

    @classmethod
    def of(cls, examples: Sequence[Example], provenance: Provenance) -> ExamplesResponse:
        """From the values, with the provenance of their groundings."""
        if not examples:
            return cls()
        first, own = examples[0], examples[0].statement.document
        paper = next((one for one in first.papers if one.pmid != own.pmid), own)
        # A sentence beside its own paper alone shows nothing.
        grounding = GroundResponse.of(first.grounding, provenance) if first.worth > 1 else None
        claims = [one.statement.claim for one in examples]
        return cls(
            claims=claims,
            questions=[one.statement.question for one in examples],
            paper=ExamplePaper(hypothesis=claims[0], text=f"# {paper.title}\n\n## Abstract\n{paper.abstract}"),
            text=_write_text(examples),
            grounding=grounding,
        )


def _write_text(examples: Sequence[Example]) -> str:
    """Their claims; the last one cites its paper."""
    *others, last = (one.statement for one in examples)
    sentences = [*(one.claim for one in others), f"{last.claim.rstrip('.')} (PMID {last.document.pmid})."]
    return " ".join([*sentences, "More research is needed."])


NAME = "examples.json"


class _Kept(BaseModel):
    """The examples, the version of the index that they were made from, and with which models."""

    version: int
    examples: ExamplesResponse
    provenance: Provenance | None = None


def keep_examples(folder: Path, version: int, examples: ExamplesResponse, provenance: Provenance | None = None) -> None:
    """Write the examples of this version of an index into its folder, in the place of older ones."""
    write_atomically(folder / NAME, _Kept(version=version, examples=examples, provenance=provenance).model_dump_json())


def has_examples(folder: Path, version: int) -> bool:
    """Whether the examples of this version of an index were looked for, and kept if there were any."""
    kept = _read(folder)
    return kept is not None and kept.version == version


def read_examples(index: Index, provenance: Provenance) -> ExamplesResponse:
    """The examples of the index; none if they were made from another version of it, or with other models or settings."""
    kept = _read(index.folder)
    made_here = kept is not None and kept.version == index.manifest.version and kept.provenance == provenance
    return kept.examples if kept and made_here else ExamplesResponse()


def _read(folder: Path) -> _Kept | None:
    try:
        return _Kept.model_validate_json((folder / NAME).read_bytes())
    except (OSError, ValidationError):
        return None
