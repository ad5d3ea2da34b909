"""A service over fakes on a real port, for what only a real connection shows."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import uvicorn

from retrieval.index import Index
from service.app import create_app
from service.settings import Settings
from tests.answer_fakes import make_answerer
from tests.fakes import make_grounder


@contextmanager
def serving(folder: Path, settings: Settings | None = None) -> Iterator[tuple[str, uvicorn.Server]]:
    """Its address, and the server, which is told to stop by `should_exit`; ready when this is entered."""
    app = create_app(lambda: make_grounder(Index(folder))[0], lambda grounder: make_answerer(grounder.index), settings)
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None, access_log=False, timeout_graceful_shutdown=20))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        deadline = time.monotonic() + 20
        while not server.started:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
        while httpx.get(f"{url}/health").status_code != 200:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        yield url, server
    finally:
        server.should_exit = True
        thread.join(20)
