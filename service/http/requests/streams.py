"""Progress of work over server-sent events: stages and sentences, then the result or the problem."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable

from fastapi.sse import format_sse_event
from pydantic import BaseModel
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from retrieval.core.errors import CounterpointError
from service.http.requests import problems
from service.operating.work import Gone, Job, Workers
from service.schemas import Problem

_log = logging.getLogger("counterpoint")

_PING = 15.0
"""Seconds of silence after which a comment keeps proxies from closing the connection."""

Event = tuple[str, BaseModel]
Tell = Callable[[str, BaseModel], None]


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


async def stream_events(workers: Workers, work: Callable[[Tell], Event], pieces: int = 1) -> EventStream:
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
        def tell(name: str, data: BaseModel) -> None:
            job.check()
            put((name, data))

        return work(tell)

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
    try:
        return _encode_event(_last(job))
    except Exception as error:  # the result cannot be written as JSON
        return _encode_event(("error", _log_failure(error)))


def _log_failure(error: BaseException) -> Problem:
    _log.error("a stream's work failed", exc_info=error)
    return problems.problem_of_failure(error)


def _last(job: Job[Event]) -> Event:
    if job.result.cancelled():
        return "error", problems.problem(503, "The service is stopping; try again in a few seconds.")
    error = job.result.exception()
    if error is None:
        return job.result.result()
    if isinstance(error, CounterpointError):
        return "error", problems.problem_of(error)
    return "error", _log_failure(error)


def _encode_event(event: Event) -> bytes:
    name, data = event
    return format_sse_event(event=name, data_str=data.model_dump_json())
