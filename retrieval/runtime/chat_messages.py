"""What is sent to a chat server and what it sends back, read with care.

The official client checks no types, and servers leave fields out. A slow model writes for minutes: the reading of a streamed
reply ends when the reply repeats itself for ever, or when nobody is waiting for it any more. The job sets a check for its thread
(`stop_by`), which is called at every piece; the connection is closed if it raises.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeGuard

from pydantic import BaseModel

if TYPE_CHECKING:
    from openai import APIStatusError

BAD_REQUEST = 400
NOT_KNOWN = (BAD_REQUEST, 404, 422, 501)
"""The status codes of servers that do not support json_schema."""
TOO_LONG = re.compile(r"context (?:size|length|window)", re.IGNORECASE)
_MOST_QUOTED = 200
_TAIL, _TIMES, _EVERY = 40, 5, 20
"""A text loops if its last characters, this many, occur in it so often; it is looked at whenever so many pieces have come."""
_check: ContextVar[Callable[[], object] | None] = ContextVar("check", default=None)


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


@dataclass(frozen=True, slots=True)
class ChatReply:
    """The text of a reply, why it ended ("" if unknown), whether it is a refusal, and the tokens it took.

    The tokens are 0 if the server does not count them.
    """

    text: str
    finish: str
    refused: bool
    prompt_tokens: int
    completion_tokens: int


def read_reply(reply: object) -> ChatReply:
    """Read a reply that came in one piece."""
    choice, counts = _get_first_choice(reply), _read_token_counts(reply)
    if choice is None:
        return ChatReply("", "", False, *counts)
    message = getattr(choice, "message", None)
    finish = getattr(choice, "finish_reason", None) or "stop"
    return ChatReply(_get_content(message), finish, bool(getattr(message, "refusal", None)), *counts)


def read_stream(pieces: Iterable[object]) -> ChatReply:
    """Read a reply that comes in pieces, as long as it is wanted; one that loops ends as if at the token limit."""
    check = _check.get()
    text, finish, refusal, counts = "", "", False, (0, 0)
    for number, piece in enumerate(pieces, 1):
        if check:
            check()
        if getattr(piece, "usage", None):
            counts = _read_token_counts(piece)
        choice = _get_first_choice(piece)
        delta = getattr(choice, "delta", None)
        text += _get_content(delta)
        refusal = refusal or bool(getattr(delta, "refusal", None))
        finish = getattr(choice, "finish_reason", None) or finish
        if number % _EVERY == 0 and len(text) >= _TAIL and text.count(text[-_TAIL:]) >= _TIMES:
            finish = "length"
            break
    return ChatReply(text, finish, refusal, *counts)


@contextmanager
def stop_by(check: Callable[[], object]) -> Iterator[None]:
    """Call `check` at every piece of a reply that is read in this context; an exception ends the reading."""
    token = _check.set(check)
    try:
        yield
    finally:
        _check.reset(token)


def find_json(text: str) -> str:
    """The JSON object in a reply, from its first brace to its last; the text itself where there is none."""
    start, end = text.find("{"), text.rfind("}")
    return text[start : end + 1] if 0 <= start < end else text


def is_count(value: object, least: int) -> TypeGuard[int]:
    """Whether a value is a whole number of at least `least`."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _read_token_counts(reply: object) -> tuple[int, int]:
    """The tokens of prompt and completion that a reply says it took, 0 where it does not say."""
    usage = getattr(reply, "usage", None)
    prompt, completion = getattr(usage, "prompt_tokens", None), getattr(usage, "completion_tokens", None)
    return prompt if is_count(prompt, 0) else 0, completion if is_count(completion, 0) else 0


def _get_first_choice(reply: object) -> object:
    """The first of a reply's choices, None where it has none."""
    choices = getattr(reply, "choices", None)
    return choices[0] if isinstance(choices, list) and choices else None


def _get_content(message: object) -> str:
    """The text of a message, or of a piece of one; "" where it has none."""
    content = getattr(message, "content", None)
    return content if isinstance(content, str) else ""
