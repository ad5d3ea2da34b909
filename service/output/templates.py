"""HTML templates stored in a package; each may include `head.html`, the head that all pages share."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from jinja2 import Environment, FunctionLoader, StrictUndefined

_HEAD = "head.html"


@cache
def load_templates(package: str) -> Environment:
    """Load the templates of a package by name; a variable that a template uses but is not given raises an error."""

    def read(name: str) -> str:
        return files("service.output" if name == _HEAD else package).joinpath(name).read_text("utf-8")

    return Environment(
        loader=FunctionLoader(read),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
