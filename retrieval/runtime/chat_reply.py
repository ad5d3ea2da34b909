"""What a chat server sent back, read with care: the official client checks no types, and servers leave fields out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TypeGuard

LOOPED = SimpleNamespace(choices=[SimpleNamespace(delta=None, finish_reason="length")])
"""A chunk that replaces the rest of a reply that loops."""
_TAIL, _TIMES, _EVERY = 40, 5, 20


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


def read_stream(chunks: Iterable[object]) -> ChatReply:
    """Read a reply that came in pieces."""
    text, finish, refusal, counts = "", "", False, (0, 0)
    for chunk in chunks:
        if getattr(chunk, "usage", None):
            counts = _read_token_counts(chunk)
        choice = _get_first_choice(chunk)
        delta = getattr(choice, "delta", None)
        text += _get_content(delta)
        refusal = refusal or bool(getattr(delta, "refusal", None))
        finish = getattr(choice, "finish_reason", None) or finish
    return ChatReply(text, finish, refusal, *counts)


def is_looping(text: str) -> bool:
    """Whether a text has begun to repeat itself: its last characters occur in it many times.

    A model caught in a loop goes on until the token limit, which takes a slow one minutes.
    """
    end = text[-_TAIL:]
    return len(end) == _TAIL and text.count(end) >= _TIMES


def read_until_looping(chunks: Iterable[object]) -> Iterator[object]:
    """The pieces of a reply as they come; if it loops they end, as if the token limit had been reached."""
    text = ""
    for number, chunk in enumerate(chunks, 1):
        yield chunk
        text += _get_content(getattr(_get_first_choice(chunk), "delta", None))
        if number % _EVERY == 0 and is_looping(text):
            yield LOOPED
            return


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
