"""The client of every OpenAI-compatible chat server: OpenAI's own, vLLM, Ollama, llama.cpp, `transformers serve`.

The official client handles the protocol, the retries with backoff and the wait that a server asks for (Retry-After). This module
turns its errors into sentences, requests a truncated reply again, paces requests, counts tokens, and checks a structured answer
against the requested schema, which some servers ignore. The official client checks no types, and servers leave fields out.

A slow model writes for minutes: the reading of a streamed reply ends when the reply repeats itself for ever, or when nobody is
waiting for it any more. The job sets a check for its thread (`stop_by`), which is called at every piece; the connection is closed
if it raises.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeGuard, TypeVar

from pydantic import BaseModel, ValidationError

from retrieval.core.errors import BadConfig, ModelUnusable
from retrieval.core.values import Usage
from retrieval.runtime.pace import Pace

if TYPE_CHECKING:
    from openai import APIStatusError, OpenAI

BAD_REQUEST, NOT_FOUND = 400, 404
NOT_KNOWN = (BAD_REQUEST, NOT_FOUND, 422, 501)
"""The status codes of servers that do not support json_schema."""
TOO_LONG = re.compile(r"context (?:size|length|window)", re.IGNORECASE)
_MOST_QUOTED = 200
_TAIL, _TIMES, _EVERY = 40, 5, 20
"""A text loops if its last characters, this many, occur in it so often; it is looked at whenever so many pieces have come."""
_AWAY_SECONDS = 30.0
"""A server that could not be reached, or did not answer in time, is asked nothing for so long: each try costs all the retries."""
_check: ContextVar[Callable[[], object] | None] = ContextVar("check", default=None)


def close_schema(schema: type[BaseModel]) -> dict[str, object]:
    """The JSON schema as strict servers want it: no other keys, and every key required and without a default, at every level."""
    json_schema = schema.model_json_schema()
    for part in (json_schema, *json_schema.get("$defs", {}).values()):
        if "properties" in part:
            part.update(additionalProperties=False, required=list(part["properties"]))
            for one in part["properties"].values():
                one.pop("default", None)
    return json_schema


def quote_refusal(error: APIStatusError) -> str:
    """The server's own message about a request that it cannot handle, such as one that is too long for the model."""
    body = error.body
    message = body.get("message") if isinstance(body, dict) else None
    if error.status_code not in (BAD_REQUEST, NOT_FOUND) or not isinstance(message, str) or not message.strip():
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
    """Call `check` before every request and at every piece of a reply in this context; an exception ends the work."""
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


Answer = TypeVar("Answer", bound=BaseModel)
CHARACTERS_A_TOKEN = 4
"""Roughly, for English: the basis of the budget if a server does not report its usage."""


class ChatUnanswered(ModelUnusable):
    """The server gave no usable answer: it is unreachable or overloaded, it refused, or the answer violates the schema.

    `status` is 503 if trying again later may help, 502 if the server answered but the answer is unusable; `http_status` is the
    server's own, 0 if it gave none.
    """

    def __init__(self, message: str, status: int = 502, http_status: int = 0) -> None:
        super().__init__(message)
        self.status, self.http_status = status, http_status


@dataclass(slots=True)
class UsageCounter:
    """The requests and tokens of a model so far; counts are the server's own if it reports them."""

    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    lock: Lock = field(default_factory=Lock, repr=False)

    def add(self, prompt: int, completion: int) -> None:
        """Count one answered request."""
        with self.lock:
            self.requests += 1
            self.prompt_tokens += prompt
            self.completion_tokens += completion


@dataclass(frozen=True, slots=True)
class Completion:
    """A reply in plain text; `whole` means that the model finished and was not cut off at the token limit."""

    text: str
    whole: bool
    usage: Usage


class _ReplyCutOff(Exception):
    """A reply that did not arrive completely."""


class Chat:
    """A chat model behind a base URL. The key is read from the environment variable `key_env` and never kept or shown.

    `base_url` None means the client's own default (OPENAI_BASE_URL, else OpenAI's). Servers on the local machine need no key.
    At most `per_minute` requests are sent per minute, and none once `budget` tokens are used. `price` is in US dollars per
    million tokens of prompt and of completion. Safe to use from several threads.
    Raises `BadConfig` for options out of range, or if there is no key.
    """

    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        key_env: str = "OPENAI_API_KEY",
        timeout: float = 60.0,
        retries: int = 3,
        per_minute: int | None = None,
        budget: int | None = None,
        price: Sequence[float] | None = None,
    ) -> None:
        if not model:
            raise BadConfig("A chat model needs a name in `model`, such as gpt-4o-2024-11-20 or what the server lists.")
        if not (_is_number(timeout) and timeout > 0 and is_count(retries, 0)):
            raise BadConfig(f"timeout {timeout} and retries {retries} do not fit; expected seconds above 0, and 0 or more.")
        if any(one is not None and not is_count(one, 1) for one in (per_minute, budget)):
            raise BadConfig(f"per_minute {per_minute} and budget {budget} do not fit; expected counts of at least 1, or nothing.")
        if price is not None and not (len(price) == 2 and all(_is_number(one) and one >= 0 for one in price)):
            raise BadConfig(
                f"price {price} does not fit; expected dollars a million tokens of prompt and of completion, [2.5, 10]."
            )
        self.model, self.base_url, self.usage = model, base_url, UsageCounter()
        self._key_env, self._timeout, self._retries = key_env, timeout, retries
        self._pace, self._budget, self._price = Pace(per_minute), budget, price
        self._tokens_used, self._in_words = 0, False
        self._away_until, self._away = 0.0, ""
        self._client: OpenAI | None = None
        self._lock = Lock()

    def complete_structured(self, system: str, user: str, schema: type[Answer], max_tokens: int = 400) -> Answer:
        """The answer as `schema`; raises `ChatUnanswered` with one sentence for any other reply.

        A server that rejects `json_schema` gets the schema in words from then on.
        """
        try:
            reply = self._ask_by_schema(system, user, schema, max_tokens)
        except _ReplyCutOff:
            raise ChatUnanswered(self._describe("gave an incomplete answer")) from None
        self._count(reply, len(system) + len(user) + len(reply.text))
        if reply.refused or not reply.text:
            raise ChatUnanswered(self._describe("refused to answer" if reply.refused else "gave an empty answer"))
        try:
            return schema.model_validate_json(find_json(reply.text))
        except ValidationError:
            fault = f"did not answer in the requested format ({', '.join(schema.model_fields)})"
            if reply.finish == "length":
                fault = f"was cut off after {max_tokens:,} tokens"
            raise ChatUnanswered(self._describe(fault)) from None

    def list_models(self) -> list[str]:
        """The names of the server's models, none where it does not list them; raises `ChatUnanswered` if it cannot be asked."""
        try:
            with self._translate_errors():
                return sorted(one.id for one in self._connect().models.list())
        except ChatUnanswered as error:
            if error.http_status == NOT_FOUND:
                return []
            raise ChatUnanswered(str(error).replace(f"The model {self.model}", "The server"), error.status) from None
        except _ReplyCutOff:
            return []

    def _ask_by_schema(self, system: str, user: str, schema: type[BaseModel], max_tokens: int) -> ChatReply:
        strict_schema = close_schema(schema)
        if not self._in_words:
            form = {"name": schema.__name__, "strict": True, "schema": strict_schema}
            try:
                return self._ask(
                    system, user, max_tokens, temperature=0.0, response_format={"type": "json_schema", "json_schema": form}
                )
            except ChatUnanswered as error:
                # A server without response_format rejects the request as bad; it does the same for one that is too long.
                if error.http_status not in NOT_KNOWN or TOO_LONG.search(str(error)):
                    raise
        instructions = f"{system}\n\nAnswer with one JSON object and nothing else, by this schema: {json.dumps(strict_schema)}"
        reply = self._ask(instructions, user, max_tokens, temperature=0.0)
        self._in_words = True
        return reply

    def complete(
        self,
        system: str,
        user: str,
        max_tokens: int,
        stop: Sequence[str] = (),
        temperature: float = 0.0,
        seed: int | None = None,
        stream: bool = True,
    ) -> Completion:
        """The reply as plain text, streamed unless `stream` is False; raises `ChatUnanswered` if there is none.

        A reply that breaks off is requested again, at most `retries` times.
        """
        options: dict[str, Any] = {"temperature": temperature}
        options |= {"stop": list(stop)} if stop else {}
        options |= {"seed": seed} if seed is not None else {}
        options |= {"stream": True, "stream_options": {"include_usage": True}} if stream else {}
        for _ in range(self._retries + 1):
            try:
                reply = self._ask(system, user, max_tokens, **options)
            except _ReplyCutOff:
                continue
            usage = self._count(reply, len(system) + len(user) + len(reply.text))
            if reply.refused or reply.finish == "content_filter":
                raise ChatUnanswered(self._describe("refused to answer"))
            if reply.finish and not reply.text.strip():
                raise ChatUnanswered(self._describe("gave an empty answer"))
            if reply.finish:
                return Completion(reply.text, reply.finish != "length", usage)
        raise ChatUnanswered(self._describe("gave an incomplete answer each time"))

    def _ask(self, system: str, user: str, max_tokens: int, **options: Any) -> ChatReply:
        """The reply to one request with the client's own `options`; raises `_ReplyCutOff` if it breaks off."""
        self._wait_for_turn()
        create: Any = self._connect().chat.completions.create
        messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        with self._translate_errors():
            reply = create(model=self.model, messages=messages, max_completion_tokens=max_tokens, **options)
            if options.get("stream"):
                with reply as pieces:
                    return read_stream(pieces)
        return read_reply(reply)

    def _wait_for_turn(self) -> None:
        """Wait for this request's turn; raise if the budget is spent, or if nobody waits for the reply any more."""
        if self._budget is not None and self._tokens_used >= self._budget:
            raise ChatUnanswered(
                self._describe(f"has used its budget of {self._budget:,} tokens; raise `budget` to continue"), 503
            )
        self._pace.wait()
        if check := _check.get():
            check()
        if time.monotonic() < self._away_until:
            raise ChatUnanswered(self._away, 503)

    def _leave_alone(self, fault: str) -> ChatUnanswered:
        """The error for a server that does not answer, which is not asked again for a while."""
        self._away_until, self._away = time.monotonic() + _AWAY_SECONDS, self._describe(fault)
        return ChatUnanswered(self._away, 503)

    def _count(self, reply: ChatReply, characters: int) -> Usage:
        """Count one answered request; if the server reports no counts, the budget is charged by `characters`."""
        prompt, completion = reply.prompt_tokens, reply.completion_tokens
        self.usage.add(prompt, completion)
        with self._lock:
            self._tokens_used += prompt + completion or characters // CHARACTERS_A_TOKEN
        cost = (prompt * self._price[0] + completion * self._price[1]) / 1e6 if self._price else None
        return Usage(1, prompt, completion, cost)

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """Turn the client's errors into one sentence each; what does not parse is a reply that broke off.

        Only the client runs in this context: an error of our own must never be mistaken for one of the connection.
        """
        from openai import APIConnectionError, APIStatusError, APITimeoutError, OpenAIError

        try:
            yield
        except APITimeoutError:
            raise self._leave_alone(f"did not answer within {self._timeout:g} s") from None
        except APIConnectionError as error:
            if _broke_while_reading(error):
                raise _ReplyCutOff from None
            raise self._leave_alone("cannot be reached; start the server or correct base_url") from None
        except APIStatusError as error:
            busy = error.status_code in (429, 503)
            message = self._describe(f"answered with HTTP status {error.status_code}{quote_refusal(error)}")
            raise ChatUnanswered(message, 503 if busy else 502, error.status_code) from None
        except OpenAIError as error:
            raise ChatUnanswered(self._describe(f"cannot be used ({type(error).__name__})")) from None
        except (ValueError, RecursionError):  # the client passes on what its JSON parser raises
            raise _ReplyCutOff from None

    def _connect(self) -> OpenAI:
        """The client, made at the first use: importing it takes a second, and most runs have no such model."""
        with self._lock:
            if self._client is None:
                from openai import OpenAI

                key = os.environ.get(self._key_env) or ("none" if self.base_url else "")
                if not key:
                    raise BadConfig(
                        f"The model {self.model} needs a key: set {self._key_env}, or give base_url for a server of your own."
                    )
                if not key.isascii():
                    raise BadConfig(
                        f"The key in {self._key_env} has a letter beyond ASCII, which no header carries; set it anew."
                    )
                self._client = OpenAI(api_key=key, base_url=self.base_url, timeout=self._timeout, max_retries=self._retries)
            return self._client

    def _describe(self, what: str) -> str:
        return f"The model {self.model} at {self.base_url or 'the default address'} {what}."


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _broke_while_reading(error: Exception) -> bool:
    """Whether the connection broke after the server had begun to answer."""
    return "RemoteProtocolError" in type(error.__cause__).__name__ or "ReadError" in type(error.__cause__).__name__
