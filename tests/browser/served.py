"""A service on a port of its own, and the Chromium that is installed, for tests that look at the page as a reader does."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import uvicorn
from fastapi import FastAPI
from playwright.sync_api import Browser, sync_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@contextmanager
def serving(app: FastAPI, seconds: float = 60) -> Iterator[str]:
    """The app listening on 127.0.0.1 until the block ends; gives its address once it is ready."""
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + seconds
    address = ""
    while not address or httpx.get(f"{address}health").status_code != 200:
        if time.monotonic() > deadline:
            raise TimeoutError("the service did not become ready")
        time.sleep(0.05)
        if server.started:
            address = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/"
    try:
        yield address
    finally:
        server.should_exit = True
        thread.join(20)


@contextmanager
def chromium() -> Iterator[Browser]:
    """Debian's Chromium without a window; Playwright's own browsers would have to be downloaded."""
    with sync_playwright() as playwright:
        # Its sandbox needs rights that a build machine's account often lacks; it sees this one service alone.
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()
