"""Examples kept in an index's folder: made when the index is, so that the page has them at once."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ValidationError

from retrieval.index import Index
from retrieval.store.manifest import write_atomically
from service.examples.schemas import ExamplesResponse
from service.schemas import Provenance

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
