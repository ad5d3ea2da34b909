"""How figures grow with the corpus: fitted, projected to all of PubMed, and shown as a table.

Growth is fitted twice by least squares: as a power law on the logarithms, y = a·N^b, and as a line, y = a + b·N, a fixed cost
plus a cost per document. Two or three sizes give rough fits; where the two projections differ, the truth may lie anywhere between
them. Nothing is projected to be less than it is at the largest size.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

PUBMED = 27_000_000
"""Documents in PubMed's baseline of the years that TREC BioGen uses, rounded (26,805,982 in the track's own corpus)."""


@dataclass(frozen=True, slots=True)
class CorpusMeasurement:
    """One size. Seconds are wall-clock unless the name says CPU; memory is in bytes; latencies are medians and 95th percentiles.

    `build_rss` and `search_rss` are the peak memory of each process, Java and mapped files included; `build_private` and
    `search_private` leave out the mapped files, which the system reclaims when it needs the memory. `load` is the machine's load
    at the start of the size: where it is above the number of cores, CPU seconds say more than wall-clock time.
    """

    documents: int
    build_seconds: float
    build_cpu_seconds: float
    build_rss: int
    build_private: int
    corpus_bytes: int
    store_bytes: int
    lucene_bytes: int
    search_p50: float
    search_p95: float
    search_cpu_p50: float
    entries_p50: float
    entries_p95: float
    entries_cpu_p50: float
    search_rss: int
    search_private: int
    load: float


# What the table shows: a measure's name, its key, and the format of its figures.
_ROWS: Sequence[tuple[str, str, Callable[[float], str]]] = (
    ("build, wall time", "build_seconds", lambda v: _duration(v)),
    ("build, CPU time", "build_cpu_seconds", lambda v: _duration(v)),
    ("build, memory", "build_rss", lambda v: _size(v)),
    ("build, memory of its own", "build_private", lambda v: _size(v)),
    ("corpus, unpacked", "corpus_bytes", lambda v: _size(v)),
    ("store on disk", "store_bytes", lambda v: _size(v)),
    ("Lucene on disk", "lucene_bytes", lambda v: _size(v)),
    ("BM25 at 1000, p50", "search_p50", lambda v: _duration(v)),
    ("BM25 at 1000, p95", "search_p95", lambda v: _duration(v)),
    ("BM25 at 1000, CPU, p50", "search_cpu_p50", lambda v: _duration(v)),
    ("their sentences, p50", "entries_p50", lambda v: _duration(v)),
    ("their sentences, p95", "entries_p95", lambda v: _duration(v)),
    ("their sentences, CPU, p50", "entries_cpu_p50", lambda v: _duration(v)),
    ("search, memory", "search_rss", lambda v: _size(v)),
    ("search, memory of its own", "search_private", lambda v: _size(v)),
)


def growth(sizes: Sequence[float], values: Sequence[float]) -> tuple[float, float]:
    """The a and b of y = a·N^b by least squares on the logarithms; needs at least two sizes."""
    b, log_a = np.polyfit(np.log(sizes), np.log(values), 1)
    return float(np.exp(log_a)), float(b)


def projection(measurements: Sequence[CorpusMeasurement], n: int = PUBMED) -> dict[str, dict[str, float]]:
    """For each measure, its exponent and the values of the power law and the line at `n` documents."""
    sizes = [float(one.documents) for one in measurements]
    projections = {}
    for _, key, _ in _ROWS:
        values = [float(getattr(one, key)) for one in measurements]
        a, b = growth(sizes, values)
        line = float(np.polyval(np.polyfit(sizes, values, 1), n))
        projections[key] = {"exponent": b, "power": max(values[-1], a * n**b), "line": max(values[-1], line)}
    return projections


def table(measurements: Sequence[CorpusMeasurement]) -> str:
    """The figures and their projections as Markdown."""
    projections = projection(measurements) if len(measurements) > 1 else {}
    heads = [f"{one.documents:,} documents" for one in measurements]
    more = ["grows with N to the", f"{PUBMED:,}, by the power", "by the line"] if projections else []
    lines = [f"| | {' | '.join([*heads, *more])} |", "|---" * (1 + len(heads) + len(more)) + "|"]
    for name, key, formatter in _ROWS:
        cells = [formatter(getattr(one, key)) for one in measurements]
        if projections:
            row = projections[key]
            cells += [f"{row['exponent']:.2f}", formatter(row["power"]), formatter(row["line"])]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    loads = ", ".join(f"{one.load:.1f}" for one in measurements)
    lines.append(f"\nMeasured on {os.cpu_count()} cores ({_processor()}) under a load of {loads} as each size began.")
    return "\n".join(lines)


def _duration(seconds: float) -> str:
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 120:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def _size(count: float) -> str:
    return f"{count / 1e6:,.0f} MB" if count < 1e9 else f"{count / 1e9:,.1f} GB"


def _processor() -> str:
    names = [line.partition(":")[2].strip() for line in _lines(Path("/proc/cpuinfo")) if line.startswith("model name")]
    return names[0] if names else "unknown"


def _lines(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines() if path.exists() else []
