"""A process in which one change to the disk fails: it dies there as by `kill -9`, or finds the disk full from there on.

Changes are counted where Python reports them (audit hooks): files opened for writing, renamed or removed, folders made or
removed. Jobs run here in the process itself, so that a fault may strike any of their steps.
"""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

ROOT = Path(__file__).parents[2]
How = Literal["killed", "full", "never"]
_CHANGES = ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "shutil.rmtree")


def strike(folder: Path, operation: str, library: str, how: How, at: int) -> tuple[int, list[str]]:
    """Run an operation on a library in a process of its own, with a fault at its change number `at`, from 0; returns how the
    process ended, and the changes before, each as what was done to which file."""
    trace = folder.parent / "trace"
    trace.unlink(missing_ok=True)
    command = [sys.executable, "-m", __name__, str(folder), operation, library, how, str(at), str(trace)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode in (0, -signal.SIGKILL), ended.stderr
    return ended.returncode, trace.read_text("utf-8").splitlines() if trace.exists() else []


def run_here(runner: Any, step: Any, report: Any, lock: int) -> bool:
    """In place of `Runner._run_step`: the same command, in this process."""
    from counterpoint.retrieval.core.errors import CounterpointError
    from tests.helpers.commands import call

    report.show(step.stage)
    result = call("index", *step.arguments)
    if result.exit_code:
        last = result.stderr.strip().splitlines()[-1:] or [repr(result.exception)]
        raise CounterpointError(last[0].removeprefix("Error: "))
    return True


def _watch(folder: Path, how: How, at: int, trace: Path) -> None:
    count, out = 0, os.open(trace, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def see(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal count
        writes = event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        if not (event in _CHANGES or writes) or not isinstance(arguments[0], str | os.PathLike):
            return
        path = os.fspath(arguments[0])
        # The lists of jobs and the locks change all the time, and nothing depends on when.
        if not str(path).startswith(str(folder)) or str(path).endswith(("lock", "jobs.sqlite")):
            return
        if count >= at and how == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if count >= at and how == "full" and (event in ("os.mkdir", "os.rename") or writes):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        count += 1
        os.write(out, f"{event} {os.path.relpath(path, folder)}\n".encode())

    sys.addaudithook(see)


def main(folder: Path, operation: str, library: str, how: How, at: int, trace: Path) -> None:
    """Do one operation, struck."""
    from counterpoint.service.memory.memory import open_memory
    from counterpoint.service.operating.jobs import Jobs, Runner
    from counterpoint.service.operating.libraries import Libraries
    from counterpoint.service.operating.uploads import add_chunk, name_draft

    libraries = Libraries(folder=folder)
    memory = open_memory(folder.parent / "state")
    assert memory
    runner = Runner(Jobs(folder), libraries.find_place, "embedded", libraries.refresh, forget=memory.forget_library)
    Runner._run_step = run_here  # type: ignore[assignment,method-assign]

    def upload() -> None:
        data = (folder.parent / "more.jsonl").read_bytes()
        id = ""
        for start in range(0, len(data), 100):
            part = data[start : start + 100]
            id = add_chunk(name_draft(folder, library), "more.jsonl", part, start, len(data), 1_000_000, id).upload

    def delete() -> None:
        runner.jobs.forget(library)
        libraries.delete(library)
        runner.clear(library)

    operations: dict[str, Callable[[], object]] = {"upload": upload, "delete": delete, "job": runner.run_waiting}
    _watch(folder, how, at, trace)
    try:
        operations[operation]()
    except Exception as error:
        if how != "full":
            raise
        print(json.dumps(str(error)))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4], int(sys.argv[5]), Path(sys.argv[6]))  # type: ignore[arg-type]
