"""The page of an evaluation in a real browser: nothing sticks out of a narrow screen, and readers and keyboards reach all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from eval.page.contents import page as contents
from eval.page.render import html
from tests.browser.chromium import IN_CHROMIUM, chromium, find_faults
from tests.helpers.reports import made

pytestmark = IN_CHROMIUM

# What stands outside the boxes that scroll by themselves, and ends beyond the window.
OUTSIDE = """() => [...document.querySelectorAll("body *")]
  .filter((one) => !one.closest(".scroll, pre") && one.getBoundingClientRect().right > innerWidth + 1)
  .map((one) => one.outerHTML.slice(0, 80))"""
# A caption is as wide as its words ask for, not as its table happens to be.
CRAMPED = """() => [...document.querySelectorAll("caption > span")]
  .filter((one) => one.offsetHeight > 1.5 * parseFloat(getComputedStyle(one).lineHeight)
                   && one.offsetWidth < 0.8 * one.closest(".scroll").clientWidth && one.offsetWidth < 500)
  .map((one) => one.textContent)"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
def test_the_report_fits_its_window_and_axe_finds_nothing_serious(tmp_path: Path, width: int, scheme: Any) -> None:
    file = tmp_path / "report.html"
    file.write_text(html(contents(made())), "utf-8")
    with chromium() as browser:
        # Its policy forbids scripts, axe's too; the policy is another test's.
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True)
        shown = context.new_page()
        shown.goto(file.as_uri())
        shown.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        assert shown.evaluate("document.documentElement.scrollWidth") <= width
        assert shown.evaluate(OUTSIDE) == []
        assert shown.evaluate(CRAMPED) == []
        assert find_faults(shown) == []
