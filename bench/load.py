"""Load on a running service: `python -m bench.load http://127.0.0.1:8000 --pid PID --clients 64 --seconds 60`.

Every client grounds one claim after the other; with `--mixed` each in turn also previews it as typed, searches for it, checks a
text with it and reads the history. Clients obey a 503 (Retry-After), and `--leaving` of them hang up on each request after a
second.
Prints the outcomes, the latency of what was answered, the throughput, and the memory of the process with its children in the
first and the last sixth of the time.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import statistics
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx
import psutil

DRUGS = ("Aspirin", "Metformin", "Vitamin D", "Hydrocortisone", "Amiodarone", "Simvastatin", "Insulin", "Tamsulosin")
EFFECTS = ("reduces mortality", "lowers blood pressure", "prevents stroke", "increases the risk of bleeding", "relieves pain")
PATIENTS = ("in diabetes", "in heart failure", "in older adults", "after surgery", "in chronic kidney disease")
CLAIMS = [f"{drug} {effect} {patients}." for drug, effect, patients in itertools.product(DRUGS, EFFECTS, PATIENTS)]


def _post(path: str, key: str, template: str = "{}") -> Asked:
    return lambda claim: ("POST", path, {"json": {key: template.format(claim)}})


Asked = Callable[[str], tuple[str, str, dict[str, Any]]]
"""Maps a claim to a request: its method, its path, and its body or parameters."""

GROUND: Sequence[Asked] = (_post("/v1/ground", "claim"),)
MIXED: Sequence[Asked] = (
    *GROUND,
    _post("/v1/classify", "text"),
    lambda claim: ("GET", "/v1/search", {"params": {"q": claim}}),
    _post("/v1/text", "text", "# Findings\n\nDoes it help? {} We thank our colleagues."),
    lambda _claim: ("GET", "/v1/history", {}),
)


@dataclass
class LoadResult:
    """The results: outcomes by status, seconds of each answer, and (second, bytes) of the service's memory."""

    outcomes: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    memory: list[tuple[float, int]] = field(default_factory=list)


async def client(
    url: str, number: int, until: float, result: LoadResult, patience: float = 120, kinds: Sequence[Asked] = GROUND
) -> None:
    """Send claims one after the other until the time is up, each with the next of the `kinds` of request.

    Hangs up where an answer takes more than `patience` seconds.
    """
    async with httpx.AsyncClient(base_url=url, timeout=patience) as connection:
        claims = itertools.islice(itertools.cycle(CLAIMS), number * 3, None)
        for claim, kind in zip(claims, itertools.islice(itertools.cycle(kinds), number, None), strict=False):
            if time.monotonic() >= until:
                return
            began = time.monotonic()
            method, path, parameters = kind(claim)
            where = f"{path} " if len(kinds) > 1 else ""
            try:
                answer = await connection.request(method, path, **parameters)
            except httpx.HTTPError as error:
                result.outcomes[f"{where}{type(error).__name__}"] += 1
                continue
            hint = " with Retry-After" if "retry-after" in answer.headers else ""
            result.outcomes[f"{where}{answer.status_code}{hint}"] += 1
            if answer.status_code == 200:
                result.seconds.append(time.monotonic() - began)
            elif hint:
                await asyncio.sleep(min(float(answer.headers["retry-after"]), max(0.0, until - time.monotonic())))


async def memory(pid: int, began: float, until: float, result: LoadResult) -> None:
    """Record resident memory once a second."""
    service = psutil.Process(pid)
    while time.monotonic() < until and service.is_running():
        family = [service, *service.children(recursive=True)]
        result.memory.append((time.monotonic() - began, sum(process.memory_info().rss for process in family)))
        await asyncio.sleep(1)


async def load(
    url: str, pid: int, clients: int, seconds: float, impatient_count: int, kinds: Sequence[Asked] = GROUND
) -> LoadResult:
    """Run all clients at once, the first `impatient_count` of them impatient, after one request that warms up the service."""
    result = LoadResult()
    async with httpx.AsyncClient(base_url=url, timeout=120) as connection:
        (await connection.post("/v1/ground", json={"claim": CLAIMS[0]})).raise_for_status()
    began = time.monotonic()
    until = began + seconds
    each = (client(url, number, until, result, 1 if number < impatient_count else 120, kinds) for number in range(clients))
    await asyncio.gather(memory(pid, began, until, result), *each)
    return result


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.load", description="Load on a running service.")
    parser.add_argument("url")
    parser.add_argument("--pid", type=int, required=True, help="the service's process")
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--leaving", type=int, default=0, help="how many of them hang up after a second, again and again")
    parser.add_argument("--mixed", action="store_true", help="ask the other routes too, in turn")
    options = parser.parse_args()
    kinds = MIXED if options.mixed else GROUND
    result = asyncio.run(load(options.url, options.pid, options.clients, options.seconds, options.leaving, kinds))
    sixth = max(options.seconds / 6, 1)
    first = statistics.mean(size for second, size in result.memory if second <= sixth) / 1e6
    last = statistics.mean(size for second, size in result.memory if second >= options.seconds - sixth) / 1e6
    print(f"outcomes: {dict(result.outcomes)}")
    if len(result.seconds) > 1:
        cuts = statistics.quantiles(result.seconds, n=20)
        rate = len(result.seconds) / options.seconds
        print(f"answered {len(result.seconds)}: {rate:.2f} a second, p50 {cuts[9]:.1f} s, p95 {cuts[18]:.1f} s")
    print(f"memory: {first:,.0f} MB in the first sixth, {last:,.0f} MB in the last ({100 * (last / first - 1):+.1f} %)")


if __name__ == "__main__":
    main()
