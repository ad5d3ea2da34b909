"""The routes of what can be asked, each made of its call: one response, in the formats that it has, or a stream of events."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from inspect import Parameter, Signature, getdoc
from typing import Annotated, Any, get_args

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response, StreamingResponse
from pydantic import BaseModel, ValidationError

from counterpoint.retrieval.core.errors import CounterpointError
from counterpoint.service.calls import calls
from counterpoint.service.calls.calls import Call, Result
from counterpoint.service.calls.requests import GroundRequest, TextRequest, list_parameters, shown
from counterpoint.service.http.reference.docs import ALIAS
from counterpoint.service.http.requests import problems
from counterpoint.service.http.requests.access import AccessControl
from counterpoint.service.http.requests.bodies import (
    Event,
    FormatQuery,
    JsonRoute,
    OnProgress,
    describe_events,
    describe_formats,
    stream_events,
    write_json,
    write_response,
)
from counterpoint.service.http.requests.working import ON_LIBRARY, live_of, note, parts_of, remember, watch
from counterpoint.service.http.schemas import BatchRequest, BatchResponse, BatchResult
from counterpoint.service.memory.history import Result as Kept
from counterpoint.service.operating.live_index import Serving
from counterpoint.service.operating.work import Job, while_there
from counterpoint.service.output.formats import Format, TextExport
from counterpoint.service.schemas import faults

router = APIRouter(
    route_class=JsonRoute,
    dependencies=ON_LIBRARY,
    responses=problems.responses(401, 404, 429),
)

FILES = ("/v1/text", "/v1/text/stream")
"""The paths that take files."""


def _add(call: Call[..., Any, Any], formats: Any = None, faults: tuple[int, ...] = (), aliases: tuple[str, ...] = ()) -> None:
    """Add the route of a call and, if it has events, that of its stream; `aliases` are the older paths, of both."""
    responses = problems.responses(*(problems.OF_WORK if call.method == "POST" else (422, 500, 503)))
    once: dict[str, Any] = {
        "response_model": call.response,
        "responses": (describe_formats(call.response, get_args(formats)[0]) if formats else {})
        | responses
        | problems.responses(*faults),
        "description": getdoc(call.model),
    }
    _add_route(call, call.name, call.path, _make_endpoint(call, _give_one, formats), once, aliases)
    if call.events:
        names = ", ".join(f'"{name}"' for name in call.events)
        streamed: dict[str, Any] = {
            "response_class": StreamingResponse,
            "responses": describe_events(**call.events, **{call.last: call.response}) | responses,
            "description": f'Like {call.path}, but as server-sent events: {names}, and finally "{call.last}" or "error".',
        }
        _add_route(call, f"{call.name}_stream", f"{call.path}/stream", _make_endpoint(call, _give_stream), streamed, aliases)


def _add_route(
    call: Call[..., Any, Any], name: str, path: str, endpoint: Any, options: dict[str, Any], aliases: tuple[str, ...]
) -> None:
    route = {"methods": [call.method], **options}
    if (older := path.removeprefix("/v1")) in aliases:
        router.add_api_route(older, endpoint, name=f"{name}{ALIAS}", deprecated=True, **route)
    router.add_api_route(path.replace("{pmid}", "{pmid:path}"), endpoint, name=name, **route)


def _make_endpoint(call: Call[..., Any, Any], give: Callable[..., Any], formats: Any = None) -> Callable[..., Any]:
    """The function behind a route, with a parameter for the body or each parameter of the URL, and one for the format."""

    async def endpoint(request: Request, format: Format = "json", **fields: Any) -> Response:
        body = fields["body"] if "body" in fields else call.model(**fields)
        response: Response = await give(call, body, request, format)
        return response

    own = [Parameter("request", Parameter.KEYWORD_ONLY, annotation=Request)]
    if call.method == "POST":
        own.append(Parameter("body", Parameter.KEYWORD_ONLY, annotation=call.model))
    else:
        own += [_read_from_url(call, one) for one in list_parameters(call.model)]
    if formats:
        own.append(Parameter("format", Parameter.KEYWORD_ONLY, default="json", annotation=formats))
    endpoint.__signature__ = Signature(own, return_annotation=Response)  # type: ignore[attr-defined]
    return endpoint


def _read_from_url(call: Call[..., Any, Any], parameter: Parameter) -> Parameter:
    one = call.model.model_fields[parameter.name]
    kind = Path if f"{{{parameter.name}}}" in call.path else Query
    where = kind(alias=shown(one).in_url or parameter.name, description=one.description, examples=one.examples)
    annotation: Any = Annotated[one.annotation, *one.metadata, where]
    return parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=annotation)


async def _give_one(call: Call[..., Any, Any], body: Any, request: Request, format: Format) -> Response:
    pieces = await _check(call, body, request)
    parts, live = parts_of(request), live_of(request)

    def work(job: Job[Response]) -> Response:
        with live.lease() as serving:
            result: Result[Any] = call.run(serving, body, watch(parts, job.check))
            if isinstance(result.response, Kept):
                remember(request, parts, result.response)
            return write_response(result.response, format, lambda: result.write(format))

    return await while_there(request, parts.workers.run(work, pieces=pieces))


async def _give_stream(call: Call[..., Any, Any], body: Any, request: Request, _format: Format) -> Response:
    pieces = await _check(call, body, request)
    parts, live = parts_of(request), live_of(request)

    def work(on_progress: OnProgress) -> Event:
        def send(name: str, event: BaseModel) -> None:
            if name in call.events:
                on_progress(name, event)

        with live.lease() as serving:
            response = call.run(serving, body, watch(parts, lambda: None, send)).response
            remember(request, parts, response)
            return call.last, response

    return await while_there(request, stream_events(parts.workers, work, pieces=pieces))


async def _check(call: Call[..., Any, Any], body: Any, request: Request) -> int:
    """Refuse what cannot be asked, before it waits in the queue; faults of the service come before those of the request. Return
    for how many claims' time the work may take: those of a text count against the sender's limits."""
    parts = parts_of(request)
    if call.needs:
        call.needs(live_of(request).ready())
    if not isinstance(body, TextRequest):
        note(request, parts, **body.check())
        return 1
    # Reading a file may take as long as checking a claim, so it waits in the same queue.
    read = parts.workers.run(lambda _job: body.check()) if body.file else asyncio.to_thread(body.check)
    facts = await while_there(request, read)
    note(request, parts, **facts)
    gate: AccessControl = request.app.state.gate
    gate.spend(request, int(facts["claims"]) - 1)
    return max(1, int(facts["claims"]))


_add(calls.GROUND, FormatQuery, aliases=("/ground",))


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
            result = calls.ground(serving, GroundRequest.model_validate(claims[index]), watch(parts, job.check))
            return BatchResult(index=index, status=200, response=result.response)
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


_add(calls.ANSWER, FormatQuery, (502,), ("/answer", "/answer/stream"))
_add(
    calls.TEXT,
    Annotated[TextExport, Query(description="JSON, a page to print (HTML), a table (CSV or XLSX), or Markdown.")],
)
_add(calls.EVIDENCE, faults=(502,))
_add(calls.DOCUMENT, faults=(404,))
_add(calls.SEARCH)
_add(calls.CLASSIFY)
