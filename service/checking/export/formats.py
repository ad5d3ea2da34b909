"""The export formats of a checked text, by their name in HTTP and by their file extension."""

from __future__ import annotations

from typing import Literal, get_args

from service.checking.schemas import CheckedText

TextExport = Literal["json", "html", "csv", "markdown", "xlsx"]
ENDINGS: dict[TextExport, str] = {"json": ".json", "html": ".html", "csv": ".csv", "markdown": ".md", "xlsx": ".xlsx"}
MEDIA_TYPES: dict[TextExport, str] = {
    "json": "application/json",
    "html": "text/html; charset=utf-8",
    "csv": "text/csv; charset=utf-8",
    "markdown": "text/markdown; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}


def format_of(name: str) -> TextExport | None:
    """The format that a file's name asks for."""
    return next((one for one in get_args(TextExport) if name.lower().endswith(ENDINGS[one])), None)


def export_text(report: CheckedText, format: TextExport, title: str = "Checked text") -> bytes:
    """The checked text in a format; `title` names the text where the format has a place for that."""
    if format == "json":
        return f"{report.model_dump_json(indent=2)}\n".encode()
    if format == "xlsx":
        from service.checking.export.tables import xlsx

        return xlsx(report)
    if format == "csv":
        from service.checking.export.tables import csv_text

        return csv_text(report).encode()
    if format == "markdown":
        from service.checking.export.markdown import markdown

        return markdown(report).encode()
    from service.checking.export.page import html

    return html(report, title).encode()
