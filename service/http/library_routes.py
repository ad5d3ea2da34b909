"""Libraries over HTTP: which there are, what one of them holds, and its examples."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Request
from pydantic import BaseModel, Field

from counterpoint.service.examples.schemas import ExamplesResponse, read_examples
from counterpoint.service.http.requests import problems
from counterpoint.service.http.requests.access import admit_request, sender_of
from counterpoint.service.http.requests.bodies import route_for
from counterpoint.service.http.requests.working import choose_library, live_of, parts_of
from counterpoint.service.http.schemas import LibraryChange, LibraryList, LibraryOut
from counterpoint.service.operating.libraries import Library
from counterpoint.service.schemas import Provenance

router = APIRouter(dependencies=[Depends(admit_request)], responses=problems.responses(401, 404, 422, 429, 500, 503))

OneLibrary = Annotated[Library, Depends(choose_library)]


@router.get("/v1/libraries")
def list_libraries(request: Request) -> LibraryList:
    """The libraries that you may search; the id or the name of one is the parameter `library` of every call."""
    sender = sender_of(request)
    return LibraryList.of(parts_of(request).libraries.list_all(sender.seen_as), sender.scope)


changes = APIRouter(
    route_class=route_for("write"),
    dependencies=[Depends(admit_request)],
    responses=problems.responses(400, 401, 403, 404, 409, 413, 422, 429, 500, 503, 507),
)
LibraryId = Annotated[str, Path(max_length=200, description="The id or the name of a library.")]


@changes.patch("/v1/libraries/{id}")
def change_library(id: LibraryId, body: LibraryChange, request: Request) -> LibraryOut:
    """Rename a library, describe it, or say which keys may see it, which only the scope `admin` may."""
    sender, libraries = sender_of(request), parts_of(request).libraries
    if body.keys is not None and sender.scope != "admin":
        raise problems.Refused("Which keys may see a library is decided with the scope admin.", 403)
    found = libraries.find(id, sender.seen_as)
    return LibraryOut.of(libraries.change(found, body.name, body.description, body.keys, sender.seen_as))


class SearchedIndex(BaseModel):
    """The index that is searched."""

    library: str = Field(description="The id of the library.")
    index: str = Field(description="The id of its texts, as in every response's provenance.")
    name: str
    documents: int
    full_texts: int = Field(description="How many of them it has with their full text.")
    source: str = Field(description="What the documents are, in words to follow their number.")
    built: str = Field(description="When it was built or last updated.")


@router.get("/v1/index", responses=problems.responses(404))
def searched_index(request: Request, library: OneLibrary) -> SearchedIndex:
    """The index that is searched: its name, what it holds, how much of it and of when."""
    with live_of(request).lease() as serving:
        manifest = serving.index.manifest
    return SearchedIndex(
        library=library.id,
        index=manifest.id,
        name=library.name,
        documents=manifest.counts.documents,
        full_texts=manifest.texts.texts if manifest.texts else 0,
        source=manifest.describe_source(),
        built=manifest.created,
    )


@router.get("/v1/examples", responses=problems.responses(404))
def index_examples(request: Request, _library: OneLibrary) -> ExamplesResponse:
    """Claims, questions, a paper and a text to start with, made from the index when it was built; empty if they were not."""
    with live_of(request).lease() as serving:
        return read_examples(serving.index, Provenance.of(serving.grounder))
