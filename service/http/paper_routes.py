"""Papers over HTTP: evidence in one, a document, a search; and what kind of input a text is."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response

from service.grounding.claims import check_hypothesis, check_query
from service.http.requests import problems
from service.http.requests.bodies import JsonRoute, write_json
from service.http.requests.working import ON_LIBRARY, live_of, note, parts_of
from service.http.schemas import MOST_HITS, Cursor, DocumentOut, SearchResponse
from service.operating.work import Job, while_there
from service.queries.grounding import check_written, describe_query
from service.queries.papers import SOUGHT, describe_search, search_words
from service.queries.schemas import TypedOut, TypedRequest
from service.reading.schemas import EvidenceRequest, EvidenceResponse

router = APIRouter(
    route_class=JsonRoute,
    dependencies=ON_LIBRARY,
    responses=problems.responses(401, 404, 429),
)


@router.post("/v1/evidence", response_model=EvidenceResponse, responses=problems.responses(*problems.OF_WORK, 502))
async def evidence(body: EvidenceRequest, request: Request) -> Response:
    """The sentences of one paper that together carry the most evidence for or against a hypothesis."""
    parts, live = parts_of(request), live_of(request)
    live.ready().finding()
    note(request, parts, hypothesis=check_hypothesis(body.hypothesis))

    def work(job: Job[Response]) -> Response:
        with live.lease() as serving:
            paper = body.paper(serving.index)
            result = serving.finding().find(body.hypothesis, paper, body.k, body.results_only, job.check)
        return write_json(EvidenceResponse.of(result))

    return await while_there(request, parts.workers.run(work))


@router.get("/v1/documents/{pmid:path}", response_model=DocumentOut, responses=problems.responses(404, 422, 500, 503))
async def document(
    pmid: Annotated[str, Path(max_length=200, examples=["demo-glucose-leuven-2001"])], request: Request
) -> Response:
    """A document as stored in the index, with its sentence boundaries and, if there is one, its full text."""
    parts, live = parts_of(request), live_of(request)

    def work(_job: Job[Response]) -> Response:
        with live.lease() as serving:
            entry = serving.index.store.get(pmid)
            if entry is None:
                raise problems.Refused("The index has no document with this id.", 404)
            return write_json(DocumentOut.read(serving.index.store, entry))

    return await while_there(request, parts.workers.run(work))


@router.get("/v1/search", response_model=SearchResponse, responses=problems.responses(422, 500, 503))
async def search(
    request: Request,
    q: Annotated[str, Query(description=SOUGHT, examples=["beta-carotene lung cancer"])],
    limit: Annotated[int, Query(ge=1, le=100, description="Hits per page.")] = 20,
    cursor: Annotated[str, Query(max_length=200, description="`next_cursor` of the previous page.")] = "",
) -> Response:
    """The papers that a query names, then the documents that match its words by abstract or full text, by BM25, in pages."""
    parts, live = parts_of(request), live_of(request)
    query = check_query(q)

    def work(job: Job[Response]) -> Response:
        with live.lease() as serving:
            manifest = serving.index.manifest
            version = f"{manifest.id} {manifest.version}"
            begin = Cursor.read(cursor, query, version).offset if cursor else 0
            end = min(begin + limit, MOST_HITS)
            hits = search_words(serving.index, query, min(end + 1, MOST_HITS), begin)
            job.check()
            more = Cursor(offset=end, query=query, index=version) if len(hits) > end - begin else None
            note = describe_search(serving.index, query)
            return write_json(SearchResponse.of(query, begin + 1, hits[: end - begin], more, manifest.id, note))

    return await while_there(request, parts.workers.run(work))


@router.post("/v1/typed", response_model=TypedOut, responses=problems.responses(*problems.OF_WORK))
async def typed(body: TypedRequest, request: Request) -> Response:
    """What kind of input this is (claim, question, keywords, paper, text or another language) and what can be done with it."""
    parts, live = parts_of(request), live_of(request)
    text = check_written(body.text)

    def work(_job: Job[Response]) -> Response:
        with live.lease() as serving:
            return write_json(describe_query(serving.index, text))

    return await while_there(request, parts.workers.run(work))
