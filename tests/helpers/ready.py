"""Waiting until something has happened."""

from __future__ import annotations

import time
from collections.abc import Callable

from fastapi.testclient import TestClient


def wait_until(has_happened: Callable[[], object], seconds: float = 120, said: str = "") -> None:
    """Return as soon as it has; fail after so many seconds."""
    deadline = time.monotonic() + seconds
    while not has_happened():
        assert time.monotonic() < deadline, said
        time.sleep(0.01)


def wait_until_ready(client: TestClient) -> None:
    wait_until(lambda: client.get("/health").status_code == 200)
