"""The parts that the API's calls work with, and what a call adds to its line in the log."""

from __future__ import annotations

import logging
from asyncio import Lock
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import cast

from fastapi import Request

from retrieval.core.errors import CounterpointError
from service.http.requests.access import holder_of
from service.memory.memory import Memory
from service.memory.schemas import Entry
from service.operating.live_index import CurrentService
from service.operating.metrics import TokenMeter
from service.operating.work import Workers

_log = logging.getLogger("counterpoint")


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts that the calls work with, held in `app.state.parts`."""

    live: CurrentService
    workers: Workers
    tokens: TokenMeter
    log_claims: bool = False
    memory: Memory | None = None
    reading_body: Lock = field(default_factory=Lock)


def parts_of(request: Request) -> Parts:
    """The parts of the app that a request came to."""
    return cast(Parts, request.app.state.parts)


def note(request: Request, parts: Parts, **facts: str | int) -> None:
    """Add to the request's line in the log; texts only if the operator asked for them."""
    entries = {name: value for name, value in facts.items() if parts.log_claims or not isinstance(value, str)}
    request.scope.setdefault("state", {}).setdefault("told", {}).update(entries)


def remember(request: Request, parts: Parts, make_entry: Callable[[], Entry]) -> None:
    """Add what was asked to the history, if there is one; a history that cannot be written does not hold back the answer."""
    if parts.memory is None or not parts.memory.history_on:
        return
    try:
        parts.memory.history.add(holder_of(request), make_entry())
    except CounterpointError as error:
        _log.warning("the history was not written: %s", error)
