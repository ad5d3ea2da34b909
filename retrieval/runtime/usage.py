"""Counts every request to a language model, for each piece of work that wants to know what it took (`count_usage`).

A piece of work may spread over threads: those that run in a copy of its context count for it, and no other work's requests do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock

from retrieval.core.values import Usage


class Tally:
    """The use of language models so far; safe to use from several threads at once."""

    def __init__(self) -> None:
        self._total, self._lock = Usage(), Lock()

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
def count_usage() -> Iterator[Tally]:
    """Count what is used in this context; what is counted inside another such context counts for both."""
    tally = Tally()
    token = _open.set((*_open.get(), tally))
    try:
        yield tally
    finally:
        _open.reset(token)


def record(usage: Usage) -> None:
    """Count a use for all work that it belongs to."""
    for tally in _open.get():
        tally.add(usage)
    for observer in observers:
        observer(usage)
