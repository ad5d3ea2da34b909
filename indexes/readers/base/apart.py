"""Reading in processes of their own, for formats whose libraries a hostile file can make hang, fill the memory or crash.

Such a process is a new interpreter, never a fork of this one, which may run Java and threads. It reads one file after another,
imports only what their format needs, and what it sends back is JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from importlib import import_module
from queue import SimpleQueue
from threading import Timer
from typing import Any

from retrieval.core.errors import BadInput

MOST_SECONDS = 120
"""Of processor time; on a busy machine a file may take longer."""
_PATIENCE = 2
"""How many times that its process is waited for."""
MOST_MEMORY = 1_000_000_000
"""Bytes of address space: more than any file within the other limits was measured to need."""


def read_apart(function: str, raw: bytes, name: str) -> Any:
    """What `function` ("module:name") makes of a file in a process of its own: it takes content and name and returns JSON.

    Raises `BadInput` for a file that cannot be read, or not within the limits on time and memory.
    """
    with _Process() as process:
        return process.read(function, raw, name)


def read_all_apart(jobs: Iterable[tuple[str, bytes, str]], processes: int) -> Iterator[tuple[str, Any]]:
    """The name of each file, and what became of it, in order: the same as `read_apart`, or the `BadInput` that it would raise.

    A few files are read ahead. A process that ends is replaced, and only the file that it read is lost.
    """
    free: SimpleQueue[_Process] = SimpleQueue()

    def read(job: tuple[str, bytes, str]) -> tuple[str, Any]:
        process = free.get()
        try:
            return job[2], process.read(*job)
        except BadInput as error:
            return job[2], error
        finally:
            free.put(process)

    waiting: deque[Future[tuple[str, Any]]] = deque()
    with _start(processes) as started, ThreadPoolExecutor(processes) as threads:
        for process in started:
            free.put(process)
        try:
            for job in jobs:
                waiting.append(threads.submit(read, job))
                if len(waiting) > 2 * processes:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            threads.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _start(count: int) -> Iterator[list[_Process]]:
    started = [_Process() for _ in range(count)]
    try:
        yield started
    finally:
        for process in started:
            process.close()


class _Process:
    """An interpreter that reads files; it starts with the first, and again after one that ended it."""

    def __init__(self) -> None:
        self._running: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> _Process:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def read(self, function: str, raw: bytes, name: str) -> Any:
        """What the function makes of the file; raises `BadInput` as `read_apart` does."""
        running = self._running = self._running or _launch()
        assert running.stdin and running.stdout
        header = json.dumps([function, name, len(raw), MOST_SECONDS, MOST_MEMORY]).encode()
        timer = Timer(MOST_SECONDS * _PATIENCE, running.kill)
        timer.start()
        try:
            with suppress(BrokenPipeError):
                running.stdin.write(header + b"\n" + raw)
                running.stdin.flush()
            reply = running.stdout.readline()
        finally:
            timer.cancel()
        if not reply.endswith(b"\n"):
            # A library that crashes on damaged data ends as one that finds no more memory.
            self.close()
            raise BadInput(
                f"{name} is damaged, or takes more than {MOST_SECONDS} seconds or {MOST_MEMORY // 1_000_000:,} MB of memory "
                "to be read; save it again, check it in parts, or copy its text."
            )
        fault, result = json.loads(reply)
        if fault:
            raise BadInput(fault)
        return result

    def close(self) -> None:
        """End the process."""
        if self._running:
            self._running.kill()
            with suppress(BrokenPipeError):
                self._running.communicate()
            self._running = None


def _launch() -> subprocess.Popen[bytes]:
    path = os.pathsep.join(part or os.getcwd() for part in sys.path)
    return subprocess.Popen(
        [sys.executable, "-P", "-m", __name__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": path},
    )


def _main() -> None:
    output, sys.stdout = sys.stdout, sys.stderr
    while header := sys.stdin.buffer.readline():
        function, name, size, seconds, memory = json.loads(header)
        raw = sys.stdin.buffer.read(size)
        _limit(seconds, memory)
        module, _, attribute = function.partition(":")
        try:
            reply = ["", getattr(import_module(module), attribute)(raw, name)]
        except BadInput as error:
            reply = [str(error), None]
        print(json.dumps(reply), file=output, flush=True)


def _limit(seconds: int, memory: int) -> None:
    """Limit what the next file may take; the time limit of the process that waits is there on every system."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        used = resource.getrusage(resource.RUSAGE_SELF)
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + seconds, resource.RLIM_INFINITY))


if __name__ == "__main__":
    _main()
