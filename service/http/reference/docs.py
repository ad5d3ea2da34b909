"""The API's description: with examples for programs, and as a page for people at /docs, made of files of the package alone.

The examples of bodies that are sent are in one file; the others are real responses over the demo index, kept as files named after
the calls, and `make examples` makes them anew.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from shlex import quote
from typing import Any

from counterpoint.service.output.templates import load_templates

ALIAS = "_alias"
"""The end of the name of a call at its older address."""


@cache
def example(name: str) -> Any:
    """The example of this name."""
    return json.loads(files("counterpoint.service.http").joinpath("examples", f"{name}.json").read_text("utf-8"))


def add_examples(document: dict[str, Any]) -> dict[str, Any]:
    """The same OpenAPI document with an example of each body that is sent, and of the response of each call that has one."""
    known = {file.name.removesuffix(".json") for file in files("counterpoint.service.http").joinpath("examples").iterdir()}
    for operation in (one for item in document["paths"].values() for one in item.values()):
        name = operation["operationId"].removesuffix(ALIAS)
        if name in known:
            operation["responses"]["200"]["content"]["application/json"]["example"] = example(name)
    for name, body in example("requests").items():
        document["components"]["schemas"][name]["examples"] = [body]
    return document


_BOUNDS = {
    "minimum": "at least {}", "maximum": "at most {}", "minItems": "at least {} entries", "maxItems": "at most {} entries",
    "maxLength": "at most {} characters",
}  # fmt: skip
_EXAMPLE = "http://127.0.0.1:8000"


def _note(schema: Mapping[str, Any], required: bool) -> str:
    """Say whether a value is required, and give its default and bounds."""
    notes = [words.format(f"{schema[bound]:,}") for bound, words in _BOUNDS.items() if bound in schema]
    if required:
        notes.insert(0, "required")
    elif schema.get("default") not in (None, "", []):
        notes.insert(0, f"default {json.dumps(schema['default'])}")
    return ", ".join(notes)


def _write_command(path: str, parameters: Sequence[Mapping[str, Any]], body: Mapping[str, Any]) -> str:
    """The call as a command line."""
    query = []
    for one in parameters:
        value = (one["schema"].get("examples") or [""])[0]
        if one["in"] == "path":
            path = path.replace(f"{{{one['name']}}}", str(value))
        elif one.get("required"):
            query.append(f"--data-urlencode {quote(one['name'] + '=' + str(value))}")
    command = f"curl -s {'-G ' if query else ''}{_EXAMPLE}{path}"
    if body:
        return f"{command} -H 'content-type: application/json' -d {quote(_write_json((body.get('examples') or [{}])[0]))}"
    return " ".join([command, *query])


def _write_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def render_page(document: dict[str, Any]) -> bytes:
    """Render the page of an OpenAPI document; everything taken from the document is escaped."""
    template = load_templates("counterpoint.service.http.reference").get_template("docs.html")
    own = {"alias": ALIAS, "note": _note, "command": _write_command, "write": _write_json}
    return template.render(api=document, schemas=document["components"]["schemas"], **own).lstrip().encode()
