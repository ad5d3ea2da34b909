"""The Chromium that is installed, for tests that look at the page as a reader does."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, Route, sync_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
_EXAMPLES = Path(__file__).parents[2] / "service" / "http" / "examples"
IN_CHROMIUM = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed (Debian: apt install chromium)"),
]
"""The marks of every test that needs it."""
HOSTILE = (
    "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'><a href='javascript:window.hacked = 1'>here</a>"
)
"""A text that would run, were it ever taken for markup: it sets `window.hacked`."""

Open = Callable[..., Page]
"""Opens the page: `open_page(link="", before=None, **options of the browser's context)`."""


@contextmanager
def chromium() -> Iterator[Browser]:
    """Debian's Chromium without a window; Playwright's own browsers would have to be downloaded."""
    with sync_playwright() as playwright:
        # Its sandbox needs rights that a build machine's account often lacks; it sees this one service alone.
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


def find_faults(page: Page) -> list[str]:
    """What axe calls serious or worse, with the place."""
    found = Axe().run(page).response["violations"]
    return [f"{one['id']}: {one['nodes'][0]['html']}" for one in found if one["impact"] in ("serious", "critical")]


def link(**parts: str) -> str:
    """What stands behind the page's address in a link."""
    return "#" + "&".join(f"{name}={quote(value)}" for name, value in parts.items())


def stream(*events: tuple[str, Any]) -> Callable[[Route], None]:
    """A response that is these events, each with its name and data."""
    body = "".join(f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in events)
    return lambda route: route.fulfill(status=200, content_type="text/event-stream", body=body)


def example(name: str) -> Any:
    """A response of the service as the API's description shows it."""
    return json.loads((_EXAMPLES / f"{name}.json").read_text("utf-8"))
