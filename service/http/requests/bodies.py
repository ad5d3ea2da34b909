"""Bodies: JSON is read without holding up other requests; results are written as JSON, as texts or as a stream of events."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Annotated, Any, get_args

from fastapi import Query, Request
from fastapi.responses import JSONResponse, Response
from fastapi.routing import APIRoute
from fastapi.sse import format_sse_event
from pydantic import BaseModel
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from counterpoint.retrieval.core.errors import CounterpointError
from counterpoint.service.http.requests import problems
from counterpoint.service.http.requests.access import AccessControl
from counterpoint.service.http.requests.working import parts_of
from counterpoint.service.operating.settings import KeyScope
from counterpoint.service.operating.work import Gone, Job, Workers
from counterpoint.service.output.formats import FORMATS, Format
from counterpoint.service.schemas import Problem
from counterpoint.service.schemas.faults import repair_json

_SMALL = 65_536
"""Bytes that are read in a millisecond."""


class _JsonRequest(Request):
    async def json(self) -> Any:
        """The body's value. Large bodies are read one after the other, so that other requests come between them."""
        body = await self.body()
        if len(body) < _SMALL:
            return _read(body)
        async with parts_of(self).reading_body:
            return _read(body)


class JsonRoute(APIRoute):
    """A route whose body is read like this."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The route's own handler, given a request of this kind."""
        handle = super().get_route_handler()

        async def handle_json(request: Request) -> Response:
            return await handle(_JsonRequest(request.scope, request.receive))

        return handle_json


def route_for(scope: KeyScope) -> type[JsonRoute]:
    """A route for senders with this scope; all others are refused alike, whatever they send."""

    class ScopedRoute(JsonRoute):
        def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
            handle = super().get_route_handler()

            async def handle_allowed(request: Request) -> Response:
                gate: AccessControl = request.app.state.gate
                gate.require(request, scope)
                return await handle(request)

            return handle_allowed

    return ScopedRoute


def _read(body: bytes) -> Any:
    text = body.decode(json.detect_encoding(body))
    # There is no garbage in what is being read, but Python would look for it over and over: 0.31 s for 340,000 empty lists
    # in place of 0.02.
    gc.disable()
    try:
        return json.loads(repair_json(text))
    finally:
        gc.enable()


FormatQuery = Annotated[
    Format,
    Query(
        description="JSON, a page to keep (HTML), readable Markdown, a table of the papers (CSV, XLSX), or those shown for a "
        "reference manager (RIS, BibTeX)."
    ),
]


def describe_formats(model: Any, formats: Any = Format) -> dict[int | str, dict[str, Any]]:
    """Describe the response for the API's description: JSON, and the files of these formats."""
    types = [FORMATS[name].media_type.partition(";")[0] for name in get_args(formats) if name != "json"]
    return {200: {"model": model, "content": {media_type: {"schema": {"type": "string"}} for media_type in types}}}


def describe_events(**events: type[BaseModel]) -> dict[int | str, dict[str, Any]]:
    """Describe a stream for the API's description: its events by name, the last of them "error"."""
    variants = []
    for name, model in (events | {"error": Problem}).items():
        schema = model.model_json_schema(ref_template="#/components/schemas/{model}")
        schema.pop("$defs", None)
        data = {"type": "string", "contentMediaType": "application/json", "contentSchema": schema}
        event = {"type": "object", "properties": {"event": {"const": name}, "data": data}, "required": ["event", "data"]}
        variants.append(event)
    return {200: {"description": "Server-sent events", "content": {"text/event-stream": {"itemSchema": {"oneOf": variants}}}}}


def write_response(body: BaseModel, format: Format, write: Callable[[], str | bytes]) -> Response:
    """Write the response in the requested format: JSON is made from `body`, the file of another format by `write`."""
    if format == "json":
        return write_json(body)
    ending, media_type = FORMATS[format]
    name = f'attachment; filename="counterpoint{ending}"'
    return Response(write(), media_type=media_type, headers={"Content-Disposition": name})


def write_json(body: BaseModel) -> JSONResponse:
    """Write the JSON on the thread that did the work, not on the event loop."""
    return JSONResponse(body.model_dump(mode="json"))


_log = logging.getLogger("counterpoint")

_PING = 15.0
"""Seconds of silence after which a comment keeps proxies from closing the connection."""

Event = tuple[str, BaseModel]
OnProgress = Callable[[str, BaseModel], None]


class EventStream(StreamingResponse):
    """The events of one piece of work; when its client leaves, the work stops at its next event."""

    media_type = "text/event-stream"

    def __init__(self, events: AsyncIterator[bytes], job: Job[Event]) -> None:
        super().__init__(events, headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        self._job = job

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._job.leave()


async def stream_events(workers: Workers, work: Callable[[OnProgress], Event], pieces: int = 1) -> EventStream:
    """Begin `work`, which reports its events and returns the last one, and return the response that passes them on.

    Raises `Busy` before anything is sent. A fault of the work becomes the last event, "error". `pieces` lengthens its time limit.
    """
    queue: asyncio.Queue[Event] = asyncio.Queue()
    loop = asyncio.get_running_loop()

    def put(event: Event) -> None:
        try:
            loop.call_soon_threadsafe(queue.put_nowait, event)
        except RuntimeError:  # the loop is closed
            raise Gone from None

    def run_work(job: Job[Event]) -> Event:
        def on_progress(name: str, data: BaseModel) -> None:
            job.check()
            put((name, data))

        return work(on_progress)

    job = await workers.start(run_work)
    return EventStream(_events(job, queue, workers, pieces), job)


async def _events(job: Job[Event], queue: asyncio.Queue[Event], workers: Workers, pieces: int) -> AsyncIterator[bytes]:
    deadline = asyncio.get_running_loop().time() + workers.limits.work * pieces
    while not (job.result.done() and queue.empty()):
        if asyncio.get_running_loop().time() > deadline:
            job.leave()
            yield _encode_event(("error", problems.problem_of(workers.too_long())))
            return
        getter = asyncio.ensure_future(queue.get())
        try:
            await asyncio.wait({getter, job.result}, timeout=_PING, return_when=asyncio.FIRST_COMPLETED)
            if getter.done():
                yield _encode_event(getter.result())
            elif not job.result.done():
                yield format_sse_event(comment="ping")
        finally:
            getter.cancel()
    yield _encode_last(job)


def _encode_last(job: Job[Event]) -> bytes:
    if job.result.cancelled():
        return _encode_event(("error", problems.problem(503, "The service is stopping; try again in a few seconds.")))
    try:
        return _encode_event(job.result.result())
    except CounterpointError as error:
        return _encode_event(("error", problems.problem_of(error)))
    except BaseException as error:  # the work failed, or its result cannot be written as JSON
        _log.error("a stream's work failed", exc_info=error)
        return _encode_event(("error", problems.problem_of_failure(error)))


def _encode_event(event: Event) -> bytes:
    name, data = event
    return format_sse_event(event=name, data_str=data.model_dump_json())
