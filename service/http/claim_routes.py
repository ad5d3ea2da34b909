"""Grounding claims over HTTP: one, a batch, or one as a stream of its stages."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response, StreamingResponse
from pydantic import ValidationError

from retrieval.core.errors import CounterpointError
from service.grounding.claims import check_claim
from service.grounding.schemas import GroundRequest
from service.http.requests import faults, problems
from service.http.requests.access import AccessControl, admit_request
from service.http.requests.bodies import JsonRoute
from service.http.requests.parts import note, parts_of, remember
from service.http.requests.responses import FormatQuery, describe_events, describe_formats, write_json, write_response
from service.http.requests.streams import Event, Tell, stream_events
from service.http.requests.working import ground_claim
from service.http.schemas import BatchRequest, BatchResponse, BatchResult, GroundStageEvent
from service.memory.history import entry_of_claim
from service.operating.live_index import Serving
from service.operating.work import Job, while_there
from service.typed.schemas import TypedGroundResponse

router = APIRouter(route_class=JsonRoute, dependencies=[Depends(admit_request)], responses=problems.responses(401, 429))

_grounding = describe_formats(TypedGroundResponse) | problems.responses(*problems.OF_WORK)


@router.post("/ground", name="ground_alias", deprecated=True, response_model=TypedGroundResponse, responses=_grounding)
@router.post("/v1/ground", response_model=TypedGroundResponse, responses=_grounding)
async def ground(body: GroundRequest, request: Request, format: FormatQuery = "json") -> Response:
    """The documents that contradict a claim, and those that support it, each with its exact sentence."""
    parts = parts_of(request)
    parts.live.ready()
    claim = check_claim(body.claim, body.question, body.known_pmids)
    note(request, parts, claim=claim.text)

    def work(job: Job[Response]) -> Response:
        with parts.live.lease() as serving:
            response, grounding = ground_claim(parts, serving, claim, job.check, body.read)
            remember(request, parts, lambda: entry_of_claim(response))
            return write_response(response, grounding, format)

    return await while_there(request, parts.workers.run(work))


@router.post("/v1/ground/batch", response_model=BatchResponse, responses=problems.responses(*problems.OF_WORK))
async def ground_batch(body: BatchRequest, request: Request) -> Response:
    """Up to 100 claims, with one result each, in order; an invalid claim gets a `problem` and does not affect the others."""
    parts = parts_of(request)
    parts.live.ready()
    claims: list[Any] = list(body.claims)
    note(request, parts, claims=len(claims))
    gate: AccessControl = request.app.state.gate
    gate.spend(request, len(claims) - 1)

    def one(job: Job[Response], serving: Serving, index: int) -> BatchResult:
        try:
            item = GroundRequest.model_validate(claims[index])
            claim = check_claim(item.claim, item.question, item.known_pmids)
            response, _ = ground_claim(parts, serving, claim, job.check, item.read)
            return BatchResult(index=index, status=200, response=response)
        except ValidationError as error:
            fault = problems.problem(422, faults.sentence(error.errors(), GroundRequest, "A claim"))
        except CounterpointError as error:
            fault = problems.problem_of(error)
        return BatchResult(index=index, status=fault.status, problem=fault)

    def work(job: Job[Response]) -> Response:
        with parts.live.lease() as serving:
            results = [one(job, serving, index) for index in range(len(claims))]
        return write_json(BatchResponse(results=results))

    return await while_there(request, parts.workers.run(work, pieces=len(claims)))


@router.post(
    "/v1/ground/stream",
    response_class=StreamingResponse,
    responses=describe_events(stage=GroundStageEvent, grounding=TypedGroundResponse) | problems.responses(*problems.OF_WORK),
)
async def ground_stream(body: GroundRequest, request: Request) -> Response:
    """Like /v1/ground, but as server-sent events: "stage" for each step with its counts, and finally "grounding" or "error"."""
    parts = parts_of(request)
    parts.live.ready()
    claim = check_claim(body.claim, body.question, body.known_pmids)
    note(request, parts, claim=claim.text)

    def work(tell: Tell) -> Event:
        with parts.live.lease() as serving:
            response, _ = ground_claim(parts, serving, claim, lambda stage: tell("stage", GroundStageEvent.of(stage)), body.read)
            remember(request, parts, lambda: entry_of_claim(response))
            return "grounding", response

    return await while_there(request, stream_events(parts.workers, work))
