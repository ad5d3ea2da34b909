"""Counts every request to a language model, for each piece of work that wants to know what it took (`count_usage`), and keeps it
within the work's budget.

A piece of work may spread over threads: those that run in a copy of its context count for it, and no other work's requests do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from threading import Lock

from retrieval.core.values import Usage


@dataclass(frozen=True, slots=True)
class Budget:
    """How many requests to language models a piece of work may take, and how many tokens, read and written together."""

    requests: int
    tokens: int

    def share(self, parts: int) -> Budget:
        """The budget of each of so many parts, at least one request."""
        return Budget(max(1, self.requests // max(1, parts)), max(1, self.tokens // max(1, parts)))

    def left(self, used: Usage) -> Budget:
        """What is left of it after this use."""
        return Budget(self.requests - used.requests, self.tokens - used.prompt_tokens - used.completion_tokens)

    def __str__(self) -> str:
        return f"{self.requests:,} request{'s' * (self.requests != 1)} and {self.tokens:,} tokens"


class Tally:
    """The use of language models so far, and what is on its way; safe to use from several threads at once."""

    def __init__(self, budget: Budget | None = None) -> None:
        self.budget = budget
        self._total, self._on_way, self._lock = Usage(), Usage(), Lock()

    def reserve(self, request: Usage) -> bool:
        """Note that a request is on its way; False, and the use is `spent`, if the budget has no room for it."""
        with self._lock:
            after = self._total + self._on_way + request
            tokens = after.prompt_tokens + after.completion_tokens
            if self.budget and (after.requests > self.budget.requests or tokens > self.budget.tokens):
                self._total += Usage(spent=True)
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
    """A request whose prompt has so many tokens: the budget that has no room for it, None if it may be sent in this context."""
    request, held = Usage(1, tokens + REPLY), list[Tally]()
    try:
        for tally in _open.get():
            if not tally.reserve(request):
                yield tally.budget
                return
            held.append(tally)
        yield None
    finally:
        for tally in held:
            tally.release(request)


def record(usage: Usage) -> None:
    """Count a use for all work that it belongs to."""
    for tally in _open.get():
        tally.add(usage)
    for observer in observers:
        observer(usage)
