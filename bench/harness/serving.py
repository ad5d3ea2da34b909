"""A service in its own process, as an operator starts it, for measurements from outside."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil

from bench.harness.setting import BenchOptions, claims_of, fresh_cache
from retrieval.core.errors import BadInput
from retrieval.core.values import Claim
from retrieval.index import Index

WARMING = 5
_PATIENCE = 180.0


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
        return sum(one.memory_info().rss for one in (self.process, *self.process.children(recursive=True)))


def draw_claims(options: BenchOptions) -> tuple[list[Claim], list[Claim]]:
    """The claims that warm up a service, and those that it is then asked."""
    index = Index(options.index)
    claims = claims_of(index, options.asked + WARMING, options.seed)
    index.close()
    return claims[:WARMING], claims[WARMING:]


@contextmanager
def run_service(index: Path) -> Iterator[RunningService]:
    """`counterpoint serve` with its defaults over an index, with an empty cache on disk; stopped at the end."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [
        sys.executable,
        "-c",
        "from service.cli.commands import main; main()",
        "serve",
        "--index",
        str(index),
        "--port",
        str(port),
    ]
    began = time.perf_counter()
    with fresh_cache(), subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            yield RunningService(f"http://127.0.0.1:{port}", psutil.Process(process.pid), _ready(process, port, began))
        finally:
            process.terminate()


def _ready(process: subprocess.Popen[bytes], port: int, began: float) -> float:
    while (wait := time.perf_counter() - began) < _PATIENCE and process.poll() is None:
        try:
            if httpx.get(f"http://127.0.0.1:{port}/health").status_code == 200:
                return wait
        except httpx.TransportError:
            pass
        time.sleep(0.02)
    raise BadInput(f"`counterpoint serve` was not ready in {_PATIENCE:g} seconds; start it by hand to see why.")
