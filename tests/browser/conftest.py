"""The browser, the service that it looks at (a module's own `app`), and pages of it in which nothing may fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from fastapi import FastAPI
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.chromium import Open, chromium
from tests.helpers.served import serving

LONGEST = 60_000
"""Milliseconds that a page may take: the service's first answer loads what it needs, on cores that others use too."""

expect.set_options(timeout=LONGEST)


@pytest.fixture(scope="module")
def address(app: FastAPI) -> Iterator[str]:
    with serving(app) as (found, _server):
        yield f"{found}/"


# Not for the session: as long as Playwright runs, no other test could run an event loop.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as opened:
        yield opened


@pytest.fixture
def open_page(browser: Browser, address: str) -> Iterator[Open]:
    """Opens the page, or what a link names; at the end nothing may have failed, and nothing else have been asked."""
    asked: list[str] = []
    faults: list[str] = []
    contexts: list[BrowserContext] = []

    def opened(link: str = "", before: Callable[[Page], None] | None = None, **options: Any) -> Page:
        context = browser.new_context(**{"viewport": {"width": 1200, "height": 900}, **options})
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        context.set_default_timeout(LONGEST)
        contexts.append(context)
        page = context.new_page()
        context.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("dialog", lambda dialog: faults.append(f"a dialog: {dialog.message}"))
        if before:
            before(page)
        page.goto(address + link)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert not faults
    assert {url for url in asked if not url.startswith((address, "data:", "blob:"))} == set()
