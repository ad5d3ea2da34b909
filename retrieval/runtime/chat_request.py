"""Requests to a chat server, and the server's message about a request that it cannot handle."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pydantic import BaseModel

if TYPE_CHECKING:
    from openai import APIStatusError
    from openai.types.chat import ChatCompletionMessageParam

BAD_REQUEST = 400
NOT_KNOWN = (BAD_REQUEST, 404, 422, 501)
"""The status codes of servers that do not support json_schema."""
TOO_LONG = re.compile(r"context (?:size|length|window)", re.IGNORECASE)
_MOST_QUOTED = 200


def make_messages(system: str, user: str) -> list[ChatCompletionMessageParam]:
    """Instructions and task as the messages of a request."""
    return [{"role": "system", "content": system}, {"role": "user", "content": user}]


def close_schema(schema: type[BaseModel]) -> dict[str, object]:
    """The JSON schema as strict servers want it: no other keys and every key required, at every level."""
    json_schema = schema.model_json_schema()
    for part in (json_schema, *json_schema.get("$defs", {}).values()):
        if "properties" in part:
            part.update(additionalProperties=False, required=list(part["properties"]))
    return json_schema


def quote_refusal(error: APIStatusError) -> str:
    """The server's own message about a request that it cannot handle, such as one that is too long for the model."""
    body = error.body
    message = body.get("message") if isinstance(body, dict) else None
    if error.status_code != BAD_REQUEST or not isinstance(message, str) or not message.strip():
        return ""
    hint = "; give fewer words, or serve the model with a larger context" if TOO_LONG.search(message) else ""
    return f" ({' '.join(message.split())[:_MOST_QUOTED]}{hint})"
