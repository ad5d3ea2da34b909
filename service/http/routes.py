"""The API: /v1 and, under their old names, the calls that there were before it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.responses import Response, StreamingResponse
from fastapi.routing import APIRoute
from pydantic import ValidationError

from retrieval.core.answers import Answer, RemovedSentence
from retrieval.core.errors import CounterpointError
from retrieval.core.values import Claim, Grounding, Topic
from service.answering.events import KeptSentences, Stage
from service.answering.schemas import AnswerRequest, AnswerResponse, RemovedOut, SentenceEvent, StageEvent, event_out
from service.grounding.claims import check_claim, check_hypothesis, check_query, check_topic
from service.grounding.request import GroundStage
from service.grounding.schemas import GroundRequest
from service.http import faults, problems
from service.http.access import AccessControl, admit_request
from service.http.parts import Parts, note, parts_of, remember
from service.http.reference import examples
from service.http.responses import describe_events, describe_formats, write_json, write_response
from service.http.schemas import (
    MOST_HITS,
    BatchRequest,
    BatchResponse,
    BatchResult,
    Cursor,
    DocumentOut,
    GroundStageEvent,
    SearchResponse,
)
from service.http.streams import Event, Tell, stream_events
from service.memory.history import entry_of_claim, entry_of_question
from service.operating import metrics
from service.operating.live_index import Serving
from service.operating.work import Job, while_there
from service.reading.schemas import EvidenceRequest, EvidenceResponse
from service.typed.grounding import check_written, ground_typed, look_at
from service.typed.schemas import TypedGroundResponse, TypedOut, TypedRequest
from service.typed.search import search_words


def operation_id(route: APIRoute) -> str:
    """What the API's description calls a call: the name that a generated client gives its function."""
    return route.name


router = APIRouter(dependencies=[Depends(admit_request)], responses=problems.responses(401, 429))

FormatQuery = Annotated[
    Literal["json", "markdown", "ris", "bibtex"],
    Query(description="JSON, Markdown to read, or the documents shown as a file for a reference manager."),
]
_FAULTS = (400, 408, 413, 422, 500, 503)


_grounding = describe_formats(TypedGroundResponse, "ground") | problems.responses(*_FAULTS)


@router.post("/ground", name="ground_alias", response_model=TypedGroundResponse, responses=_grounding)
@router.post("/v1/ground", response_model=TypedGroundResponse, responses=_grounding)
async def ground(body: GroundRequest, request: Request, format: FormatQuery = "json") -> Response:
    """The documents that contradict a claim, and those that support it, each with its exact sentence."""
    parts = parts_of(request)
    parts.live.ready()
    claim = check_claim(body.claim, body.question, body.known_pmids)
    note(request, parts, claim=claim.text)

    def work(job: Job[Response]) -> Response:
        with parts.live.lease() as serving:
            response, found = _ground_typed(parts, serving, claim, job.check)
            remember(request, parts, lambda: entry_of_claim(response))
            return write_response(response, found, format)

    return await while_there(request, parts.workers.run(work))


@router.post("/v1/ground/batch", response_model=BatchResponse, responses=problems.responses(*_FAULTS))
async def ground_batch(body: BatchRequest, request: Request) -> Response:
    """Up to 100 claims, one result each, in order; an invalid claim gets a problem and does not affect the others."""
    parts = parts_of(request)
    parts.live.ready()
    asked: list[Any] = list(body.claims)
    note(request, parts, claims=len(asked))
    gate: AccessControl = request.app.state.gate
    gate.spend(request, len(asked) - 1)

    def one(job: Job[Response], serving: Serving, index: int) -> BatchResult:
        try:
            read = GroundRequest.model_validate(asked[index])
            claim = check_claim(read.claim, read.question, read.known_pmids)
            response, _ = _ground_typed(parts, serving, claim, job.check)
            return BatchResult(index=index, status=200, response=response)
        except ValidationError as error:
            fault = problems.problem(422, faults.sentence(error.errors(), GroundRequest, "A claim"))
        except CounterpointError as error:
            fault = problems.problem_of(error)
        return BatchResult(index=index, status=fault.status, problem=fault)

    def work(job: Job[Response]) -> Response:
        with parts.live.lease() as serving:
            results = [one(job, serving, index) for index in range(len(asked))]
        return write_json(BatchResponse(results=results))

    return await while_there(request, parts.workers.run(work, pieces=len(asked)))


@router.post(
    "/v1/ground/stream",
    response_class=StreamingResponse,
    responses=describe_events(stage=GroundStageEvent, grounding=TypedGroundResponse) | problems.responses(*_FAULTS),
)
async def ground_stream(body: GroundRequest, request: Request) -> Response:
    """The same as server-sent events: "stage" for each step with its counts, and last "grounding" or "error"."""
    parts = parts_of(request)
    parts.live.ready()
    claim = check_claim(body.claim, body.question, body.known_pmids)
    note(request, parts, claim=claim.text)

    def work(tell: Tell) -> Event:
        with parts.live.lease() as serving:
            response, _ = _ground_typed(parts, serving, claim, lambda stage: tell("stage", GroundStageEvent.of(stage)))
            remember(request, parts, lambda: entry_of_claim(response))
            return "grounding", response

    return await while_there(request, stream_events(parts.workers, work))


_answered = describe_formats(AnswerResponse, "answer") | problems.responses(*_FAULTS, 502)


@router.post("/answer", name="answer_alias", response_model=AnswerResponse, responses=_answered)
@router.post("/v1/answer", response_model=AnswerResponse, responses=_answered)
async def answer(body: AnswerRequest, request: Request, format: FormatQuery = "json") -> Response:
    """A short answer to a question, each sentence with checked citations, and the papers that contradict it."""
    parts = parts_of(request)
    topic = _topic(body, request, parts)

    def work(job: Job[Response]) -> Response:
        with parts.live.lease() as serving:
            made = _answer(parts, serving, topic, job.check)
            response = AnswerResponse.of(made, serving.answering())
            remember(request, parts, lambda: entry_of_question(response))
            return write_response(response, made, format)

    return await while_there(request, parts.workers.run(work))


_answer_events = describe_events(stage=StageEvent, sentence=SentenceEvent, removed=RemovedOut, answer=AnswerResponse)


_answer_stream: dict[str, Any] = {
    "response_class": StreamingResponse,
    "responses": _answer_events | problems.responses(*_FAULTS),
}


@router.post("/answer/stream", name="answer_stream_alias", **_answer_stream)
@router.post("/v1/answer/stream", **_answer_stream)
async def answer_stream(body: AnswerRequest, request: Request) -> Response:
    """The same as server-sent events: "stage", "sentence", "removed", and last "answer" or "error"."""
    parts = parts_of(request)
    topic = _topic(body, request, parts)

    def work(tell: Tell) -> Event:
        with parts.live.lease() as serving:
            made = _answer(parts, serving, topic, lambda event: tell(*event_out(event)))
            response = AnswerResponse.of(made, serving.answering())
            remember(request, parts, lambda: entry_of_question(response))
            return "answer", response

    return await while_there(request, stream_events(parts.workers, work))


_evidence_found: dict[int | str, dict[str, Any]] = {
    200: {"model": EvidenceResponse, "content": {"application/json": {"example": examples.example("evidence")}}}
}


@router.post("/v1/evidence", response_model=EvidenceResponse, responses=_evidence_found | problems.responses(*_FAULTS, 502))
async def evidence(body: EvidenceRequest, request: Request) -> Response:
    """The sentences of one paper that together carry the most evidence for or against a hypothesis."""
    parts = parts_of(request)
    parts.live.ready().finding()
    note(request, parts, hypothesis=check_hypothesis(body.hypothesis))

    def work(job: Job[Response]) -> Response:
        paper = body.paper()
        with parts.live.lease() as serving:
            finder = serving.finding()
            try:
                found = finder.find(body.hypothesis, paper, body.k, body.results_only, body.how, job.check)
            finally:
                parts.tokens.read([finder.chats])
        return write_json(EvidenceResponse.of(found))

    return await while_there(request, parts.workers.run(work))


@router.get("/v1/documents/{pmid:path}", response_model=DocumentOut, responses=problems.responses(404, 422, 500, 503))
async def document(
    pmid: Annotated[str, Path(max_length=200, examples=["demo-glucose-leuven-2001"])], request: Request
) -> Response:
    """A document as stored in the index, with its sentence boundaries."""
    parts = parts_of(request)
    parts.live.ready()

    def work(_job: Job[Response]) -> Response:
        with parts.live.lease() as serving:
            entry = serving.index.store.get(pmid)
            if entry is None:
                raise problems.Refused("The index has no document with this id.", 404)
            return write_json(DocumentOut.of(entry))

    return await while_there(request, parts.workers.run(work))


@router.get("/v1/search", response_model=SearchResponse, responses=problems.responses(422, 500, 503))
async def search(
    request: Request,
    q: Annotated[str, Query(description="The words to search for.", examples=["beta-carotene lung cancer"])],
    limit: Annotated[int, Query(ge=1, le=100, description="Hits per page.")] = 20,
    cursor: Annotated[str, Query(max_length=200, description="`next_cursor` of the previous page.")] = "",
) -> Response:
    """The documents that match the words of a query, ranked by BM25, in pages."""
    parts = parts_of(request)
    parts.live.ready()
    query = check_query(q)

    def work(job: Job[Response]) -> Response:
        with parts.live.lease() as serving:
            manifest = serving.index.manifest
            begin = Cursor.read(cursor, f"{manifest.id} {manifest.version}").offset if cursor else 0
            end = min(begin + limit, MOST_HITS)
            found = search_words(serving.index, query, min(end + 1, MOST_HITS), begin)
            job.check()
            more = Cursor(offset=end, index=f"{manifest.id} {manifest.version}") if len(found) > end - begin else None
            return write_json(SearchResponse.of(query, begin + 1, found[: end - begin], more, manifest.id))

    return await while_there(request, parts.workers.run(work))


@router.post("/v1/typed", response_model=TypedOut, responses=problems.responses(*_FAULTS))
async def typed(body: TypedRequest, request: Request) -> Response:
    """What a text is: a claim, a question, keywords, a paper, a whole text or another language; and what to do with it."""
    parts = parts_of(request)
    parts.live.ready()
    written = check_written(body.text)

    def work(_job: Job[Response]) -> Response:
        with parts.live.lease() as serving:
            return write_json(look_at(serving.index, written))

    return await while_there(request, parts.workers.run(work))


def _ground_typed(
    parts: Parts, serving: Serving, claim: Claim, tell: Callable[[GroundStage], None]
) -> tuple[TypedGroundResponse, Grounding]:
    """What was typed as a claim, grounded and told what it was taken for."""
    return ground_typed(serving.grounder, claim, lambda meant: grounded(parts, serving, meant, tell))


def grounded(parts: Parts, serving: Serving, claim: Claim, tell: Callable[[GroundStage], None]) -> Grounding:
    """A claim grounded, each stage told and timed."""
    clock = metrics.StageClock("ground")

    def on_stage(stage: GroundStage) -> None:
        clock.begin("" if stage.name == "decided" else f"{stage.side} {stage.name}")
        tell(stage)

    found = serving.grounder.ground(claim, on_stage)
    for side, counts in found.checked.items():
        metrics.JUDGED.labels(side=side).inc(counts.judged)
    parts.tokens.read([serving.grounder.models.judges])
    return found


def _answer(
    parts: Parts, serving: Serving, topic: Topic, tell: Callable[[Stage | KeptSentences | RemovedSentence], None]
) -> Answer:
    """A question answered, each event told, each stage timed."""
    clock, answerer = metrics.StageClock("answer"), serving.answering()

    def on_event(event: Stage | KeptSentences | RemovedSentence) -> None:
        if isinstance(event, Stage):
            clock.begin(event.name)
        tell(event)

    try:
        made = answerer.answer(topic, on_event)
        clock.begin("")
        return made
    finally:
        parts.tokens.read([answerer.models.judges, answerer.models.generators])


def _topic(body: AnswerRequest, request: Request, parts: Parts) -> Topic:
    """The topic of a request; faults of the service come before those of the request."""
    parts.live.ready().answering()
    topic = check_topic(body.question, body.topic, body.narrative, body.id)
    note(request, parts, question=topic.question)
    return topic
