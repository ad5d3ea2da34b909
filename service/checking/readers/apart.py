"""Reading in a process of its own, for formats whose libraries a hostile file can make hang, fill the memory or crash.

The other process is a new interpreter, never a fork of this one, which may run Java and threads. It imports only what the
format needs, and what it sends back is JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress
from typing import Literal

from retrieval.core.errors import BadInput
from service.checking.readers.passage import Block, Link, Passage, check_length

MOST_SECONDS = 120
"""Of processor time; on a busy machine a file may take longer."""
_PATIENCE = 2
"""How many times that its process is waited for."""
MOST_MEMORY = 1_000_000_000
"""Bytes of address space: more than any file within the other limits was measured to need."""


def read_apart(kind: Literal["docx", "pdf", "html", "markdown"], raw: bytes, name: str) -> Passage:
    """The text of a file; raises `BadInput` for one that cannot be read, or not within the limits on time and memory."""
    command = [sys.executable, "-P", "-m", __name__]
    path = os.pathsep.join(part or os.getcwd() for part in sys.path)
    header = json.dumps([kind, name, MOST_SECONDS, MOST_MEMORY]).encode()
    try:
        reply = subprocess.run(
            command,
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
    fault, text, blocks, links = json.loads(reply)
    if fault:
        raise BadInput(fault)
    return Passage(text, tuple(Block(*one) for one in blocks), tuple(Link(*one) for one in links))


def _main() -> None:
    header, _, raw = sys.stdin.buffer.read().partition(b"\n")
    kind, name, seconds, memory = json.loads(header)
    # Neither is there on every system; the time limit of the process that waits is.
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    try:
        passage = _read(kind, raw, name)
        check_length(passage.text, name)
    except BadInput as error:
        print(json.dumps([str(error), "", [], []]))
        return
    blocks = [(one.start, one.end, one.kind, one.row) for one in passage.blocks]
    links = [(one.start, one.end, one.address) for one in passage.links]
    print(json.dumps(["", passage.text, blocks, links]))


def _read(kind: str, raw: bytes, name: str) -> Passage:
    if kind == "docx":
        from service.checking.readers.docx import read_docx

        return read_docx(raw, name)
    if kind == "pdf":
        from service.checking.readers.pdf import read_pdf

        return read_pdf(raw, name)
    if kind == "html":
        from service.checking.readers.markup import read_html

        return read_html(raw.decode())
    from service.checking.readers.markup import read_markdown

    return read_markdown(raw.decode())


if __name__ == "__main__":
    _main()
