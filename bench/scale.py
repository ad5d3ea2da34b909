"""How builds and searches grow with the corpus, measured on generated ones, and what that says of all of PubMed.

`python -m bench.scale FOLDER --like INDEX --sizes 25000 100000 1000000 --doc docs/pubmed.md`: for each size a corpus like INDEX's
is generated (bench.generate), built, and searched as a contradiction branch does it, a thousand documents deep with their
sentences. What is measured stands in FOLDER/scale.json at once, and a stopped command goes on with the next size.

Growth is fitted twice by least squares: as a power law on the logarithms, y = a·N^b, and as a line, y = a + b·N, a fixed cost and
one for each document. Two or three sizes make rough fits; where the two projections differ the truth is unknown between them.
Nothing is projected to be less than it is at the largest size.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import shutil
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from bench.generate import DEMO, FIRST_ID, generate
from retrieval.core.errors import BadInput, CounterpointError
from retrieval.index import Index
from retrieval.store.manifest import LUCENE, STORE, read_manifest, write_atomically

PUBMED = 27_000_000
"""Documents in PubMed's baseline of the years that TREC BioGen uses, roundly (26,805,982 in the track's own corpus)."""
BEGIN, END = "<!-- measured: python -m bench.scale -->", "<!-- /measured -->"
_DEPTH = 1000
_WARM_UP, _QUERIES = 40, 200
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Measured:
    """One size. Seconds are of the clock where no name says CPU; bytes; latencies are medians and 95th percentiles.

    `build_rss` and `search_rss` are the most memory that each process took, Java and mapped files included; `build_private` and
    `search_private` leave out the mapped files, which the system takes back when it needs the room. `load` is the machine's as
    the size began: where it is above the number of cores, the CPU seconds say more than the clock.
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


# What the table shows: a measure's name, its key, and how a figure of it is written.
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


def measure(n: int, folder: Path, source: Path) -> Measured:
    """Generate, build and search a corpus of `n` documents like those of `source`; what it makes stays in `folder`."""
    corpus, index = folder / f"{n}.jsonl", folder / f"{n}.index"
    if not corpus.exists():
        generate(n, corpus, source)
    # A build that goes on where another stopped would be timed too short.
    for old in (index, index.parent / f".{index.name}.building"):
        shutil.rmtree(old, ignore_errors=True)
    load = os.getloadavg()[0]
    built = _apart(_built, corpus, index)
    found = _apart(_searched, index, n)
    data = index / read_manifest(index).data
    return Measured(
        documents=n,
        corpus_bytes=corpus.stat().st_size,
        store_bytes=(data / STORE).stat().st_size,
        lucene_bytes=sum(file.stat().st_size for file in (data / LUCENE).iterdir()),
        load=load,
        **built,
        **found,
    )


def _apart(work: Callable[..., _Result], *arguments: Any) -> _Result:
    """Run `work` in a fresh process, so that its memory and its Java machine are its own."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(work, *arguments).result()


def _built(corpus: Path, index: Path) -> dict[str, Any]:
    """Seconds, CPU seconds and the largest memory of a build."""
    from indexes.build import build

    done, private = threading.Event(), [0]

    def watch() -> None:
        while not done.wait(0.2):
            private[0] = max(private[0], _private_bytes())

    watching = threading.Thread(target=watch)
    watching.start()
    began = time.monotonic()
    try:
        build([corpus], index, format="counterpoint")
    finally:
        seconds = time.monotonic() - began
        done.set()
        watching.join()
    used = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "build_seconds": seconds,
        "build_cpu_seconds": used.ru_utime + used.ru_stime,
        "build_rss": used.ru_maxrss * 1024,
        "build_private": private[0],
    }


def _searched(folder: Path, n: int) -> dict[str, Any]:
    """Latencies over sentences of the index's own documents as claims, the first of them not counted, and memory."""
    index = Index(folder)
    some = np.random.default_rng(1).integers(n, size=_WARM_UP + _QUERIES).tolist()
    claims = [entry.sentences()[0].text for entry in index.entries([str(FIRST_ID + number) for number in some]) if len(entry)]
    latencies: dict[str, list[float]] = {name: [] for name in ("search", "search_cpu", "entries", "entries_cpu")}
    for claim in claims:
        clock, cpu = [time.perf_counter()], [time.process_time()]
        hits = index.search(claim, _DEPTH)
        clock.append(time.perf_counter())
        cpu.append(time.process_time())
        for entry in index.entries([hit.pmid for hit in hits]):
            entry.cue_sentences()
        clock.append(time.perf_counter())
        cpu.append(time.process_time())
        for at, name in enumerate(("search", "entries")):
            latencies[name].append(clock[at + 1] - clock[at])
            latencies[f"{name}_cpu"].append(cpu[at + 1] - cpu[at])
    index.close()
    counted = {name: seconds[_WARM_UP:] for name, seconds in latencies.items()}
    return {
        **{f"{name}_p50": statistics.median(seconds) for name, seconds in counted.items()},
        **{f"{name}_p95": statistics.quantiles(counted[name], n=20)[-1] for name in ("search", "entries")},
        "search_rss": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "search_private": _private_bytes(),
    }


def _private_bytes() -> int:
    """The memory of this process without the files that are mapped into it."""
    for line in Path("/proc/self/status").read_text("utf-8").splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024
    return 0


def growth(sizes: Sequence[float], values: Sequence[float]) -> tuple[float, float]:
    """The a and b of y = a·N^b by least squares on the logarithms; needs at least two sizes."""
    b, log_a = np.polyfit(np.log(sizes), np.log(values), 1)
    return float(np.exp(log_a)), float(b)


def projection(measured: Sequence[Measured], n: int = PUBMED) -> dict[str, dict[str, float]]:
    """For each measure its exponent and what the power law and the line give at `n` documents."""
    sizes = [float(one.documents) for one in measured]
    found = {}
    for _, key, _ in _ROWS:
        values = [float(getattr(one, key)) for one in measured]
        a, b = growth(sizes, values)
        line = float(np.polyval(np.polyfit(sizes, values, 1), n))
        found[key] = {"exponent": b, "power": max(values[-1], a * n**b), "line": max(values[-1], line)}
    return found


def table(measured: Sequence[Measured], n: int = PUBMED) -> str:
    """The figures and their projections as Markdown."""
    projected = projection(measured, n) if len(measured) > 1 else {}
    heads = [f"{one.documents:,} documents" for one in measured]
    more = ["grows with N to the", f"{n:,}, by the power", "by the line"] if projected else []
    lines = [f"| | {' | '.join([*heads, *more])} |", "|---" * (1 + len(heads) + len(more)) + "|"]
    for name, key, shown in _ROWS:
        cells = [shown(getattr(one, key)) for one in measured]
        if projected:
            row = projected[key]
            cells += [f"{row['exponent']:.2f}", shown(row["power"]), shown(row["line"])]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    loads = ", ".join(f"{one.load:.1f}" for one in measured)
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


def put_between_markers(path: Path, text: str) -> None:
    """Replace what stands between the two markers of a document; raises `BadInput` where it has none."""
    whole = path.read_text("utf-8") if path.exists() else ""
    before, begin, rest = whole.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise BadInput(f"{path} has no place for the table; put the lines {BEGIN} and {END} where it should stand.")
    write_atomically(path, f"{before}{BEGIN}\n{text}\n{END}{after}")


def scale(folder: Path, sizes: Sequence[int], source: Path) -> list[Measured]:
    """Measure every size that FOLDER has no figures of yet, smallest first; all of them, by size."""
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / "scale.json"
    made_of = str(source.resolve())
    known: dict[str, Any] = {"like": made_of, "measured": []}
    if kept.exists():
        known = json.loads(kept.read_text("utf-8"))
    if known["like"] != made_of:
        raise BadInput(f"{kept} has figures of corpora like {known['like']}; name another folder for ones like {made_of}.")
    measured = {one["documents"]: Measured(**one) for one in known["measured"]}
    for n in sorted(sizes):
        if n not in measured:
            print(f"Measuring {n:,} documents.", file=sys.stderr)
            measured[n] = measure(n, folder, source)
            ordered = sorted(measured.values(), key=lambda one: one.documents)
            report: dict[str, Any] = {"like": made_of, "measured": [asdict(one) for one in ordered]}
            if len(ordered) > 1:
                report[f"projection to {PUBMED:,}"] = projection(ordered)
            write_atomically(kept, json.dumps(report, indent=2) + "\n")
    return [measured[n] for n in sorted(set(sizes))]


def pyserini_seconds(corpus: Path, folder: Path) -> tuple[float, float]:
    """Seconds and CPU seconds that Pyserini's own indexer takes for the texts of a generated corpus, one segment at the end.

    It makes neither sentences nor cues nor a store of texts. Its input, one file of id and contents, is written first, untimed.
    """
    from retrieval.bm25.java import executable

    source, out = folder / f"{corpus.stem}.contents", folder / f"{corpus.stem}.pyserini"
    shutil.rmtree(out, ignore_errors=True)
    source.mkdir(exist_ok=True)
    with corpus.open(encoding="utf-8") as given, (source / "contents.jsonl").open("w", encoding="utf-8") as written:
        for line in given:
            record = json.loads(line)
            written.write(json.dumps({"id": record["pmid"], "contents": f"{record['title']} {record['abstract']}"}) + "\n")
    began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        # Its buffer alone is larger than the heap that our searches have.
        [*executable("4g"), "io.anserini.index.IndexCollection", "-collection", "JsonCollection", "-input", str(source),
         "-index", str(out), "-threads", str(os.cpu_count()), "-keepStopwords", "-optimize"],
        check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.monotonic() - began, used


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="Measure how index builds and searches grow with the corpus.")
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where corpora, indexes and scale.json stand")
    parser.add_argument("--sizes", type=int, nargs="+", default=[25_000, 100_000], metavar="N")
    parser.add_argument("--like", type=Path, default=DEMO, metavar="SOURCE", help="an index or a file of documents")
    parser.add_argument("--doc", type=Path, metavar="MD", help="put the table between the markers of this document")
    parser.add_argument("--pyserini", action="store_true", help="time Pyserini's own indexer on each size, too")
    given = parser.parse_args()
    try:
        if min(given.sizes) < 1000:
            raise BadInput(f"A size is at least 1,000 documents, as many as a search is deep, not {min(given.sizes)}.")
        measured = scale(given.folder, given.sizes, given.like)
        text = table(measured)
        print(text)
        if given.doc:
            put_between_markers(given.doc, text)
        for one in measured if given.pyserini else ():
            seconds, cpu = pyserini_seconds(given.folder / f"{one.documents}.jsonl", given.folder)
            print(
                f"Pyserini, {one.documents:,} documents: {seconds:.1f} s, {cpu:.1f} CPU s; ours {one.build_seconds:.1f} s, "
                f"{one.build_cpu_seconds:.1f} CPU s: {seconds / one.build_seconds:.2f} of its speed."
            )
    except CounterpointError as error:
        print(f"Error: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("Stopped; the sizes that were measured are kept, and the same command goes on.", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
