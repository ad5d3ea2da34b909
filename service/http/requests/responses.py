"""How the API writes its successful responses, and how it describes them: JSON, texts for people and tools, events."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Query
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel

from retrieval.core.answers import Answer
from retrieval.core.values import Grounding
from service.output.export import Format, export_text
from service.schemas import Problem

MEDIA_TYPES: dict[Format, str] = {
    "markdown": "text/markdown; charset=utf-8",
    "ris": "application/x-research-info-systems; charset=utf-8",
    "bibtex": "application/x-bibtex; charset=utf-8",
}
FormatQuery = Annotated[
    Literal["json", "markdown", "ris", "bibtex"],
    Query(description="JSON, readable Markdown, or the documents shown, as a file for a reference manager."),
]
_ENDINGS: dict[Format, str] = {"markdown": "md", "ris": "ris", "bibtex": "bib"}


def describe_formats(model: type[BaseModel]) -> dict[int | str, dict[str, Any]]:
    """Describe the response for the API's description: JSON, and the text formats."""
    content = {media.partition(";")[0]: {"schema": {"type": "string"}} for media in MEDIA_TYPES.values()}
    return {200: {"model": model, "content": content}}


def describe_events(**events: type[BaseModel]) -> dict[int | str, dict[str, Any]]:
    """Describe a stream for the API's description: its events by name, the last of them "error"."""
    variants = []
    for name, model in (events | {"error": Problem}).items():
        schema = model.model_json_schema(ref_template="#/components/schemas/{model}")
        schema.pop("$defs", None)
        data = {"type": "string", "contentMediaType": "application/json", "contentSchema": schema}
        event = {"type": "object", "properties": {"event": {"const": name}, "data": data}, "required": ["event", "data"]}
        variants.append(event)
    return {200: {"description": "Server-sent events", "content": {"text/event-stream": {"itemSchema": {"oneOf": variants}}}}}


def write_response(body: BaseModel, result: Answer | Grounding, format: Literal["json"] | Format) -> Response:
    """Write the response in the requested format: JSON is made from `body`, a text from `result`."""
    if format == "json":
        return write_json(body)
    name = f'attachment; filename="counterpoint.{_ENDINGS[format]}"'
    return Response(export_text(result, format), media_type=MEDIA_TYPES[format], headers={"Content-Disposition": name})


def write_json(body: BaseModel) -> JSONResponse:
    """Write the JSON on the thread that did the work, not on the event loop."""
    return JSONResponse(body.model_dump(mode="json"))
