"""Makes the pictures of the page in docs/: `python -m tests.browser.screenshots INDEX` with the index of the demo corpus."""

from __future__ import annotations

import sys
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import Browser

from service.assembly import assemble, assemble_answerer_beside
from service.configuration.defaults import ANSWERS, CONFIG, PROFILE
from service.http.app import create_app
from tests.browser.chromium import chromium
from tests.helpers.served import serving

DOCS = Path(__file__).parents[2] / "docs"
CLAIM = "#claim=" + quote("Hydroxychloroquine reduces mortality in patients hospitalized with COVID-19.")
QUESTION = "#question=" + quote("Does low-dose hydrocortisone reduce mortality in septic shock?")


def main(index: Path) -> None:
    """The claim's page at three widths, an answer's and a paper's."""
    app = create_app(lambda: assemble(index, CONFIG, PROFILE), lambda grounder: assemble_answerer_beside(grounder, ANSWERS))
    with serving(app) as (address, _server), chromium() as browser:
        for width, height in [(390, 1500), (820, 1500), (1440, 1300)]:
            _shoot(browser, f"{address}/{CLAIM}", width, height, f"page-{width}.png")
        _shoot(browser, f"{address}/{QUESTION}", 1440, 1300, "page-answer-1440.png")
        _shoot(browser, f"{address}/{QUESTION}", 390, 1180, "page-answer-390.png")
        _shoot(browser, f"{address}/", 1440, 1560, "page-paper-1440.png")
        _shoot(browser, f"{address}/", 390, 2000, "page-paper-390.png")


def _shoot(browser: Browser, link: str, width: int, height: int, name: str) -> None:
    page = browser.new_page(viewport={"width": width, "height": height}, reduced_motion="reduce")
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
