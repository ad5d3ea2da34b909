"""Metrics for Prometheus: requests, stages, the queue, what was read and what a language model was asked.

With several workers each process counts into files of PROMETHEUS_MULTIPROC_DIR, and /metrics adds them up.
"""

from __future__ import annotations

import os
import time

from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from counterpoint.retrieval.core import result_cache
from counterpoint.retrieval.core.values import Usage
from counterpoint.retrieval.runtime import usage

_SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120, 300)

REQUESTS = Histogram(
    "counterpoint_request_seconds", "Seconds a request took, by route.", ["method", "route", "status"], buckets=_SECONDS
)
STAGES = Histogram("counterpoint_stage_seconds", "Seconds a stage of the work took.", ["work", "stage"], buckets=_SECONDS)
WAITING = Gauge("counterpoint_queue_waiting", "Requests waiting for a thread.", multiprocess_mode="livesum")
WORKING = Gauge("counterpoint_queue_working", "Requests in progress.", multiprocess_mode="livesum")
REFUSED = Counter("counterpoint_refused_total", "Requests refused because the queue was full or the key was missing.", ["reason"])
LEFT = Counter("counterpoint_left_total", "Jobs stopped because their client had left.")
READ = Counter("counterpoint_read_sentences_total", "Sentences that were read for a claim.")
LLM_TOKENS = Counter("counterpoint_llm_tokens_total", "Tokens of language models, by their own counts or estimated.", ["kind"])
LLM_REQUESTS = Counter("counterpoint_llm_requests_total", "Requests sent to language models, the refused and repeated ones too.")
KEPT = Counter("counterpoint_kept_results_total", "Lookups in the cache on disk, by kind of result.", ["kind", "outcome"])
WATCHED = Counter("counterpoint_watched_claims_total", "Saved claims grounded again since the index changed.")
ALERTS = Counter("counterpoint_alerts_total", "Alerts told for saved claims.")
RELOADS = Counter("counterpoint_index_reloads_total", "Checks for a changed index, by outcome.", ["outcome"])


def _count_look_ups(kind: str, hits: int, misses: int) -> None:
    KEPT.labels(kind=kind, outcome="hit").inc(hits)
    KEPT.labels(kind=kind, outcome="miss").inc(misses)


def _count_usage(used: Usage) -> None:
    LLM_REQUESTS.inc(used.requests)
    LLM_TOKENS.labels(kind="prompt").inc(used.prompt_tokens)
    LLM_TOKENS.labels(kind="completion").inc(used.completion_tokens)


result_cache.observers.append(_count_look_ups)
usage.observers.append(_count_usage)


def exposition() -> tuple[bytes, str]:
    """The body of /metrics, and its media type."""
    if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
        return generate_latest(REGISTRY), CONTENT_TYPE_LATEST
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return generate_latest(registry), CONTENT_TYPE_LATEST


class StageClock:
    """Times the stages of one piece of work: each ends when the next begins."""

    def __init__(self, work: str) -> None:
        self._work, self._stage, self._since = work, "", time.perf_counter()

    def begin(self, stage: str) -> None:
        """Begin a stage; "" ends the last one."""
        now = time.perf_counter()
        if self._stage:
            STAGES.labels(work=self._work, stage=self._stage).observe(now - self._since)
        self._stage, self._since = stage, now
