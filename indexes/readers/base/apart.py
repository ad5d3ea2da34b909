"""Reading in processes of their own, for formats whose libraries a hostile file can make hang, fill the memory or crash.

Such a process is a new interpreter, never a fork of this one, which may run Java and threads. It imports only what the file's
format needs, and what it sends back is JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress
from dataclasses import fields
from importlib import import_module
from typing import Any

from counterpoint.retrieval.core.errors import BadInput

MOST_SECONDS = 120
"""Of processor time; on a busy machine a file may take longer."""
_PATIENCE = 2
"""How many times that its process is waited for."""
MOST_MEMORY = 1_000_000_000
"""Bytes of address space: more than any file within the other limits was measured to need."""


def read_apart(function: str, raw: bytes, name: str) -> Any:
    """What `function` ("module:name") makes of a file in a process of its own: it takes content and name and returns JSON, where
    a data class is the list of its values.

    Raises `BadInput` for a file that cannot be read, or not within the limits on time and memory.
    """
    path = os.pathsep.join(part or os.getcwd() for part in sys.path)
    header = json.dumps([function, name, MOST_SECONDS, MOST_MEMORY]).encode()
    try:
        reply = subprocess.run(
            [sys.executable, "-P", "-m", __name__],
            input=header + b"\n" + raw,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=MOST_SECONDS * _PATIENCE,
            env={**os.environ, "PYTHONPATH": path},
            check=True,
        ).stdout
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
        # A library that crashes on damaged data ends as one that finds no more memory.
        raise BadInput(
            f"{name} is damaged, or takes more than {MOST_SECONDS} seconds or {MOST_MEMORY // 1_000_000:,} MB of memory "
            "to be read; save it again, check it in parts, or copy its text."
        ) from None
    fault, result = json.loads(reply)
    if fault:
        raise BadInput(fault)
    return result


def _main() -> None:
    output, sys.stdout = sys.stdout, sys.stderr
    header, _, raw = sys.stdin.buffer.read().partition(b"\n")
    function, name, seconds, memory = json.loads(header)
    _limit(seconds, memory)
    module, _, attribute = function.partition(":")
    try:
        reply = ["", getattr(import_module(module), attribute)(raw, name)]
    except BadInput as error:
        reply = [str(error), None]
    print(
        json.dumps(reply, default=lambda record: [getattr(record, one.name) for one in fields(record)]), file=output, flush=True
    )


def _limit(seconds: int, memory: int) -> None:
    """Limit what the file may take; the time limit of the process that waits is there on every system."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))


if __name__ == "__main__":
    _main()
