"""`/ground` with our variant on a warm service, over real HTTP: claims that it never saw, then the same claims again."""

from __future__ import annotations

import statistics
from typing import Any

from tqdm import tqdm

from bench.harness.serving import draw_claims, run_service
from bench.harness.setting import BenchOptions, BenchRow, amount

OPTIONS = ("asked", "seed")


def run(options: BenchOptions) -> dict[str, Any]:
    """The seconds of every request, in two rounds over the same claims."""
    warm_up, claims = draw_claims(options)
    with run_service(options.index) as service:
        list(service.ask(warm_up))
        seconds = {
            name: list(tqdm(service.ask(claims), desc=f"/ground, {name}", total=len(claims), unit=" claims", disable=None))
            for name in ("unseen", "repeated")
        }
        return {"ready": service.ready, **seconds}


def rows(result: dict[str, Any]) -> list[BenchRow]:
    """p50 and p95 of both rounds, and the start-up time."""
    n = len(result["unseen"])
    median, late = quantiles(result["unseen"])
    repeat_median, repeat_late = quantiles(result["repeated"])
    return [
        BenchRow(
            f"`/ground`, our variant, warm service, p50 of {n} claims it never saw",
            "",
            amount(median, "s"),
            "",
            "1 s",
            median <= 1,
        ),
        BenchRow("– p95", "", amount(late, "s"), ""),
        BenchRow("– the same claims again: p50", "", amount(repeat_median, "s"), ""),
        BenchRow("– the same claims again: p95", "", amount(repeat_late, "s"), ""),
        BenchRow("– `counterpoint serve`, from its start until it is ready", "", amount(result["ready"], "s"), ""),
    ]


def quantiles(seconds: list[float]) -> tuple[float, float]:
    """p50 and p95."""
    return statistics.median(seconds), statistics.quantiles(seconds, n=20, method="inclusive")[18]
