"""Makes the pictures of the page in docs/: `python -m tests.browser.screenshots INDEX` with the index of the demo corpus."""

from __future__ import annotations

import sys
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import Browser

from counterpoint.service.http.app import create_app
from counterpoint.service.operating.settings import Settings
from counterpoint.service.serve.server import open_libraries
from tests.browser.chromium import chromium
from tests.helpers.served import serving

DOCS = Path(__file__).parents[2] / "docs"
CLAIM = "#claim=" + quote("Hydroxychloroquine reduces mortality in patients hospitalized with COVID-19.")
QUESTION = "#question=" + quote("Does low-dose hydrocortisone reduce mortality in septic shock?")


def main(index: Path) -> None:
    """A claim's page, an answer's and a paper's."""
    app = create_app(open_libraries(Settings(index=index)))
    with serving(app) as (address, _server), chromium() as browser:
        _shoot(browser, f"{address}/{CLAIM}", 1300, "page.png")
        _shoot(browser, f"{address}/{QUESTION}", 1300, "page-answer.png")
        _shoot(browser, f"{address}/", 1560, "page-paper.png")


def _shoot(browser: Browser, link: str, height: int, name: str) -> None:
    page = browser.new_page(viewport={"width": 1440, "height": height}, reduced_motion="reduce")
    page.goto(link)
    if "#" not in link:
        # No link asks for a paper.
        page.get_by_text("Read a paper").click()
        page.locator(".examples button:visible").click()
    page.locator("#answer").wait_for(timeout=60_000)
    if "#question" in link:
        page.locator(".cite").first.hover()
        page.locator(".note").wait_for()
    else:
        page.locator(".card summary").first.click()
        page.locator(".here").wait_for()
    # Opening the abstract may have moved the page.
    page.evaluate("scrollTo(0, 0)")
    page.screenshot(path=DOCS / name)
    page.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
