"""Counts every request to a language model, for each piece of work that wants to know what it took (`count_usage`), and keeps it
within the work's budget.

A piece of work may spread over threads: those that run in a copy of its context count for it, and no other work's requests do.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from counterpoint.retrieval.core.english import format_count
from counterpoint.retrieval.core.values import Usage


class Budget(BaseModel):
    """How many requests to language models a piece of work may take, and how many tokens, read and written together."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    requests: Annotated[int, Field(ge=1)] = sys.maxsize
    tokens: Annotated[int, Field(ge=1)] = sys.maxsize

    def share(self, parts: int) -> Budget:
        """The budget of each of so many parts, at least one request."""
        return Budget(requests=max(1, self.requests // max(1, parts)), tokens=max(1, self.tokens // max(1, parts)))

    def left(self, used: Usage) -> Budget:
        """What is left of it after this use, which may be less than nothing."""
        tokens = self.tokens - used.prompt_tokens - used.completion_tokens
        return Budget.model_construct(requests=self.requests - used.requests, tokens=tokens)

    def __str__(self) -> str:
        limits = {format_count(self.requests, "request"): self.requests, f"{self.tokens:,} tokens": self.tokens}
        return " and ".join(limit for limit, number in limits.items() if number < sys.maxsize)


class Tally:
    """The use of language models so far, and what is on its way; safe to use from several threads at once."""

    def __init__(self, budget: Budget | None = None) -> None:
        self.budget = budget
        self._total, self._on_way, self._lock = Usage(), Usage(), Lock()

    def reserve(self, request: Usage, tokens: int | None = None) -> bool:
        """Note that a request is on its way; False if the budget has no room for it, or if so many `tokens` are used by now."""
        with self._lock:
            taken = self._total + self._on_way
            left = self.budget.left(taken + request) if self.budget else None
            used_up = tokens is not None and Budget(tokens=tokens).left(taken).tokens <= 0
            if used_up or (left and min(left.requests, left.tokens) < 0):
                return False
            self._on_way += request
            return True

    def release(self, request: Usage) -> None:
        """Note that a request has come back: from now on what it took counts."""
        with self._lock:
            self._on_way += Usage(-request.requests, -request.prompt_tokens)

    def add(self, usage: Usage) -> None:
        """Add to the sum."""
        with self._lock:
            self._total += usage

    @property
    def total(self) -> Usage:
        """The sum."""
        return self._total

    @property
    def room(self) -> int:
        """The tokens that the budget leaves for further requests."""
        with self._lock:
            return self.budget.left(self._total + self._on_way).tokens if self.budget else sys.maxsize


_open: ContextVar[tuple[Tally, ...]] = ContextVar("tallies", default=())
observers: list[Callable[[Usage], None]] = []
"""Called with every use, whatever the work."""


@contextmanager
def count_usage(budget: Budget | None = None) -> Iterator[Tally]:
    """Count what is used in this context, and let no request pass its budget; what is counted inside another such context counts
    for both."""
    tally = Tally(budget)
    token = _open.set((*_open.get(), tally))
    try:
        yield tally
    finally:
        _open.reset(token)


REPLY = 200
"""The tokens that a reply is expected to have until it has come."""


@contextmanager
def spend(tokens: int) -> Iterator[Budget | None]:
    """A request whose prompt has so many tokens: the budget that has no room for it, None if it may be sent in this context.

    Where there is no room, all work that the request belongs to is marked as `spent`.
    """
    request, held = Usage(1, tokens + REPLY), list[Tally]()
    try:
        for tally in _open.get():
            if not tally.reserve(request):
                record(Usage(spent=True))
                yield tally.budget
                return
            held.append(tally)
        yield None
    finally:
        for tally in held:
            tally.release(request)


def find_room() -> int:
    """The tokens that all budgets of this context leave."""
    return min((tally.room for tally in _open.get()), default=sys.maxsize)


def record(usage: Usage) -> None:
    """Count a use for all work that it belongs to."""
    for tally in _open.get():
        tally.add(usage)
    for observer in observers:
        observer(usage)
