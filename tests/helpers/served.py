"""A service over stand-ins for its models: behind FastAPI's test client, and on a real port for what only a connection shows."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from fastapi import FastAPI
from fastapi.testclient import TestClient

from counterpoint.generation.draft import Generator
from counterpoint.service.http.app import create_app
from counterpoint.service.operating.libraries import Libraries
from counterpoint.service.operating.settings import Settings
from tests.helpers.answer_fakes import make_answerer
from tests.helpers.fakes import make_grounder, make_reading_grounder
from tests.helpers.ready import wait_until_ready


def over_fakes(folder: Path, settings: Settings | None = None, generator: Generator | None = None) -> FastAPI:
    """The service over an index, with stand-ins for its models."""
    return create_app(fake_libraries(folder, generator=generator), settings)


def fake_libraries(
    index: Path | None = None, folder: Path | None = None, generator: Generator | None = None, most_open: int = 8
) -> Libraries:
    """The libraries of an index and in a folder, with stand-ins for the models."""
    load, load_answerer = lambda one: make_grounder(one)[0], lambda one: make_answerer(one.index, generator)
    return Libraries(index, folder, load, load_answerer, most_open)


def over_reader(folder: Path, settings: Settings | None = None) -> FastAPI:
    """The same with a reader of whole papers."""
    return create_app(Libraries(folder, None, make_reading_grounder, lambda one: make_answerer(one.index)), settings)


@contextmanager
def opened(app: FastAPI, errors: bool = True) -> Iterator[TestClient]:
    """A client of a service that is ready; with `errors`, what nobody foresaw is raised here."""
    with TestClient(app, raise_server_exceptions=errors) as client:
        wait_until_ready(client)
        yield client


def read_events(stream: str) -> list[tuple[str, dict[str, Any]]]:
    """The name and the data of each event of a stream."""
    read = []
    for block in stream.replace("\r\n", "\n").split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line and not line.startswith(":"))
        if "event" in fields:
            read.append((fields["event"], json.loads(fields["data"])))
    return read


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
