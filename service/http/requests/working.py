"""What calls work with, and what is told of their work: every stage is reported, timed and counted."""

from __future__ import annotations

import logging
from asyncio import Lock
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, cast

from fastapi import Depends, Query, Request
from pydantic import BaseModel

from counterpoint.retrieval.core.errors import CounterpointError
from counterpoint.service.answering.schemas import StageEvent
from counterpoint.service.calls.calls import Progress
from counterpoint.service.calls.schemas import GroundStageEvent
from counterpoint.service.http.requests.access import admit_request, require_key, sender_of
from counterpoint.service.memory.database import Whose
from counterpoint.service.memory.history import Result, entry_of
from counterpoint.service.memory.memory import Memory
from counterpoint.service.operating import metrics
from counterpoint.service.operating.jobs import Runner
from counterpoint.service.operating.libraries import Libraries, Library
from counterpoint.service.operating.live_index import LiveIndex
from counterpoint.service.operating.page_model import PageModel
from counterpoint.service.operating.work import Workers

_log = logging.getLogger("counterpoint")


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts that the calls work with, held in `app.state.parts`."""

    libraries: Libraries
    workers: Workers
    log_claims: bool = False
    memory: Memory | None = None
    runner: Runner | None = None
    upload_bytes: int = 0
    library_papers: int = 0
    model: PageModel | None = None
    reading_body: Lock = field(default_factory=Lock)


def parts_of(request: Request) -> Parts:
    """The parts of the app that a request came to."""
    return cast(Parts, request.app.state.parts)


_LIBRARY = Query(max_length=200, description="The id or the name of a library; by default the first.")


def choose_library(
    request: Request, _known: Annotated[None, Depends(require_key)], library: Annotated[str, _LIBRARY] = ""
) -> Library:
    """The dependency of every call that works on a library: it is found and open, or the call is refused with the reason."""
    libraries = parts_of(request).libraries
    found = libraries.find(library, sender_of(request).seen_as)
    libraries.check_ready()
    request.state.live = libraries.open(found)
    return found


ON_LIBRARY = [Depends(admit_request), Depends(choose_library)]
"""The dependencies of every call that works on a library."""


def live_of(request: Request) -> LiveIndex:
    """The library that a call works on (`choose_library`)."""
    return cast(LiveIndex, request.state.live)


def whose_memory(
    request: Request,
    _known: Annotated[None, Depends(require_key)],
    library: Annotated[str, Query(max_length=200, description="Only what belongs to this library, by its id or name.")] = "",
) -> Whose:
    """The dependency of every call on what is remembered: the sender's own, of the libraries that they may see."""
    libraries, sender = parts_of(request).libraries, sender_of(request)
    seen = [libraries.find(library, sender.seen_as)] if library else libraries.seen_by(sender.seen_as)
    return Whose(sender.holder, tuple(one.id for one in seen))


def note(request: Request, parts: Parts, **facts: str | int) -> None:
    """Add to the request's line in the log; texts only if the operator asked for them."""
    entries = {name: value for name, value in facts.items() if parts.log_claims or not isinstance(value, str)}
    request.scope.setdefault("state", {}).setdefault("told", {}).update(entries)


def remember(request: Request, parts: Parts, result: Result) -> None:
    """Add what was asked to the history, and note what may be shared; a memory that cannot be written does not hold back the
    answer."""
    memory, sender, library = parts.memory, sender_of(request), live_of(request).id
    try:
        if memory and memory.history_on and (entry := entry_of(result)):
            memory.history.add(sender.holder, library, entry)
        if memory and sender.may("write"):
            memory.shared.note(sender.holder, library, result)
    except CounterpointError as error:
        _log.warning("a result was not remembered: %s", error)


IN_TIME = 0.9
"""The part of the time for a piece of work after which no further paper is read, so that what was read is still shown."""


def watch(parts: Parts, check: Callable[[], None], on_progress: Callable[[str, BaseModel], None] | None = None) -> Progress:
    """The progress of a request's work: at every event `check` may end it, stages are timed and counted; then `on_progress`."""
    clocks = {GroundStageEvent: metrics.StageClock("ground"), StageEvent: metrics.StageClock("answer")}

    def send(name: str, event: BaseModel) -> None:
        check()
        match event:
            case GroundStageEvent(name="weigh"):
                clocks[GroundStageEvent].begin("")
                metrics.READ.inc(event.sentences)
            case GroundStageEvent() | StageEvent():
                clocks[type(event)].begin(event.name)
        if on_progress:
            on_progress(name, event)

    return Progress(send, check, IN_TIME * parts.workers.limits.work)
