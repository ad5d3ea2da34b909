"""Templates of HTML, XML and Markdown stored in a package; each may use those beside this file: `head.html`, the head that all
pages share, `sheet.html`, the page of a result that is taken along, and `table.md`. Markdown is escaped by the filter `md`, the
others by themselves."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined, select_autoescape

# Characters that begin CommonMark or HTML markup anywhere in a line.
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|~!&$])")
# What begins a list, a heading or a quote at the start of a line.
_LINE_START = re.compile(r"^(\d+)([.)])|^([-+=])")


@cache
def load_templates(package: str) -> Environment:
    """Load the templates of a package by name; a variable that a template uses but is not given raises an error."""

    def read(name: str) -> str:
        own = files(package).joinpath(name)
        return (own if own.is_file() else files("counterpoint.service.output").joinpath(name)).read_text("utf-8")

    environment = Environment(
        loader=FunctionLoader(read),
        undefined=StrictUndefined,
        autoescape=select_autoescape(["html", "xml"]),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["md"] = escaped
    return environment


def write_markdown(package: str, name: str, **context: Any) -> str:
    """Write CommonMark by this template: a single blank line between blocks, and no blanks at the ends of lines."""
    text = load_templates(package).get_template(name).render(**context)
    return re.sub(r"\n{3,}", "\n\n", re.sub(r" +$", "", text, flags=re.MULTILINE)).strip() + "\n"


def escaped(value: object) -> str:
    """Escape a text so that CommonMark shows it letter for letter, on one line."""
    plain = _MARKDOWN.sub(r"\\\1", to_one_line(str(value)))
    return _LINE_START.sub(lambda match: f"{match[1]}\\{match[2]}" if match[1] else f"\\{match[3]}", plain)


def to_one_line(text: str) -> str:
    """Turn white space of every kind, including Unicode's line breaks, into single spaces; remove control characters."""
    return " ".join("".join(" " if one.isspace() else one for one in text if one.isprintable() or one.isspace()).split())
