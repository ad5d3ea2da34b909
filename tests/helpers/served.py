"""A service on a real port, for what only a real connection shows."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import uvicorn
from fastapi import FastAPI

from retrieval.index import Index
from service.http.app import create_app
from service.operating.settings import Settings
from tests.helpers.answer_fakes import make_answerer
from tests.helpers.fakes import make_grounder


def over_fakes(folder: Path, settings: Settings | None = None) -> FastAPI:
    """The service over an index, with stand-ins for its models."""
    return create_app(lambda: make_grounder(Index(folder))[0], lambda grounder: make_answerer(grounder.index), settings)


@contextmanager
def serving(app: FastAPI, seconds: float = 60) -> Iterator[tuple[str, uvicorn.Server]]:
    """Its address, and the server, which is told to stop by `should_exit`; ready when this is entered."""
    server = uvicorn.Server(
        uvicorn.Config(app, host="127.0.0.1", port=0, log_config=None, access_log=False, timeout_graceful_shutdown=20)
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        deadline = time.monotonic() + seconds
        url = ""
        while not url or httpx.get(f"{url}/health").status_code != 200:
            if time.monotonic() > deadline:
                raise TimeoutError("the service did not become ready")
            time.sleep(0.02)
            if server.started:
                url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
        yield url, server
    finally:
        server.should_exit = True
        thread.join(20)
