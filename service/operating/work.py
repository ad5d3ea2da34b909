"""Work in threads: limits on how much runs and how much waits, and no work for a client that has left.

Everything but the work itself runs on the event loop's own thread, so that counting needs no locks.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from starlette.requests import Request

from counterpoint.retrieval.core.english import format_count
from counterpoint.retrieval.core.errors import CounterpointError
from counterpoint.retrieval.runtime.chat import stop_by
from counterpoint.service.operating import metrics

_log = logging.getLogger("counterpoint")
_T = TypeVar("_T")


class Busy(CounterpointError):
    """The queue is full, or the work took too long; trying again in `retry_after` seconds may help."""

    status = 503

    def __init__(self, message: str, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Gone(Exception):
    """Nobody waits for this work any more, so it stops where it is."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much work runs at once, how much may wait and for how long, and how long one piece of work may take (seconds)."""

    threads: int = 4
    waiting: int = 32
    wait: float = 20.0
    work: float = 300.0


class Job(Generic[_T]):
    """A piece of work in progress; `result` is awaited on the event loop, `check` is called from the work's thread."""

    def __init__(self, result: asyncio.Future[_T]) -> None:
        self.result = result
        self._departure = threading.Event()

    def leave(self) -> None:
        """Note that nobody waits for the result any more."""
        self._departure.set()

    def check(self, *_: object) -> None:
        """Raises `Gone` once nobody waits for the result."""
        if self._departure.is_set():
            raise Gone


class Workers:
    """The threads that work on claims and questions; created and used on one event loop."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._slots = asyncio.Semaphore(limits.threads)
        self._queue_length = 0
        self._pool = ThreadPoolExecutor(limits.threads, thread_name_prefix="work")

    async def start(self, work: Callable[[Job[_T]], _T]) -> Job[_T]:
        """Begin a piece of work as soon as a thread is free; raises `Busy` if too much waits already, or the wait is too long."""
        await self._slot()
        loop = asyncio.get_running_loop()
        job: Job[_T] = Job(loop.create_future())
        # An exception that nobody awaits any more must cause no warning.
        job.result.add_done_callback(lambda result: result.cancelled() or result.exception())
        metrics.WORKING.inc()
        try:
            self._pool.submit(copy_context().run, self._do, job, work, loop)
        except BaseException:
            self._free()
            raise
        return job

    async def run(self, work: Callable[[Job[_T]], _T], pieces: int = 1) -> _T:
        """The result of a piece of work; cancelling it stops the work at its next `check`. `pieces` lengthens its time limit."""
        job = await self.start(work)
        try:
            async with asyncio.timeout(self.limits.work * pieces):
                return await job.result
        except TimeoutError:
            raise self.too_long() from None
        finally:
            job.leave()

    def too_long(self) -> Busy:
        """The error for work that took longer than allowed."""
        return Busy(f"This took more than {self.limits.work:g} seconds and was stopped; try again later, or ask for less.", 30)

    def close(self) -> None:
        """Wait for running work to end; work whose client has left stops at its next `check`."""
        self._pool.shutdown(wait=True)

    async def _slot(self) -> None:
        retry_after = max(1, round(self.limits.wait / 2))
        if self._slots.locked() and self._queue_length >= self.limits.waiting:
            metrics.REFUSED.labels(reason="queue full").inc()
            waiting = format_count(self._queue_length, "request")
            raise Busy(f"{waiting} already waiting; try again in {format_count(retry_after, 'second')}.", retry_after)
        self._queue_length += 1
        metrics.WAITING.inc()
        try:
            async with asyncio.timeout(self.limits.wait):
                await self._slots.acquire()
        except TimeoutError:
            metrics.REFUSED.labels(reason="waited too long").inc()
            raise Busy(
                f"No thread was free for {self.limits.wait:g} seconds; try again in {format_count(retry_after, 'second')}.",
                retry_after,
            ) from None
        finally:
            self._queue_length -= 1
            metrics.WAITING.dec()

    def _free(self) -> None:
        metrics.WORKING.dec()
        self._slots.release()

    def _do(self, job: Job[_T], work: Callable[[Job[_T]], _T], loop: asyncio.AbstractEventLoop) -> None:
        """Run on a thread of the pool: do the work, hand its outcome to the loop, and free the slot whatever happens."""

        def settle(resolve: Callable[[], object]) -> None:
            self._free()
            if not job.result.done():
                resolve()

        outcome: Callable[[], object]
        try:
            job.check()
            with stop_by(job.check):
                value = work(job)
            outcome = lambda: job.result.set_result(value)  # noqa: E731
        except Gone:
            metrics.LEFT.inc()
            outcome = job.result.cancel
        except BaseException as error:
            failure = error
            if job.result.cancelled() and not isinstance(error, CounterpointError):
                _log.exception("work that nobody waited for failed")
            outcome = lambda: job.result.set_exception(failure)  # noqa: E731
        with suppress(RuntimeError):  # the loop is closed: nobody waits for the outcome
            loop.call_soon_threadsafe(settle, outcome)


async def while_there(request: Request, work: Coroutine[Any, Any, _T]) -> _T:
    """Await `work`, and cancel it as soon as the client leaves; then raises `Gone`. The request's body must be read already."""
    task, watch = asyncio.ensure_future(work), asyncio.ensure_future(_await_disconnection(request))
    try:
        await asyncio.wait({task, watch}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise Gone
        return task.result()
    finally:
        for one in (task, watch):
            one.cancel()


async def _await_disconnection(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
