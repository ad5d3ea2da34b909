"""Answering a question over HTTP: in one response, or as a stream of stages and sentences."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response, StreamingResponse

from retrieval.core.values import Topic
from service.answering.schemas import AnswerRequest, AnswerResponse, RemovedOut, SentenceEvent, StageEvent, event_out
from service.grounding.claims import check_topic
from service.http.requests import problems
from service.http.requests.access import admit_request
from service.http.requests.bodies import JsonRoute
from service.http.requests.parts import Parts, note, parts_of, remember
from service.http.requests.responses import FormatQuery, describe_events, describe_formats, write_response
from service.http.requests.streams import Event, Tell, stream_events
from service.http.requests.working import run_answer
from service.memory.history import entry_of_question
from service.operating.work import Job, while_there

router = APIRouter(route_class=JsonRoute, dependencies=[Depends(admit_request)], responses=problems.responses(401, 429))

_answer_responses = describe_formats(AnswerResponse) | problems.responses(*problems.OF_WORK, 502)


@router.post("/answer", name="answer_alias", deprecated=True, response_model=AnswerResponse, responses=_answer_responses)
@router.post("/v1/answer", response_model=AnswerResponse, responses=_answer_responses)
async def answer(body: AnswerRequest, request: Request, format: FormatQuery = "json") -> Response:
    """A short answer to a question, each sentence with checked citations, and the papers that contradict it."""
    parts = parts_of(request)
    topic = _topic(body, request, parts)

    def work(job: Job[Response]) -> Response:
        with parts.live.lease() as serving:
            result = run_answer(parts, serving, topic, job.check)
            response = AnswerResponse.of(result, serving.answering())
            remember(request, parts, lambda: entry_of_question(response))
            return write_response(response, result, format)

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
    parts = parts_of(request)
    topic = _topic(body, request, parts)

    def work(tell: Tell) -> Event:
        with parts.live.lease() as serving:
            result = run_answer(parts, serving, topic, lambda event: tell(*event_out(event)))
            response = AnswerResponse.of(result, serving.answering())
            remember(request, parts, lambda: entry_of_question(response))
            return "answer", response

    return await while_there(request, stream_events(parts.workers, work))


def _topic(body: AnswerRequest, request: Request, parts: Parts) -> Topic:
    """The topic of a request; faults of the service are reported before those of the request."""
    parts.live.ready().answering()
    topic = check_topic(body.question, body.topic, body.narrative, body.id)
    note(request, parts, question=topic.question)
    return topic
