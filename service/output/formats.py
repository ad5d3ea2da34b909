"""The formats that results are written in: one table for the command line, HTTP and the page."""

from __future__ import annotations

from typing import Literal, NamedTuple

TextExport = Literal["json", "html", "markdown", "csv", "xlsx"]
"""The formats of a checked text."""
Format = Literal[TextExport, "ris", "bibtex"]
"""Those of a claim and of an answer: reference managers get the papers."""
KeptFormat = Literal["json", "html", "csv", "xlsx"]
"""Those of a result that was kept, which are made from its JSON alone."""


class Written(NamedTuple):
    """How a file of a format ends, and its media type."""

    ending: str
    media_type: str


FORMATS: dict[Format, Written] = {
    "json": Written(".json", "application/json"),
    "html": Written(".html", "text/html; charset=utf-8"),
    "markdown": Written(".md", "text/markdown; charset=utf-8"),
    "csv": Written(".csv", "text/csv; charset=utf-8"),
    "xlsx": Written(".xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    "ris": Written(".ris", "application/x-research-info-systems; charset=utf-8"),
    "bibtex": Written(".bib", "application/x-bibtex; charset=utf-8"),
}
