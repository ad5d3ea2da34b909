"""A service as an operator starts it, measured from outside: the parts `ground` and `memory`.

`ground` asks our variant over real HTTP about claims that it never saw, then about the same again; then the plain pipeline
(bench.plain) answers the first of these claims in this process, so that a ratio compares both on one machine at one time.
"""

from __future__ import annotations

import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psutil
from tqdm import tqdm

from bench.harness import START, BenchOptions, Part, claims_of, fresh_cache
from bench.report import BenchRow, amount, ratio_row
from retrieval.core.errors import BadInput
from retrieval.core.values import Claim
from retrieval.index import Index

WARMING = 5
"""Claims that warm up a service."""
_PATIENCE = 180.0
_MOST_MEMORY = 2.5e9


@dataclass(frozen=True)
class RunningService:
    """A running service: its address, its process, and the seconds from its start until it was ready."""

    url: str
    process: psutil.Process
    ready: float

    def ask(self, claims: Sequence[Claim]) -> Iterator[float]:
        """Ground the claims in turn over one connection; yields the seconds of each, from the request to the whole answer."""
        with httpx.Client(base_url=self.url, timeout=_PATIENCE) as client:
            for claim in claims:
                began = time.perf_counter()
                client.post("/v1/ground", json={"claim": claim.text}).raise_for_status()
                yield time.perf_counter() - began

    def memory(self) -> int:
        """Resident bytes of the process and its children; the Java machine runs inside the process."""
        return sum(process.memory_info().rss for process in (self.process, *self.process.children(recursive=True)))


@contextmanager
def run_service(index: Path) -> Iterator[RunningService]:
    """`counterpoint serve` with its defaults over an index, with an empty cache on disk; stopped at the end."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-c", START, "serve", "--index", str(index), "--port", str(port)]
    began = time.perf_counter()
    with fresh_cache(), subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
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


def ground(options: BenchOptions) -> dict[str, Any]:
    """The seconds of every request, in two rounds over the same claims, and those of the plain pipeline for the first of them."""
    from bench.plain import open_plain

    index = Index(options.index)
    drawn = claims_of(index, options.asked + WARMING, options.seed)
    warm_up, claims = drawn[:WARMING], drawn[WARMING:]
    with run_service(options.index) as service:
        list(service.ask(warm_up))
        seconds = {
            name: list(tqdm(service.ask(claims), desc=f"/ground, {name}", total=len(claims), unit=" claims", disable=None))
            for name in ("unseen", "repeated")
        }
    plain = open_plain(index, warm_up[0])
    seconds["plain"] = [plain.seconds(claim) for claim in tqdm(claims[: options.claims], desc="plain V5", disable=None)]
    index.close()
    return {"ready": service.ready, **seconds}


def ground_rows(result: dict[str, Any]) -> list[BenchRow]:
    """The ratio to the plain pipeline, p50 and p95 of both rounds, and the start-up time."""
    n = len(result["unseen"])
    median, late = _find_quantiles(result["unseen"])
    repeat_median, repeat_late = _find_quantiles(result["repeated"])
    claims = f"p50 of {n} claims it never saw"
    plain = result["plain"]
    return [
        BenchRow(f"`/ground`, our variant, warm service, {claims}", "", amount(median, "s"), "", "1 s", median <= 1),
        BenchRow("– p95", "", amount(late, "s"), ""),
        BenchRow("– the same claims again: p50", "", amount(repeat_median, "s"), ""),
        BenchRow("– the same claims again: p95", "", amount(repeat_late, "s"), ""),
        ratio_row(f"– plain V5 on the first {len(plain)} of them, p50", plain, result["unseen"][: len(plain)], "s"),
        BenchRow("– `counterpoint serve`, from its start until it is ready", "", amount(result["ready"], "s"), ""),
    ]


def _find_quantiles(seconds: list[float]) -> tuple[float, float]:
    """p50 and p95."""
    return statistics.median(seconds), statistics.quantiles(seconds, n=20, method="inclusive")[18]


def memory(options: BenchOptions) -> dict[str, Any]:
    """Bytes resident, the Java machine included: when ready, after the claims that warm it up, and after each further claim."""
    index = Index(options.index)
    claims = claims_of(index, options.asked + WARMING, options.seed)
    index.close()
    with run_service(options.index) as service:
        ready = service.memory()
        list(service.ask(claims[:WARMING]))
        warm = service.memory()
        requests = tqdm(service.ask(claims[WARMING:]), desc="memory", total=options.asked, unit=" claims", disable=None)
        return {"ready": ready, "warm": warm, "after": [service.memory() for _ in requests]}


def memory_rows(result: dict[str, Any]) -> list[BenchRow]:
    """Warm, at the end, and at the peak."""
    sizes, most = result["after"], max(result["after"])

    def row(measure: str, size: float) -> BenchRow:
        return BenchRow(measure, "", amount(size / 1e9, "GB"), "")

    after = f"memory of the service after {len(sizes)} claims (RSS, Java included)"
    return [
        BenchRow(after, "", amount(sizes[-1] / 1e9, "GB"), "", "2.5 GB", most <= _MOST_MEMORY),
        row("– ready, before any claim", result["ready"]),
        row(f"– warm, after {WARMING} claims", result["warm"]),
        row("– the most after any claim", most),
    ]


GROUND = Part(("asked", "claims", "seed"), ground, ground_rows)
MEMORY = Part(("asked", "seed"), memory, memory_rows)
