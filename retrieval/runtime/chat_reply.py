"""What a chat server sent back, read with care: the official client checks no types, and servers leave fields out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeGuard


@dataclass(frozen=True, slots=True)
class ChatReply:
    """The text of a reply, why it ended ("" where that was not said), whether it is a refusal, and the tokens it took.

    The tokens are 0 where the server does not count them.
    """

    text: str
    finish: str
    refused: bool
    prompt_tokens: int
    completion_tokens: int


def read_reply(reply: object) -> ChatReply:
    """A reply that came in one piece."""
    choice, counts = _get_first_choice(reply), _read_token_counts(reply)
    if choice is None:
        return ChatReply("", "", False, *counts)
    message = getattr(choice, "message", None)
    finish = getattr(choice, "finish_reason", None) or "stop"
    return ChatReply(_get_content(message), finish, bool(getattr(message, "refusal", None)), *counts)


def read_stream(chunks: Iterable[object]) -> ChatReply:
    """A reply that came in pieces."""
    text, finish, refused, counts = "", "", False, (0, 0)
    for chunk in chunks:
        if getattr(chunk, "usage", None):
            counts = _read_token_counts(chunk)
        choice = _get_first_choice(chunk)
        delta = getattr(choice, "delta", None)
        text += _get_content(delta)
        refused = refused or bool(getattr(delta, "refusal", None))
        finish = getattr(choice, "finish_reason", None) or finish
    return ChatReply(text, finish, refused, *counts)


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
