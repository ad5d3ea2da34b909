"""HTML templates stored in a package; each may use those beside this file: `head.html`, the head that all pages share, and
`sheet.html`, the page of a result that is taken along."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from jinja2 import Environment, FunctionLoader, StrictUndefined


@cache
def load_templates(package: str) -> Environment:
    """Load the templates of a package by name; a variable that a template uses but is not given raises an error."""

    def read(name: str) -> str:
        own = files(package).joinpath(name)
        return (own if own.is_file() else files("counterpoint.service.output").joinpath(name)).read_text("utf-8")

    return Environment(
        loader=FunctionLoader(read), undefined=StrictUndefined, autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
