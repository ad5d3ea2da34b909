"""The Chromium that is installed, for tests that look at the page as a reader does."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@contextmanager
def chromium() -> Iterator[Browser]:
    """Debian's Chromium without a window; Playwright's own browsers would have to be downloaded."""
    with sync_playwright() as playwright:
        # Its sandbox needs rights that a build machine's account often lacks; it sees this one service alone.
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()
