"""How builds and searches grow with the corpus, measured on generated corpora, and what that implies for all of PubMed.

`python -m bench.scale FOLDER --like INDEX --sizes 25000 100000 1000000 --doc docs/research/scale.md`: for each size a corpus like INDEX's
is generated (bench.generate), built, and searched as a contradiction branch does it, a thousand documents deep with their
sentences. Each size is kept in FOLDER at once, by the source's content, Java's heap and the code, and a stopped command goes on
with the next size; FOLDER/scale.json reports all of them. bench.growth fits the figures and makes the table.
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
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from bench.generate import DEMO, FIRST_ID, generate
from bench.growth import PUBMED, CorpusMeasurement, projection, table
from bench.harness.between import Markers
from retrieval.bm25.java import get_heap_size
from retrieval.core.code_hash import hash_code
from retrieval.core.errors import GO_ON, BadInput, CounterpointError, translate_write_errors
from retrieval.index import Index
from retrieval.store.journal import Journal, Origin, hash_file
from retrieval.store.manifest import LUCENE, STORE, read_manifest, write_atomically

TABLE = Markers("<!-- measured: python -m bench.scale -->", "<!-- /measured -->")
_DEPTH = 1000
_WARM_UP, _QUERIES = 40, 200
_Result = TypeVar("_Result")


def measure(n: int, folder: Path, source: Path) -> CorpusMeasurement:
    """Generate, build and search a corpus of `n` documents like those of `source`; what it makes stays in `folder`."""
    corpus, index = find_corpus(n, folder, source), folder / f"{n}.index"
    if not corpus.exists():
        generate(n, corpus, source)
    # A build that resumed an earlier one would look too fast.
    for old in (index, index.parent / f".{index.name}.building"):
        shutil.rmtree(old, ignore_errors=True)
    load = os.getloadavg()[0]
    build_figures = _run_apart(_measure_build, corpus, index)
    search_figures = _run_apart(_measure_search, index, n)
    data = index / read_manifest(index).data
    return CorpusMeasurement(
        documents=n,
        corpus_bytes=corpus.stat().st_size,
        store_bytes=(data / STORE).stat().st_size,
        lucene_bytes=sum(file.stat().st_size for file in (data / LUCENE).iterdir()),
        load=load,
        **build_figures,
        **search_figures,
    )


def _run_apart(work: Callable[..., _Result], *arguments: Any) -> _Result:
    """Run `work` in a fresh process, so that its memory and its Java machine are its own."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(work, *arguments).result()


def _measure_build(corpus: Path, index: Path) -> dict[str, Any]:
    """Seconds, CPU seconds and peak memory of a build."""
    from indexes.build import build

    end, private = threading.Event(), [0]

    def watch() -> None:
        while not end.wait(0.2):
            private[0] = max(private[0], _private_bytes())

    watcher = threading.Thread(target=watch)
    watcher.start()
    began = time.monotonic()
    try:
        build([corpus], index, format="counterpoint")
    finally:
        seconds = time.monotonic() - began
        end.set()
        watcher.join()
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "build_seconds": seconds,
        "build_cpu_seconds": usage.ru_utime + usage.ru_stime,
        "build_rss": usage.ru_maxrss * 1024,
        "build_private": private[0],
    }


def _measure_search(folder: Path, n: int) -> dict[str, Any]:
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
    samples = {name: seconds[_WARM_UP:] for name, seconds in latencies.items()}
    return {
        **{f"{name}_p50": statistics.median(seconds) for name, seconds in samples.items()},
        **{f"{name}_p95": statistics.quantiles(samples[name], n=20)[-1] for name in ("search", "entries")},
        "search_rss": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "search_private": _private_bytes(),
    }


def _private_bytes() -> int:
    """The memory of this process without the files that are mapped into it."""
    for line in Path("/proc/self/status").read_text("utf-8").splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024
    return 0


def scale(folder: Path, sizes: Sequence[int], source: Path) -> list[CorpusMeasurement]:
    """Measure every size that FOLDER has no figures of yet, smallest first; all of them, by size.

    Raises `BadInput` or `IndexUnusable` where the source cannot be read.
    """
    origin = Origin(_identify(source), {"heap": get_heap_size()}, hash_code(["bench.scale"]))
    with translate_write_errors("the figures", folder, GO_ON):
        journal = Journal.of(origin, folder, "scale")
        for n in sorted(sizes):
            if journal.get(str(n)) is None:
                print(f"Measuring {n:,} documents.", file=sys.stderr)
                journal.add(str(n), asdict(measure(n, folder, source)))
                _report(folder, source, journal)
    return [CorpusMeasurement(**journal.get(str(n))) for n in sorted(set(sizes))]


def find_corpus(n: int, folder: Path, source: Path) -> Path:
    """The path of the corpus of `n` documents like those of `source`, from the content of the source and the generator's code."""
    return Origin(_identify(source), n, hash_code(["bench.generate"])).path(folder, str(n), ".jsonl")


def _identify(source: Path) -> Any:
    """An identifier of the content of an index or a file of documents."""
    if source.is_dir():
        manifest = read_manifest(source)
        return [manifest.id, manifest.version, manifest.created]
    return hash_file(source)


def _report(folder: Path, source: Path, journal: Journal) -> None:
    """Write FOLDER/scale.json: every size measured so far, and the projection to all of PubMed."""
    measurements = [CorpusMeasurement(**journal.get(n)) for n in sorted(journal.records, key=int)]
    report: dict[str, Any] = {"like": str(source.resolve()), "measured": [asdict(one) for one in measurements]}
    if len(measurements) > 1:
        report[f"projection to {PUBMED:,}"] = projection(measurements)
    write_atomically(folder / "scale.json", json.dumps(report, indent=2) + "\n")


def pyserini_seconds(corpus: Path, folder: Path) -> tuple[float, float]:
    """Seconds and CPU seconds that Pyserini's own indexer takes for the texts of a generated corpus, one segment at the end.

    It makes neither sentences nor cues nor a store of texts. Its input, one file of id and contents, is written first, untimed.
    """
    from retrieval.bm25.java import make_java_command

    source, out = folder / f"{corpus.stem}.contents", folder / f"{corpus.stem}.pyserini"
    shutil.rmtree(out, ignore_errors=True)
    source.mkdir(exist_ok=True)
    with corpus.open(encoding="utf-8") as lines, (source / "contents.jsonl").open("w", encoding="utf-8") as target:
        for line in lines:
            record = json.loads(line)
            target.write(json.dumps({"id": record["pmid"], "contents": f"{record['title']} {record['abstract']}"}) + "\n")
    began, old_usage = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        # Its buffer alone is larger than the heap that our searches have.
        [*make_java_command("4g"), "io.anserini.index.IndexCollection", "-collection", "JsonCollection", "-input", str(source),
         "-index", str(out), "-threads", str(os.cpu_count()), "-keepStopwords", "-optimize"],
        check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    new_usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_seconds = new_usage.ru_utime + new_usage.ru_stime - old_usage.ru_utime - old_usage.ru_stime
    return time.monotonic() - began, cpu_seconds


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="Measure how index builds and searches grow with the corpus.")
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where corpora, indexes and scale.json stand")
    parser.add_argument("--sizes", type=int, nargs="+", default=[25_000, 100_000], metavar="N")
    parser.add_argument("--like", type=Path, default=DEMO, metavar="SOURCE", help="an index or a file of documents")
    parser.add_argument("--doc", type=Path, metavar="MD", help="put the table between the markers of this document")
    parser.add_argument("--pyserini", action="store_true", help="time Pyserini's own indexer on each size, too")
    options = parser.parse_args()
    try:
        if min(options.sizes) < 1000:
            raise BadInput(f"A size is at least 1,000 documents, as many as a search is deep, not {min(options.sizes)}.")
        measurements = scale(options.folder, options.sizes, options.like)
        text = table(measurements)
        print(text)
        if options.doc:
            TABLE.replace(options.doc, text)
        for one in measurements if options.pyserini else ():
            seconds, cpu = pyserini_seconds(find_corpus(one.documents, options.folder, options.like), options.folder)
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
