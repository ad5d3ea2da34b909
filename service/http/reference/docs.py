"""The API's description: with examples for programs, and as a page for people at /docs, made of files of the package alone.

The examples are real responses over the demo index, kept as files named after the calls; `make examples` makes them anew.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from counterpoint.service.output.templates import load_templates

ALIAS = "_alias"
"""The end of the name of a call at its older address."""


@cache
def example(name: str) -> Any:
    """The example of this name."""
    return json.loads(files("counterpoint.service.http").joinpath("examples", f"{name}.json").read_text("utf-8"))


def add_examples(document: dict[str, Any]) -> dict[str, Any]:
    """The same OpenAPI document with an example in the response of each call that has one."""
    known = {file.name.removesuffix(".json") for file in files("counterpoint.service.http").joinpath("examples").iterdir()}
    for operation in (one for item in document["paths"].values() for one in item.values()):
        name = operation["operationId"].removesuffix(ALIAS)
        if name in known:
            operation["responses"]["200"]["content"]["application/json"]["example"] = example(name)
    return document


PROBLEM = "application/problem+json"
Kind = tuple[tuple[str, str], ...]
"""The kind of a value in words, as pieces of (text, the name of the shape it refers to or "")."""

_WORDS = {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false", "null": "null"}
_BOUNDS = {
    "minimum": "at least {}", "maximum": "at most {}", "minItems": "at least {} entries", "maxItems": "at most {} entries",
    "maxLength": "at most {} characters",
}  # fmt: skip
_EXAMPLE = "http://127.0.0.1:8000"


@dataclass(frozen=True, slots=True)
class Field:
    """A field, a parameter or a status: its name, its kind, its bounds or default in words, and its description."""

    name: str
    kind: Kind
    note: str
    about: str


@dataclass(frozen=True, slots=True)
class Call:
    """One call; `others` are its older paths, `key` says whether it may need a key, `errors` are the statuses of problems."""

    name: str
    method: str
    path: str
    about: str
    others: tuple[str, ...]
    key: bool
    parameters: tuple[Field, ...]
    body: tuple[Field, ...]
    answers: tuple[Field, ...]
    errors: tuple[str, ...]
    example: str
    response: str


@dataclass(frozen=True, slots=True)
class Shape:
    """An object that is sent or returned."""

    name: str
    about: str
    fields: tuple[Field, ...]


def calls(document: Mapping[str, Any]) -> list[Call]:
    """Every call of the document; an older path is listed with the call that it is an alias of."""
    every = [(path, method, operation) for path, item in document["paths"].items() for method, operation in item.items()]
    aliases: dict[str, list[str]] = {}
    for path, _, operation in every:
        if operation["operationId"].endswith(ALIAS):
            aliases.setdefault(operation["operationId"].removesuffix(ALIAS), []).append(path)
    return [
        _call(document, path, method, operation, aliases.get(operation["operationId"], ()))
        for path, method, operation in every
        if not operation["operationId"].endswith(ALIAS)
    ]


def errors(document: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Every status that is answered with a problem, with its description."""
    found = {
        status: one["description"]
        for item in document["paths"].values()
        for operation in item.values()
        for status, one in operation["responses"].items()
        if PROBLEM in one.get("content", {})
    }
    return sorted(found.items())


def shapes(document: Mapping[str, Any]) -> list[Shape]:
    """Every shape of the document that has fields, by name."""
    schemas = sorted(document["components"]["schemas"].items())
    return [Shape(name, schema.get("description", ""), _fields(schema)) for name, schema in schemas if schema.get("properties")]


def kind_of(schema: Mapping[str, Any]) -> Kind:
    """Describe the kind of a value of this schema."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return ((name, name),)
    if "enum" in schema or "const" in schema:
        *others, last = [str(one) for one in schema.get("enum", [schema.get("const")])]
        return ((f"{', '.join(others)} or {last}" if others else last, ""),)
    if several := schema.get("anyOf") or schema.get("oneOf"):
        return tuple(piece for i, one in enumerate(several) for piece in ((((" or ", ""),) if i else ()) + kind_of(one)))
    if schema.get("type") == "array":
        return (("list of ", ""), *kind_of(schema.get("items", {})))
    if schema.get("type") == "object":
        inner = schema.get("additionalProperties")
        return (("object of ", ""), *kind_of(inner)) if isinstance(inner, dict) and inner else (("object", ""),)
    return ((_WORDS.get(str(schema.get("type", "")), "anything"), ""),)


def _call(document: Mapping[str, Any], path: str, method: str, operation: Mapping[str, Any], others: Sequence[str]) -> Call:
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    body = _follow(document, content.get("schema", {}))
    parameters = [
        Field(one["name"], kind_of(one["schema"]), _note(one["schema"], one.get("required", False)), one.get("description", ""))
        for one in operation.get("parameters", ())
    ]
    answers = [
        Field(
            status,
            _describe_response(one.get("content", {})),
            "",
            one["description"].replace("Successful Response", "the result"),
        )
        for status, one in sorted(operation["responses"].items())
        if PROBLEM not in one.get("content", {})
    ]
    problems = sorted(status for status, one in operation["responses"].items() if PROBLEM in one.get("content", {}))
    response = operation["responses"].get("200", {}).get("content", {}).get("application/json", {}).get("example")
    return Call(
        name=operation["operationId"], method=method.upper(), path=path, about=operation.get("description", ""),
        others=tuple(others),
        key=bool(operation.get("security")), parameters=tuple(parameters), body=_fields(body), answers=tuple(answers),
        errors=tuple(problems),
        example=_write_command(path, operation.get("parameters", ()), body),
        response=json.dumps(response, ensure_ascii=False, indent=2) if response is not None else "",
    )  # fmt: skip


def _describe_response(content: Mapping[str, Any]) -> Kind:
    """Describe what a response may be; for a stream, by the names of its events."""
    pieces: list[tuple[str, str]] = []
    for media, one in content.items():
        pieces.append((", " if pieces else "", ""))
        if "itemSchema" in one:
            events = (event["properties"]["event"]["const"] for event in one["itemSchema"]["oneOf"])
            pieces.append((f"{media} with the events {', '.join(events)}", ""))
        elif media.endswith("json"):
            pieces += kind_of(one.get("schema", {}))
        else:
            pieces.append((media, ""))
    return tuple(piece for piece in pieces if piece[0])


def _fields(schema: Mapping[str, Any]) -> tuple[Field, ...]:
    required_names = schema.get("required", ())
    return tuple(
        Field(name, kind_of(one), _note(one, name in required_names), one.get("description", ""))
        for name, one in schema.get("properties", {}).items()
    )


def _note(schema: Mapping[str, Any], required: bool) -> str:
    """Say whether a value is required, and give its default and bounds."""
    notes = [words.format(f"{schema[bound]:,}") for bound, words in _BOUNDS.items() if bound in schema]
    if required:
        notes.insert(0, "required")
    elif schema.get("default") not in (None, "", []):
        notes.insert(0, f"default {json.dumps(schema['default'])}")
    return ", ".join(notes)


def _follow(document: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    name = schema.get("$ref", "").rpartition("/")[2]
    target: Mapping[str, Any] = document["components"]["schemas"][name] if name else schema
    return target


def _write_command(path: str, parameters: Sequence[Mapping[str, Any]], body: Mapping[str, Any]) -> str:
    """The call as a command line."""
    query = []
    for one in parameters:
        value = (one["schema"].get("examples") or [""])[0]
        if one["in"] == "path":
            path = path.replace(f"{{{one['name']}}}", str(value))
        elif one.get("required"):
            query.append(f"--data-urlencode {_quote(one['name'] + '=' + str(value))}")
    command = f"curl -s {'-G ' if query else ''}{_EXAMPLE}{path}"
    if body:
        data = json.dumps((body.get("examples") or [{}])[0], ensure_ascii=False, indent=2)
        return f"{command} -H 'content-type: application/json' -d {_quote(data)}"
    return " ".join([command, *query])


def _quote(text: str) -> str:
    """Quote a text for a shell."""
    return "'" + text.replace("'", "'\\''") + "'"


def render_page(document: dict[str, Any]) -> bytes:
    """Render the page of an OpenAPI document; everything taken from the document is escaped."""
    template = load_templates("counterpoint.service.http.reference").get_template("docs.html")
    info = document["info"]
    return (
        template.render(
            title=info["title"],
            version=info["version"],
            about=info["description"],
            calls=calls(document),
            errors=errors(document),
            shapes=shapes(document),
        )
        .lstrip()
        .encode()
    )
