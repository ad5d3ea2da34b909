"""What a chat server's reply holds, however it is packed: text without the model's thoughts, the JSON in it, token counts.

The official client checks no types, and servers leave fields out, put text into lists, or answer with a call of a tool that
nobody offered. A model that reasons writes its thoughts before the answer, between marks of which one may be missing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeGuard, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

Answer = TypeVar("Answer", bound=BaseModel)
_TAIL, _TIMES, _EVERY = 40, 5, 20
"""A text loops if its last characters, this many, occur in it so often; it is looked at whenever so many pieces have come."""
_OPENED = re.compile(
    r"<(?:think(?:ing)?|thoughts?|reasoning)>|\[THINK\]|◁think▷|<\|channel\|>analysis<\|message\|>", re.IGNORECASE
)
_CLOSED = re.compile(
    r"</(?:think(?:ing)?|thoughts?|reasoning)>|\[/THINK\]|◁/think▷|<\|channel\|>final<\|message\|>", re.IGNORECASE
)
_ENDS = re.compile(r"<\|(?:end|return|im_end|eot_id)\|>\s*$")
_BEGINS = re.compile(r"[{\[]")
_QUOTED_OR_BRACE = re.compile(r'"(?:[^"\\]|\\.)*"|[{}]', re.DOTALL)
_IN_WORDS = re.compile(r"(?<![\w.,])([+\-−–]?\d+)(?:\.0+)?(?![\w.,]*\d)")
_SAYING = ("message", "msg", "detail", "error", "error_msg", "title")
"""The fields of an error's body that may say what is wrong."""
_MOST_TRIED = 20
"""Places at which JSON that is not quite right may begin: each is read by a slow parser."""
_LONGEST_TRIED = 20_000


@dataclass(frozen=True, slots=True)
class ChatReply:
    """The text of a reply, why it ended ("" if unknown), whether it is a refusal, and the tokens it took, 0 if not counted.

    `thoughts` is what the server sends apart as the model's reasoning; `bare` says that it holds no message at all.
    """

    text: str = ""
    finish: str = ""
    refused: bool = False
    prompt_tokens: int = 0
    completion_tokens: int = 0
    thoughts: str = ""
    bare: bool = False


def read_reply(reply: object) -> ChatReply:
    """Read a reply that came in one piece."""
    choice, counts = _get_first_choice(reply), _read_token_counts(reply)
    if choice is None:
        return ChatReply("", "", False, *counts, bare=True)
    message, finish = _get(choice, "message"), _get(choice, "finish_reason") or "stop"
    text = _get_text(_get(message, "content")) or _get_arguments(message)
    return ChatReply(text, finish, bool(_get(message, "refusal")), *counts, thoughts=_get_thoughts(message))


def read_stream(pieces: Iterable[object], check: Callable[[], object] | None = None) -> ChatReply:
    """Read a reply that comes in pieces, with `check` called at each; one that loops ends as if at the token limit."""
    text, thoughts, finish, refusal, counts = "", "", "", False, (0, 0)
    for number, piece in enumerate(pieces, 1):
        if check:
            check()
        if _get(piece, "usage"):
            counts = _read_token_counts(piece)
        choice = _get_first_choice(piece)
        delta = _get(choice, "delta")
        text += _get_text(_get(delta, "content"))
        thoughts += _get_thoughts(delta)
        refusal = refusal or bool(_get(delta, "refusal"))
        finish = _get(choice, "finish_reason") or finish
        if number % _EVERY == 0 and len(text) >= _TAIL and text.count(text[-_TAIL:]) >= _TIMES:
            finish = "length"
            break
    return ChatReply(text, finish, refusal, *counts, thoughts=thoughts)


def strip_thoughts(text: str) -> str:
    """What a model wrote after its thoughts; "" where they have no end."""
    if closed := list(_CLOSED.finditer(text)):
        text = text[closed[-1].end() :]
    opened = _OPENED.search(text)
    return _ENDS.sub("", text[: opened.start()] if opened else text).strip("\ufeff \t\r\n")


def read_answer(text: str, schema: type[Answer]) -> Answer | None:
    """The last JSON in a text that is an answer of this form, whatever stands around it; None if there is none.

    Where nothing is JSON, objects that are nearly so are read as YAML, which knows `True`, `+2`, single quotes and a last comma.
    """
    for find in (find_json, _find_nearly_json):
        for value in reversed(list(find(text))):
            for one in _list_objects(value):
                with suppress(ValidationError):
                    return schema.model_validate(one)
    return None


def read_answers(text: str, schema: type[Answer]) -> list[Answer]:
    """Every JSON object of this form in a text, in order, also where the text was cut off within the object around them."""
    answers = []
    for one in (one for value in find_json(text) for one in _list_objects(value)):
        with suppress(ValidationError):
            answers.append(schema.model_validate(one))
    return answers


def find_json(text: str) -> Iterator[Any]:
    """The JSON objects and arrays in a text, in order, each whole: not those inside another."""
    decoder, at = json.JSONDecoder(strict=False), 0
    while match := _BEGINS.search(text, at):
        try:
            value, at = decoder.raw_decode(text, match.start())
            yield value
        except (ValueError, RecursionError):
            at = match.end()


class _NoAliases(yaml.SafeLoader):
    """YAML without references, which could make a small text huge."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.events.AliasEvent):
            raise yaml.YAMLError("a reference")
        return super().compose_node(parent, index)


def _find_nearly_json(text: str) -> Iterator[Any]:
    """The objects in a text that YAML can read, each from a brace to the brace that closes it."""
    braces = [place for place, letter in enumerate(text) if letter == "{"]
    for begin in dict.fromkeys((*braces[:1], *braces[-_MOST_TRIED:])):
        part = text[begin : _find_end(text, begin)][:_LONGEST_TRIED]
        try:
            value = yaml.load(part, _NoAliases)
        except (yaml.YAMLError, ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            yield value


def _find_end(text: str, begin: int) -> int:
    """The offset behind the brace that closes the one at `begin`; braces in double quotes do not count."""
    depth, at = 0, begin
    for match in _QUOTED_OR_BRACE.finditer(text, begin):
        at = match.end()
        depth += {"{": 1, "}": -1}.get(match.group(), 0)
        if depth == 0:
            break
    return at


def _list_objects(value: Any) -> Iterator[Mapping[str, Any]]:
    """An object, then those inside it, also one that was written as a text."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        value = next(find_json(value), None)
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _list_objects(inner)


def read_number(value: object) -> object:
    """The whole number that a value is, or that its words hold: "2", "+1", "−2", 2.0 or "2 (supports)"; else the value as it is.

    Words that hold several numbers, or name the other side, are not read.
    """
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if not isinstance(value, str):
        return value
    numbers = [*_IN_WORDS.finditer(value)]
    if len(numbers) != 1:
        return value
    number = int(re.sub("[−–]", "-", numbers[0].group(1)))
    says = value.lower()
    return value if (number > 0 and "contradict" in says) or (number < 0 and "support" in says) else number


def describe_fault(body: object) -> str:
    """What a server says is wrong, in one line, from the body of its error; "" for nothing, or a web page.

    A fault of one field (`loc`) is told with the field's name.
    """
    if isinstance(body, str):
        return "" if body.lstrip().startswith("<") else " ".join(body.split())
    if isinstance(body, list):
        return next(filter(None, map(describe_fault, body)), "")
    if not isinstance(body, Mapping):
        return ""
    said = next(filter(None, (describe_fault(body.get(name)) for name in _SAYING)), "")
    place = body.get("param") or body.get("loc")
    field = str(place[-1]) if isinstance(place, list) and place else place if isinstance(place, str) else ""
    return f"{field}: {said}" if said and field and field not in said else said


def is_count(value: object, least: int) -> TypeGuard[int]:
    """Whether a value is a whole number of at least `least`."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _read_token_counts(reply: object) -> tuple[int, int]:
    """The tokens of prompt and completion that a reply says it took, 0 where it does not say."""
    usage = _get(reply, "usage")
    prompt, completion = _get(usage, "prompt_tokens"), _get(usage, "completion_tokens")
    return prompt if is_count(prompt, 0) else 0, completion if is_count(completion, 0) else 0


def _get_first_choice(reply: object) -> object:
    """The first of a reply's choices, None where it has none."""
    choices = _get(reply, "choices")
    return choices[0] if isinstance(choices, list) and choices else None


def _get_text(content: object) -> str:
    """The text of a content, or of its parts that are not thoughts; "" where it has none."""
    if isinstance(content, list):
        shown = (part for part in content if _get(part, "type") not in ("thinking", "reasoning"))
        return "".join(part if isinstance(part, str) else _get_text(_get(part, "text")) for part in shown)
    return content if isinstance(content, str) else ""


def _get_thoughts(message: object) -> str:
    return _get_text(_get(message, "reasoning_content")) or _get_text(_get(message, "reasoning"))


def _get_arguments(message: object) -> str:
    """What a model that calls a tool gives it: the answer to a request that offered none."""
    calls = _get(message, "tool_calls")
    function = _get(calls[0], "function") if isinstance(calls, list) and calls else _get(message, "function_call")
    arguments = _get(function, "arguments")
    return json.dumps(arguments) if isinstance(arguments, dict) else _get_text(arguments)


def _get(value: object, name: str) -> Any:
    """A field of what the client made, or of what it left as it came."""
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
