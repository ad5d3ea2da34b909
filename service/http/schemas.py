"""What /v1 adds to the wire: batches, claims to save, libraries and the health of the service."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, Field, WrapValidator

from counterpoint.retrieval.store.library import MOST_DESCRIPTION, MOST_NAME
from counterpoint.service.calls.requests import GroundRequest
from counterpoint.service.memory.schemas import MOST_NOTE
from counterpoint.service.operating.settings import KeyScope
from counterpoint.service.queries.schemas import GroundedInput
from counterpoint.service.schemas import Problem, Sent

if TYPE_CHECKING:
    from counterpoint.service.operating.libraries import Library

MOST_CLAIMS = 100


Unread = Annotated[GroundRequest, WrapValidator(lambda value, _handler: value)]
"""A request kept as it came but described by the name of what it should be, so that a generated client has one class for both."""


class BatchRequest(Sent):
    """Claims to ground; each is validated separately, so an invalid claim does not affect the others."""

    claims: list[Unread] = Field(min_length=1, max_length=MOST_CLAIMS)


class BatchResult(BaseModel):
    """The result for one claim: `response` if the status is 200, otherwise `problem`."""

    index: int = Field(description="The claim's position in the request, from 0.")
    status: int
    response: GroundedInput | None = None
    problem: Problem | None = None


class BatchResponse(BaseModel):
    """One result per claim, in the order of the request."""

    results: list[BatchResult]


class SaveRequest(GroundRequest):
    """A claim to save and watch."""

    note: str = Field(default="", max_length=MOST_NOTE, description="A note of your own.")


class Health(BaseModel):
    """Whether requests can be answered now."""

    status: str
    documents: int
    index: str
    config: str
    profile: str
    models: dict[str, str]
    engine: str = Field(default="", description='"embedded"; for an index on a cluster, its colour or why it does not answer.')
    asks: str = Field(
        default="",
        description="What an answer and a claim take of a language model, where one reads papers.",
        exclude_if=lambda says: not says,
    )


class LibraryOut(BaseModel):
    """A library: an index with a name."""

    id: str
    name: str
    description: str
    papers: int
    full_texts: int
    vectors: bool = Field(description="Whether it has vectors of the papers as they are now, so that claims find more of them.")
    format: int | None = Field(description="The format of its index; null if it is damaged.")
    damaged: str = Field(description="Why it cannot be searched, in one sentence; empty if it can be.")
    kept: bool = Field(description="Whether it is the service's own: papers can be added and removed, and it can be deleted.")
    linked: bool = Field(description="Whether it has papers of a collection of Zotero, with which it can be synced.")

    @classmethod
    def of(cls, library: Library) -> LibraryOut:
        """From the library as it is on disk."""
        manifest = library.manifest
        return cls(
            id=library.id,
            name=library.name,
            description=library.description,
            papers=manifest.counts.documents if manifest else 0,
            full_texts=manifest.texts.texts if manifest and manifest.texts else 0,
            vectors=bool(manifest and manifest.vectors_fit),
            format=manifest.format if manifest else None,
            damaged=library.damaged,
            kept=library.kept,
            linked=library.linked,
        )


class LibraryList(BaseModel):
    """The libraries that the sender may search, the one that is searched by default first."""

    libraries: list[LibraryOut]
    scope: KeyScope = Field(
        description="What the sender may do: read, write (change libraries) or admin (and say who sees them)."
    )

    @classmethod
    def of(cls, libraries: Iterable[Library], scope: KeyScope) -> LibraryList:
        """From the libraries as they are on disk."""
        return cls(libraries=[LibraryOut.of(one) for one in libraries], scope=scope)


class LibraryChange(Sent):
    """What is to change of a library; what is left out stays."""

    name: str | None = Field(default=None, description=f"1 to {MOST_NAME} characters.")
    description: str | None = Field(default=None, max_length=MOST_DESCRIPTION)
    keys: list[str] | None = Field(
        default=None, max_length=100, description="The holders of the keys that may see it; empty: all may."
    )
