"""A page as HTML and as Markdown. Everything passed to a template is data, and both escape it by the rules of their language."""

from __future__ import annotations

import re
from typing import Any

from eval.page.blocks import Page
from service.output.templates import load_templates

_ACTIVE = re.compile(r"([\\`*_{}\[\]<>#|~&$@^])")
_OPENING = re.compile(r"^(?:[-+](?=\s|$)|--|=|\d+(?=[.)](?:\s|$)))")
_ADDRESS = re.compile(r"(?i)(?<=\w)(:)(?=//)|(?<=www)(\.)")


def html(page: Page) -> str:
    """The page as one HTML file that loads nothing and runs no script."""
    return load_templates("eval.page").get_template("report.html").render(page=page)


def markdown(page: Page) -> str:
    """The page as Markdown, as GitHub reads it."""
    text = load_templates("eval.page", autoescape=False, finalize=_escape).get_template("report.md").render(page=page, code=_Code)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


class _Code(str):
    """Text that Markdown shows as typed, fences and all."""

    __slots__ = ()

    def __new__(cls, text: str, block: bool = False) -> _Code:
        """Wrap the text in more backticks than it has in a row."""
        longest = max(map(len, re.findall(r"`+", text)), default=0)
        if block:
            fence = "`" * max(3, longest + 1)
            return super().__new__(cls, f"{fence}\n{text.rstrip()}\n{fence}")
        fence, line = "`" * (longest + 1), " ".join(text.split())
        return super().__new__(cls, f"{fence} {line} {fence}" if "`" in line else f"{fence}{line}{fence}")


def _escape(value: Any) -> Any:
    """Text that Markdown shows literally: no emphasis, no link, no list, no HTML."""
    if isinstance(value, _Code) or not isinstance(value, str):
        return value
    line = " ".join(value.split())
    line = _ACTIVE.sub(r"\\\1", line)
    line = _ADDRESS.sub(lambda match: f"\\{match[0]}", line)
    return _OPENING.sub(_opening, line)


def _opening(match: re.Match[str]) -> str:
    """Escape what would begin a list or underline a heading: "- a", "1. a", "===". A decimal number does not."""
    return f"{match[0]}\\" if match[0].isdigit() else f"\\{match[0]}"
