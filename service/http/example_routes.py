"""What the page shows before anything is asked: which index is searched, and examples made from it."""

from __future__ import annotations

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, Field

from retrieval.cluster.address import is_address, read_address
from retrieval.index import Index
from service.examples.schemas import ExamplesResponse
from service.examples.stored import read_examples
from service.http.requests import problems
from service.http.requests.access import admit_request
from service.http.requests.parts import parts_of
from service.schemas import Provenance

router = APIRouter(dependencies=[Depends(admit_request)], responses=problems.responses(401, 429, 500, 503))


class SearchedIndex(BaseModel):
    """The index that is searched."""

    index: str = Field(description="The id of its texts, as in every response's provenance.")
    name: str
    documents: int
    source: str = Field(description="What the documents are, in words to follow their number.")
    built: str = Field(description="When it was built or last updated.")

    @classmethod
    def of(cls, index: Index) -> SearchedIndex:
        """From what its manifest says."""
        manifest, place = index.manifest, index.folder
        return cls(
            index=manifest.id,
            name=read_address(place).name if is_address(place) else place.resolve().name,
            documents=manifest.counts.documents,
            source=manifest.describe_source(),
            built=manifest.created,
        )


@router.get("/v1/index")
def searched_index(request: Request) -> SearchedIndex:
    """The index that is searched: its name, what it holds, how much of it and of when."""
    with parts_of(request).live.lease() as serving:
        return SearchedIndex.of(serving.index)


@router.get("/v1/examples")
def index_examples(request: Request) -> ExamplesResponse:
    """Claims, questions, a paper and a text to start with, made from the index when it was built; empty if they were not."""
    with parts_of(request).live.lease() as serving:
        return read_examples(serving.index, Provenance.of(serving.grounder))
