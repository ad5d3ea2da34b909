"""A service as an operator starts it, measured from outside: `python -m bench --index INDEX`.

`ground` asks the default variant over real HTTP about claims that it never saw, then about the same again; `memory` reads what
the service holds after each claim. Each part starts a service of its own with an empty cache on disk.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import signal
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx
import psutil
from tqdm import tqdm

from counterpoint.retrieval.core.errors import BadInput, CounterpointError
from counterpoint.retrieval.core.result_cache import FOLDER_VARIABLE
from counterpoint.retrieval.core.values import Claim
from counterpoint.retrieval.index import Index
from counterpoint.retrieval.store.manifest import write_atomically

ROOT = Path(__file__).parents[1]
WARMING = 5
"""Claims that warm up a service."""
_WORDS = range(8, 41)
_PATIENCE = 180.0


@dataclass(frozen=True)
class RunningService:
    """A running service: its address, its process, and the seconds from its start until it was ready."""

    url: str
    process: psutil.Process
    ready: float

    def ask(self, claims: Sequence[Claim], activity: str) -> Iterator[float]:
        """Ground the claims in turn over one connection; yields the seconds of each, from the request to the whole answer."""
        with httpx.Client(base_url=self.url, timeout=_PATIENCE) as client:
            for claim in tqdm(claims, desc=activity, unit=" claims", disable=None):
                began = time.perf_counter()
                client.post("/v1/ground", json={"claim": claim.text}).raise_for_status()
                yield time.perf_counter() - began

    def memory(self) -> float:
        """Resident gigabytes of the process and its children; the Java machine runs inside the process."""
        family = (self.process, *self.process.children(recursive=True))
        return float(sum(process.memory_info().rss for process in family) / 1e9)


def measure_speed(service: RunningService, claims: Sequence[Claim]) -> dict[str, Any]:
    """The seconds until the service is ready, and those of each claim, in two rounds over the same claims."""
    rounds = {name: list(service.ask(claims, f"ground, {name}")) for name in ("unseen", "repeated")}
    for name, seconds in rounds.items():
        late = statistics.quantiles(seconds, n=20, method="inclusive")[18] if len(seconds) > 1 else seconds[0]
        print(f"{len(claims)} claims, {name}: p50 {statistics.median(seconds):.3g} s, p95 {late:.3g} s")
    return {"ready": service.ready, **rounds}


def measure_memory(service: RunningService, claims: Sequence[Claim]) -> dict[str, Any]:
    """Gigabytes resident when warm and after each claim."""
    warm = service.memory()
    after = [service.memory() for _ in service.ask(claims, "memory")]
    print(
        f"memory: {warm:.3g} GB after {WARMING} claims, {after[-1]:.3g} GB after {len(claims)} more, at most {max(after):.3g} GB"
    )
    return {"warm": warm, "after": after}


PARTS: dict[str, Callable[[RunningService, Sequence[Claim]], dict[str, Any]]] = {
    "ground": measure_speed,
    "memory": measure_memory,
}


@contextmanager
def run_service(index: Path) -> Iterator[RunningService]:
    """`counterpoint serve` with its defaults over an index, with an empty cache on disk; stopped at the end."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    start = "from counterpoint.service.cli.commands import main; main()"
    command = [sys.executable, "-c", start, "serve", "--index", str(index), "--port", str(port)]
    began = time.perf_counter()
    with (
        TemporaryDirectory(prefix="bench-cache-") as cache,
        subprocess.Popen(
            command, env=os.environ | {FOLDER_VARIABLE: cache}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process,
    ):
        try:
            yield RunningService(f"http://127.0.0.1:{port}", psutil.Process(process.pid), _wait_until_ready(process, port, began))
        finally:
            process.terminate()


def _wait_until_ready(process: subprocess.Popen[bytes], port: int, began: float) -> float:
    while (wait := time.perf_counter() - began) < _PATIENCE and process.poll() is None:
        try:
            if httpx.get(f"http://127.0.0.1:{port}/health").status_code == 200:
                return wait
        except httpx.TransportError:
            pass
        time.sleep(0.02)
    raise BadInput(f"`counterpoint serve` was not ready in {_PATIENCE:g} seconds; start it by hand to see why.")


def draw_claims(index: Index, n: int, seed: int) -> list[Claim]:
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


def describe_machine() -> dict[str, Any]:
    """The commit (marked if files differ from it), the processor, its cores, memory and load, and the time."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=10"]
    commit = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return {
        "commit": commit or "unknown",
        "processor": next(names, "") or platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "memory_gb": round(psutil.virtual_memory().total / 1e9, 1),
        "python": platform.python_version(),
        "load_before": os.getloadavg()[0],
        "when": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
    }


def measure(index: Path, parts: Sequence[str], asked: int, seed: int, out: Path) -> None:
    """Measure the parts, print their figures, and write all raw values to `out`."""
    if asked < 1:
        raise BadInput(f"--asked is {asked}; give a number that can be measured.")
    opened = Index(index)
    drawn = draw_claims(opened, asked + WARMING, seed)
    opened.close()
    measured: dict[str, Any] = {
        "machine": describe_machine(),
        "corpus_sha256": opened.manifest.corpus_sha256,
        "documents": opened.manifest.counts.documents,
        "seed": seed,
    }
    for part in parts:
        with run_service(index) as service:
            ready = service.memory()
            print(f"{part}: ready after {service.ready:.3g} s with {ready:.3g} GB")
            list(service.ask(drawn[:WARMING], "warming up"))
            measured[part] = {"ready_gb": ready, **PARTS[part](service, drawn[WARMING:])}
    out.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(out, json.dumps(measured, indent=1) + "\n")
    print(f"Wrote {out}.")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, write; return 2 where something cannot be used."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Speed and memory of a service over an index.")
    parser.add_argument("--index", type=Path, default=ROOT / "indexes/built/demo", help="a built index (the demo index)")
    parser.add_argument("--only", nargs="+", choices=PARTS, metavar="PART", help=f"these parts alone: {', '.join(PARTS)}")
    parser.add_argument("--asked", type=int, default=50, help="how many claims (50)")
    parser.add_argument("--seed", type=int, default=0, help="which claims are drawn")
    parser.add_argument("--out", type=Path, default=ROOT / "build/bench.json", help="where all raw times go (build/bench.json)")
    options = parser.parse_args(arguments)
    try:
        measure(options.index, options.only or list(PARTS), options.asked, options.seed, options.out)
    except CounterpointError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    # When its parent ends it, it stops what it started, as at Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main())
