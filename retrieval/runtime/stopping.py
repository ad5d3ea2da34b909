"""Stopping in the middle of a language model's reply when nobody is waiting for it any more.

A slow model writes for minutes between two events of a job. The job sets a check for its thread; the chat client calls it at
every piece of a streamed reply, and closes the connection if it raises.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Piece = TypeVar("Piece")
_check: ContextVar[Callable[[], object] | None] = ContextVar("check", default=None)


@contextmanager
def stop_by(check: Callable[[], object]) -> Iterator[None]:
    """Call `check` at every piece of a reply that is read in this context; an exception ends the reading."""
    token = _check.set(check)
    try:
        yield
    finally:
        _check.reset(token)


def while_wanted(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """The pieces as they come, as long as the check lets them."""
    check = _check.get()
    for piece in pieces:
        if check:
            check()
        yield piece
