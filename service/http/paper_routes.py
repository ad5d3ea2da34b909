"""Papers over HTTP: evidence in one, a document, a search, the index and its examples; and what kind of input a text is."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, Field

from retrieval.cluster.client import is_address, read_address
from retrieval.index import Index
from service.examples.schemas import ExamplesResponse, read_examples
from service.grounding.claims import check_hypothesis, check_query
from service.http.requests import problems
from service.http.requests.access import admit_request
from service.http.requests.bodies import JsonRoute, write_json
from service.http.requests.working import note, parts_of
from service.http.schemas import MOST_HITS, Cursor, DocumentOut, SearchResponse
from service.operating.work import Job, while_there
from service.queries.grounding import check_written, describe_query
from service.queries.papers import search_words
from service.queries.schemas import TypedOut, TypedRequest
from service.reading.schemas import EvidenceRequest, EvidenceResponse
from service.schemas import Provenance

router = APIRouter(route_class=JsonRoute, dependencies=[Depends(admit_request)], responses=problems.responses(401, 429))


@router.post("/v1/evidence", response_model=EvidenceResponse, responses=problems.responses(*problems.OF_WORK, 502))
async def evidence(body: EvidenceRequest, request: Request) -> Response:
    """The sentences of one paper that together carry the most evidence for or against a hypothesis."""
    parts = parts_of(request)
    parts.live.ready().finding()
    note(request, parts, hypothesis=check_hypothesis(body.hypothesis))

    def work(job: Job[Response]) -> Response:
        with parts.live.lease() as serving:
            paper = body.paper(serving.index)
            result = serving.finding().find(body.hypothesis, paper, body.k, body.results_only, body.how, job.check)
        return write_json(EvidenceResponse.of(result))

    return await while_there(request, parts.workers.run(work))


@router.get("/v1/documents/{pmid:path}", response_model=DocumentOut, responses=problems.responses(404, 422, 500, 503))
async def document(
    pmid: Annotated[str, Path(max_length=200, examples=["demo-glucose-leuven-2001"])], request: Request
) -> Response:
    """A document as stored in the index, with its sentence boundaries and, if there is one, its full text."""
    parts = parts_of(request)
    parts.live.ready()

    def work(_job: Job[Response]) -> Response:
        with parts.live.lease() as serving:
            entry = serving.index.store.get(pmid)
            if entry is None:
                raise problems.Refused("The index has no document with this id.", 404)
            return write_json(DocumentOut.read(serving.index.store, entry))

    return await while_there(request, parts.workers.run(work))


@router.get("/v1/search", response_model=SearchResponse, responses=problems.responses(422, 500, 503))
async def search(
    request: Request,
    q: Annotated[str, Query(description="The words to search for.", examples=["beta-carotene lung cancer"])],
    limit: Annotated[int, Query(ge=1, le=100, description="Hits per page.")] = 20,
    cursor: Annotated[str, Query(max_length=200, description="`next_cursor` of the previous page.")] = "",
) -> Response:
    """The documents that match the words of a query, ranked by BM25, in pages; each by its abstract or a passage of its text."""
    parts = parts_of(request)
    parts.live.ready()
    query = check_query(q)

    def work(job: Job[Response]) -> Response:
        with parts.live.lease() as serving:
            manifest = serving.index.manifest
            version = f"{manifest.id} {manifest.version}"
            begin = Cursor.read(cursor, query, version).offset if cursor else 0
            end = min(begin + limit, MOST_HITS)
            hits = search_words(serving.index, query, min(end + 1, MOST_HITS), begin)
            job.check()
            more = Cursor(offset=end, query=query, index=version) if len(hits) > end - begin else None
            return write_json(SearchResponse.of(query, begin + 1, hits[: end - begin], more, manifest.id))

    return await while_there(request, parts.workers.run(work))


@router.post("/v1/typed", response_model=TypedOut, responses=problems.responses(*problems.OF_WORK))
async def typed(body: TypedRequest, request: Request) -> Response:
    """What kind of input this is (claim, question, keywords, paper, text or another language) and what can be done with it."""
    parts = parts_of(request)
    parts.live.ready()
    text = check_written(body.text)

    def work(_job: Job[Response]) -> Response:
        with parts.live.lease() as serving:
            return write_json(describe_query(serving.index, text))

    return await while_there(request, parts.workers.run(work))


index_router = APIRouter(dependencies=[Depends(admit_request)], responses=problems.responses(401, 429, 500, 503))


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


@index_router.get("/v1/index")
def searched_index(request: Request) -> SearchedIndex:
    """The index that is searched: its name, what it holds, how much of it and of when."""
    with parts_of(request).live.lease() as serving:
        return SearchedIndex.of(serving.index)


@index_router.get("/v1/examples")
def index_examples(request: Request) -> ExamplesResponse:
    """Claims, questions, a paper and a text to start with, made from the index when it was built; empty if they were not."""
    with parts_of(request).live.lease() as serving:
        return read_examples(serving.index, Provenance.of(serving.grounder))
