"""Run work in a fresh process, without anything that an earlier part loaded, kept in memory or gave to Java."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any, TypeVar

from bench.harness.setting import NotHere
from retrieval.core.errors import CounterpointError

_Result = TypeVar("_Result")
_PATIENCE = 20.0
"""Seconds that a process has to end on its own once its work is done."""


def run_alone(work: Callable[..., _Result], *arguments: Any) -> _Result:
    """The result of `work`, a module-level function, in a process of its own, which is stopped with this one."""
    context = get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(sender, work, arguments))
    process.start()
    sender.close()
    try:
        outcome, value = receiver.recv()
        process.join(_PATIENCE)
    except EOFError:
        raise CounterpointError(f"The process of {work.__module__} ended before its work was done.") from None
    finally:
        process.terminate()
        process.join()
    if outcome == "done":
        result: _Result = value
        return result
    raise NotHere(value) if outcome == "not here" else CounterpointError(value)


def _work(sender: Connection, work: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    # When it is ended from outside, it still stops the services and removes the folders that it made.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        sender.send(("done", work(*arguments)))
    except NotHere as error:
        sender.send(("not here", str(error)))
    except CounterpointError as error:
        sender.send(("failed", str(error)))
    except KeyboardInterrupt:
        sys.exit(130)
