"""Protecting an index while it changes: one writer at a time, and a Ctrl-C that reports what happens to the work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from retrieval.core.errors import BadInput, Interrupted

LOCK = ".lock"


@contextmanager
def hold_lock(folder: Path) -> Iterator[None]:
    """Keep a second build or update out of the folder while one is running; the lock ends with the process.

    Raises `BadInput` if another process holds it.
    """
    from filelock import FileLock, Timeout

    try:
        # On a file system without such locks, a lock that outlives its process would be worse than none.
        lock = FileLock(folder / LOCK, blocking=False, fallback_to_soft=False).acquire()
    except Timeout:
        raise BadInput(f"Another build or update is running in {folder}; wait until it is done.") from None
    with lock:
        yield


@contextmanager
def make_folder(folder: Path) -> Iterator[None]:
    """Make a folder, with those above it, and hold its lock; after a failure, those that are new and hold nothing are removed."""
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with hold_lock(folder):
            try:
                yield
            except BaseException:
                if [one.name for one in folder.iterdir()] == [LOCK]:
                    (folder / LOCK).unlink()
                    folder.rmdir()
                raise
    except BaseException:
        for one in missing:
            with suppress(OSError):
                one.rmdir()
        raise


@contextmanager
def report_interrupt(what: str, outcome: str) -> Iterator[None]:
    """Turn Ctrl-C into an error that says what happens to the work."""
    try:
        yield
    except KeyboardInterrupt:
        raise Interrupted(f"Stopped before {what} was complete; {outcome}.") from None
