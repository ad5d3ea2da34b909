"""Resident memory of a service on the index, the Java machine included: warm, and after fifty more claims."""

from __future__ import annotations

from typing import Any

from tqdm import tqdm

from bench.harness.serving import WARMING, draw_claims, run_service
from bench.harness.setting import BenchOptions, BenchRow, amount

OPTIONS = ("asked", "seed")
BAR = 2.5e9


def run(options: BenchOptions) -> dict[str, Any]:
    """Bytes when ready, after the claims that warm it up, and after each further claim."""
    # Other claims than those whose time is measured would change nothing; the service is another one.
    warm_up, claims = draw_claims(options)
    with run_service(options.index) as service:
        ready = service.memory()
        list(service.ask(warm_up))
        warm = service.memory()
        requests = tqdm(service.ask(claims), desc="memory", total=options.asked, unit=" claims", disable=None)
        return {"ready": ready, "warm": warm, "after": [service.memory() for _ in requests]}


def rows(result: dict[str, Any]) -> list[BenchRow]:
    """Warm, at the end, and at the peak."""
    sizes, gb = result["after"], 1e9
    most = max(sizes)
    return [
        BenchRow(
            f"memory of the service after {len(sizes)} claims (RSS, Java included)",
            "",
            amount(sizes[-1] / gb, "GB"),
            "",
            "2.5 GB",
            most <= BAR,
        ),
        BenchRow("– ready, before any claim", "", amount(result["ready"] / gb, "GB"), ""),
        BenchRow(f"– warm, after {WARMING} claims", "", amount(result["warm"] / gb, "GB"), ""),
        BenchRow("– the most after any claim", "", amount(most / gb, "GB"), ""),
    ]
