"""Waiting until a service is ready."""

from __future__ import annotations

import time

from fastapi.testclient import TestClient


def wait_until_ready(client: TestClient) -> None:
    deadline = time.monotonic() + 20
    while client.get("/health").status_code != 200:
        assert time.monotonic() < deadline
        time.sleep(0.02)
