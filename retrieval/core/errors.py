"""One exception tree for the whole project.

Every error a user can cause, or can do something about, is a `CounterpointError` whose message is one sentence: what was
expected, what came instead, what to do. The command line prints it and exits with 2; HTTP answers with `status`. Errors of
libraries (Lucene, SQLite, YAML, …) are translated where they occur, never passed on.
"""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class CounterpointError(Exception):
    """Root of every error that is shown to the user as one sentence."""

    status = 400


class BadInput(CounterpointError):
    """The user's text, file or option cannot be used as it is."""

    status = 422


class BadRecord(BadInput):
    """One record of a source cannot be read.

    `source` is the file, `record` identifies the record in the terms of its format ("line 12", "article 3 (PMID 17)"),
    `expected` says what the format requires and what came instead.
    """

    def __init__(self, source: Path | str, record: str, expected: str) -> None:
        super().__init__(f"{source}, {record}: {expected}")
        self.source, self.record, self.expected = str(source), record, expected


class BadConfig(BadInput):
    """A configuration holds an unknown key, a wrong value, or names something that does not exist."""


class IndexUnusable(CounterpointError):
    """An index is missing, damaged, unfinished, or made by another version."""

    status = 503


class ModelUnusable(CounterpointError):
    """A model's files are missing or do not fit the interface that they are used behind."""

    status = 503


class OutOfSpace(CounterpointError):
    """The disk is full; what was finished before is kept."""

    status = 507


class Interrupted(CounterpointError):
    """The user stopped a long job; what was finished before is kept."""


class Unfinished(CounterpointError):
    """A part of a long job could not be done; the rest is kept, and the same command tries that part again."""

    status = 503


_FULL = ("no space left", "disk is full", "disk full", "disk quota", "database or disk is full")


def _is_full(error: BaseException) -> bool:
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return True
    return any(words in str(error).lower() for words in _FULL)


AGAIN = "free some space and run the same command again"
GO_ON = f"what was done so far is saved: {AGAIN} to resume"


@contextmanager
def translate_write_errors(what: str, where: Path, hint: str = AGAIN) -> Iterator[None]:
    """Translate the errors of writing to a full, read-only or missing disk into one sentence.

    `what` is being written, `where` to, and `hint` says how to go on: again, or from where it stopped (`GO_ON`).
    Other errors pass unchanged. Java's exceptions can be recognised only by their text, so any exception is inspected.
    """
    try:
        yield
    except CounterpointError:
        raise
    except Exception as error:
        if _is_full(error):
            raise OutOfSpace(f"The disk under {where} is full while writing {what}; {hint}.") from error
        # A connection or a lock is no file.
        if isinstance(error, OSError) and not isinstance(error, (ConnectionError, TimeoutError, BlockingIOError)):
            raise BadInput(f"Cannot write {what} at {where}: {error.strerror or error}; choose a writable location.") from error
        if isinstance(error, sqlite3.OperationalError) and "readonly" in str(error):
            raise BadInput(f"Cannot write {what} at {where}: it is read-only; choose a writable location.") from error
        raise
