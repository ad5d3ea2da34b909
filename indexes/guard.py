"""What protects an index while it is being changed: one writer at a time, and a Ctrl-C that says what becomes of the work."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from retrieval.core.errors import BadInput, Interrupted

LOCK = ".lock"


@contextmanager
def only_one(folder: Path) -> Iterator[None]:
    """Keep a second build or update out of the folder while one is at work; the lock goes with the process."""
    with open(folder / LOCK, "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BadInput(f"Another build or update is at work in {folder}; wait until it is done.") from None
        yield


@contextmanager
def stoppable(what: str, kept: str) -> Iterator[None]:
    """Ctrl-C as an error that says what becomes of the work."""
    try:
        yield
    except KeyboardInterrupt:
        raise Interrupted(f"Stopped before {what} was complete; {kept}.") from None
