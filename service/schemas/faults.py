"""What is wrong with a request, in our own words: what was expected, what came, what to do; never a library's message.

One fault is mended: JSON can escape lone surrogates, but they are no characters, and no UTF-8 can be made of them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from counterpoint.retrieval.core.characters import replace_surrogates
from counterpoint.service.configuration.files import expected

UNREADABLE = (
    "The body cannot be read as JSON: it is not UTF-8 text, is nested too deeply, or contains a number that is too long; "
    "send one JSON object in UTF-8."
)
FAILED = "The request could not be answered; see the service's log."
_LONGEST = 40
"""The most characters of a bad value that are quoted."""

_ADVICE = {
    "a text": "put it in quotation marks",
    "true or false": "write it without quotation marks",
    "a list": "put it in square brackets",
}


def sentence(faults: Sequence[Any], model: type[BaseModel] | None, whole: str = "The body") -> str:
    """Describe the first fault that pydantic found; an unknown field comes first, since it may be the missing one, misspelt.

    `model` is the model to be read, None for parameters of the URL; `whole` is what errors call the whole input.
    """
    fault = next((one for one in faults if one["type"] == "extra_forbidden"), faults[0])
    place, kind, context = _place(fault), fault["type"], fault.get("ctx") or {}
    if kind == "json_invalid":
        position = fault["loc"][-1]
        what = f"is not valid JSON after {_count(position, 'character')}" if position else "is not JSON"
        return f"The body {what}; send {_describe_body(model)}."
    if kind == "missing":
        if not place:
            return f"{whole} is empty; send {_describe_body(model)}."
        return f"{place} is missing; give it{_fields(model)}."
    if kind == "extra_forbidden":
        return f"{place} is an unknown field; correct it or leave it out{_fields(model)}."
    if kind == "value_error":
        message = fault["msg"].removeprefix("Value error, ")
        return f"{place}: {message}." if place else f"{message}."
    if not place:
        if isinstance(fault["input"], bytes):
            return f"{whole} was not sent as JSON; send {_describe_body(model)} with the header Content-Type: application/json."
        return f"{whole} should be an object, not {_describe_value(fault['input'])}; send {_describe_body(model)}."
    return f"{place} {_wrong(kind, context, fault['input'], _expected_at(place, faults))}."


def explain_failure(error: BaseException | None) -> str:
    """Say what failed inside the service, in one sentence that tells nothing of its files or of the request."""
    if isinstance(error, MemoryError):
        return "The service has too little memory for this request; send less at once, or try again later."
    if isinstance(error, RecursionError):
        return "The request is nested too deeply for the service; send it with less nesting."
    if isinstance(error, OSError) and error.strerror:
        return f"The service failed at a file or a connection ({error.strerror}); see its log."
    return FAILED


def _wrong(kind: str, context: Mapping[str, Any], value: object, expectation: str) -> str:
    """Describe what is wrong with the value of a field."""
    if kind in ("too_short", "too_long"):
        size = _count(context.get("actual_length", 0), "entry", "entries")
        if kind == "too_short":
            return f"has {size} but needs at least {context['min_length']}; give more"
        return f"has {size} but may have at most {context['max_length']}; send fewer at once"
    if kind == "string_too_long":
        return f"has {_count(len(str(value)), 'character')} but may have at most {context['max_length']}; shorten it"
    shown = short(str(value)) if kind.endswith("_than_equal") else _describe_value(value)
    if not expectation:
        return f"cannot be {shown}; see /docs for what it may be"
    advice = _ADVICE.get(expectation, "") if isinstance(value, str | int | float) else ""
    advice = "use one of these" if kind == "literal_error" else advice or "correct it"
    return f"should be {expectation}, not {shown}; {advice}"


def _place(fault: Any) -> str:
    """The field, with list positions counted from 0; the kinds of a union, which pydantic lists too, are left out."""
    name, *rest = fault["loc"] or ("",)
    # FastAPI's name for where it is sent; of a parameter of the URL the name follows, and a field may be called "query" itself.
    if name == "body" or (name in ("query", "path") and rest):
        name, *rest = rest or ("",)
    return short(str(name)) + "".join(f"[{part}]" for part in rest if isinstance(part, int))


def _expected_at(place: str, faults: Sequence[Any]) -> str:
    """What the value there may be: if several kinds are allowed, each has its own fault."""
    kinds = [expected(one) for one in faults if _place(one) == place]
    return " or ".join(dict.fromkeys(kind for kind in kinds if kind))


def _describe_body(model: type[BaseModel] | None) -> str:
    """Describe what a whole body should be."""
    if model is None:
        return "one JSON object"
    fields = [f'"{name}": …' for name, field in model.model_fields.items() if field.is_required()]
    return f"one JSON object, {{{', '.join(fields)}}}"


def _fields(model: type[BaseModel] | None) -> str:
    return f" (known fields: {', '.join(model.model_fields)})" if model else ""


def _describe_value(value: object) -> str:
    """Describe what came, in few words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, int | float):
        return f"the number {short(str(value))}"
    if isinstance(value, str):
        return f"the text “{short(value)}”"
    return "a list" if isinstance(value, list) else "an object" if isinstance(value, dict) else "other data"


def short(text: str) -> str:
    """The beginning of what came, on one line."""
    line = " ".join("".join(one if one.isprintable() else " " for one in text[: 2 * _LONGEST]).split())
    return line if len(line) <= _LONGEST and len(text) <= 2 * _LONGEST else f"{line[:_LONGEST]}…"


def _count(number: object, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def repair_json(text: str) -> str:
    r"""The same JSON with U+FFFD in place of each lone surrogate (`\ud800`); raises `ValueError` if it is not JSON."""
    if "\\ud" not in text.lower():
        return text
    return replace_surrogates(json.dumps(json.loads(text), ensure_ascii=False))
