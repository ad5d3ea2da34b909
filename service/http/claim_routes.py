"""Claims and questions over HTTP: one, a batch of claims, or a stream of stages and sentences."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response, StreamingResponse
from pydantic import ValidationError

from retrieval.core.errors import CounterpointError
from retrieval.core.values import Topic
from service.answering.schemas import AnswerRequest, AnswerResponse, RemovedOut, SentenceEvent, StageEvent, event_out
from service.grounding.claims import check_claim, check_topic
from service.grounding.schemas import GroundRequest
from service.http.requests import problems
from service.http.requests.access import AccessControl
from service.http.requests.bodies import (
    Event,
    FormatQuery,
    JsonRoute,
    Tell,
    describe_events,
    describe_formats,
    stream_events,
    write_json,
    write_response,
)
from service.http.requests.working import ON_LIBRARY, Parts, ground_claim, live_of, note, parts_of, remember, run_answer
from service.http.schemas import BatchRequest, BatchResponse, BatchResult, GroundStageEvent
from service.operating.live_index import Serving
from service.operating.work import Job, while_there
from service.output.export import export_text
from service.queries.schemas import TypedGroundResponse
from service.schemas import faults

router = APIRouter(
    route_class=JsonRoute,
    dependencies=ON_LIBRARY,
    responses=problems.responses(401, 404, 429),
)

_grounding = describe_formats(TypedGroundResponse) | problems.responses(*problems.OF_WORK)


@router.post("/ground", name="ground_alias", deprecated=True, response_model=TypedGroundResponse, responses=_grounding)
@router.post("/v1/ground", response_model=TypedGroundResponse, responses=_grounding)
async def ground(body: GroundRequest, request: Request, format: FormatQuery = "json") -> Response:
    """The documents that contradict a claim, and those that support it, each with its exact sentence."""
    parts, live = parts_of(request), live_of(request)
    claim = check_claim(body.claim, body.question, body.known_pmids)
    note(request, parts, claim=claim.text)

    def work(job: Job[Response]) -> Response:
        with live.lease() as serving:
            response, grounding = ground_claim(parts, serving, claim, job.check, body)
            remember(request, parts, response)
            return write_response(response, format, lambda: export_text(response, format, grounding))

    return await while_there(request, parts.workers.run(work))


@router.post("/v1/ground/batch", response_model=BatchResponse, responses=problems.responses(*problems.OF_WORK))
async def ground_batch(body: BatchRequest, request: Request) -> Response:
    """Up to 100 claims, with one result each, in order; an invalid claim gets a `problem` and does not affect the others."""
    parts, live = parts_of(request), live_of(request)
    claims: list[Any] = list(body.claims)
    note(request, parts, claims=len(claims))
    gate: AccessControl = request.app.state.gate
    gate.spend(request, len(claims) - 1)

    def one(job: Job[Response], serving: Serving, index: int) -> BatchResult:
        try:
            item = GroundRequest.model_validate(claims[index])
            claim = check_claim(item.claim, item.question, item.known_pmids)
            response, _ = ground_claim(parts, serving, claim, job.check, item)
            return BatchResult(index=index, status=200, response=response)
        except ValidationError as error:
            fault = problems.problem(422, faults.sentence(error.errors(), GroundRequest, "A claim"))
        except CounterpointError as error:
            fault = problems.problem_of(error)
        return BatchResult(index=index, status=fault.status, problem=fault)

    def work(job: Job[Response]) -> Response:
        with live.lease() as serving:
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
    parts, live = parts_of(request), live_of(request)
    claim = check_claim(body.claim, body.question, body.known_pmids)
    note(request, parts, claim=claim.text)

    def work(tell: Tell) -> Event:
        with live.lease() as serving:
            response, _ = ground_claim(parts, serving, claim, lambda stage: tell("stage", GroundStageEvent.of(stage)), body)
            remember(request, parts, response)
            return "grounding", response

    return await while_there(request, stream_events(parts.workers, work))


_answer_responses = describe_formats(AnswerResponse) | problems.responses(*problems.OF_WORK, 502)


@router.post("/answer", name="answer_alias", deprecated=True, response_model=AnswerResponse, responses=_answer_responses)
@router.post("/v1/answer", response_model=AnswerResponse, responses=_answer_responses)
async def answer(body: AnswerRequest, request: Request, format: FormatQuery = "json") -> Response:
    """A short answer to a question, each sentence with checked citations, and the papers that contradict it."""
    parts, live = parts_of(request), live_of(request)
    topic = _topic(body, request, parts)

    def work(job: Job[Response]) -> Response:
        with live.lease() as serving:
            result = run_answer(parts, serving, topic, job.check)
            response = AnswerResponse.of(result, serving.answering())
            remember(request, parts, response)
            return write_response(response, format, lambda: export_text(response, format, result))

    return await while_there(request, parts.workers.run(work))


_answer_events = describe_events(stage=StageEvent, sentence=SentenceEvent, removed=RemovedOut, answer=AnswerResponse)


_answer_stream: dict[str, Any] = {
    "response_class": StreamingResponse,
    "responses": _answer_events | problems.responses(*problems.OF_WORK),
}


@router.post("/answer/stream", name="answer_stream_alias", deprecated=True, **_answer_stream)
@router.post("/v1/answer/stream", **_answer_stream)
async def answer_stream(body: AnswerRequest, request: Request) -> Response:
    """Like /v1/answer, but as server-sent events: "stage", "sentence", "removed", and finally "answer" or "error"."""
    parts, live = parts_of(request), live_of(request)
    topic = _topic(body, request, parts)

    def work(tell: Tell) -> Event:
        with live.lease() as serving:
            result = run_answer(parts, serving, topic, lambda event: tell(*event_out(event)))
            response = AnswerResponse.of(result, serving.answering())
            remember(request, parts, response)
            return "answer", response

    return await while_there(request, stream_events(parts.workers, work))


def _topic(body: AnswerRequest, request: Request, parts: Parts) -> Topic:
    """The topic of a request; faults of the service are reported before those of the request."""
    live_of(request).ready().answering()
    topic = check_topic(body.question, body.topic, body.narrative, body.id)
    note(request, parts, question=topic.question)
    return topic
