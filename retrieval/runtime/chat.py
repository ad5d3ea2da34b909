"""The client of every OpenAI-compatible chat server: OpenAI's own, vLLM, Ollama, llama.cpp, `transformers serve`.

The official client handles the protocol, the retries with backoff and the wait that a server asks for (Retry-After). This module
turns its errors into sentences, asks again without what a server refuses (retrieval.runtime.chat_requests), requests a truncated
reply again, paces and counts requests, and reads the answer out of whatever a reply holds (retrieval.runtime.replies).

A slow model writes for minutes: the reading of a streamed reply ends when the reply repeats itself for ever, or when nobody is
waiting for it any more. The job sets a check for its thread (`stop_by`), which is called at every piece; the connection is closed
if it raises.
"""

from __future__ import annotations

import base64
import os
import re
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, Field

from counterpoint.retrieval.core.addresses import find_proxy, hide_login, read_key, split_login
from counterpoint.retrieval.core.errors import BadConfig, ModelUnusable
from counterpoint.retrieval.core.values import Usage
from counterpoint.retrieval.runtime.chat_requests import BARE, FORMS, LIMITS, ChatRequest, Part, find_refused, know_server
from counterpoint.retrieval.runtime.replies import (
    Answer,
    ChatReply,
    describe_fault,
    read_answer,
    read_reply,
    read_stream,
    strip_thoughts,
)
from counterpoint.retrieval.runtime.usage import record, spend

if TYPE_CHECKING:
    from httpx2 import Client
    from openai import APIConnectionError, OpenAI

OPENAI = "https://api.openai.com/v1"
_OK, _BAD_REQUEST, _NOT_FOUND = 200, 400, 404
_MAY_REFUSE = (_BAD_REQUEST, _NOT_FOUND, 415, 422, 500, 501)
"""The status codes of servers that do not support a part of a request."""
TOO_LONG = re.compile(
    r"context.?(?:size|length|window)|(?:prompt|input|request) (?:is|are) too (?:long|large)|too many (?:input )?tokens"
    r"|reduce the length|token count exceeds",
    re.IGNORECASE,
)
_MOST_QUOTED = 200
_AWAY_SECONDS = 30.0
"""A server that could not be reached, or did not answer in time, is asked nothing for so long: each try costs all the retries."""
_check: ContextVar[Callable[[], object] | None] = ContextVar("check", default=None)


@contextmanager
def stop_by(check: Callable[[], object]) -> Iterator[None]:
    """Call `check` before every request and at every piece of a reply in this context; an exception ends the work."""
    token = _check.set(check)
    try:
        yield
    finally:
        _check.reset(token)


Count = Annotated[int, Field(ge=1)]
Retries = Annotated[int, Field(ge=0)]
Seconds = Annotated[float, Field(gt=0)]
Price = Annotated[Sequence[Annotated[float, Field(ge=0)]], Field(min_length=2, max_length=2)]
"""Options of a chat model, which are checked when a profile is read."""
CHARACTERS_A_TOKEN = 4
"""Roughly, for English: what is counted if a server does not report its usage."""


class ChatUnanswered(ModelUnusable):
    """The server gave no usable answer: it is unreachable or overloaded, it refused, or the answer violates the schema.

    `status` is 503 if trying again later may help, 502 if the server answered but the answer is unusable; `http_status` is the
    server's own, 0 if it gave none, and `said` what it said.
    """

    def __init__(self, message: str, status: int = 502, http_status: int = 0, said: str = "") -> None:
        super().__init__(message)
        self.status, self.http_status, self.said = status, http_status, said


class BudgetSpent(ChatUnanswered):
    """The work's budget has no room for another request."""


@dataclass(frozen=True, slots=True)
class Completion:
    """A reply in plain text; `whole` means that the model finished and was not cut off at the token limit."""

    text: str
    whole: bool


class _ReplyCutOff(Exception):
    """A reply that did not arrive completely."""


class Chat:
    """A chat model behind a base URL. The key is read from the environment variable `key_env` and never kept or shown.

    `base_url` None means OPENAI_BASE_URL, else OpenAI's own address; a user name and a password in it are sent in place of a key.
    A server of your own needs no key. At most `per_minute` requests are sent per minute, and none once `budget` tokens are used
    by all who ask this model in this process. `price` is in US dollars per million tokens of prompt and of completion.
    `leave_out` names parts of requests that the server refuses; others are found as it refuses them. Safe to use from several
    threads. Raises `BadConfig` if there is no key.
    """

    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        key_env: str = "OPENAI_API_KEY",
        timeout: Seconds = 60.0,
        retries: Retries = 3,
        per_minute: Count | None = None,
        budget: Count | None = None,
        price: Price | None = None,
        leave_out: Sequence[Part] = (),
    ) -> None:
        if not model:
            raise BadConfig("A chat model needs a name in `model`, such as gpt-4o-2024-11-20 or what the server lists.")
        self._own = bool(base_url or os.environ.get("OPENAI_BASE_URL"))
        self.model = model
        self.address, self._login = split_login(base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI)
        self.server = know_server(self.address, model)
        self._leave_out = frozenset(leave_out)
        self._key_env, self._timeout, self._retries = key_env, timeout, retries
        self._pace, self._budget, self._price = self.server.pace(per_minute), budget, price
        self._key, self._proxy = "", find_proxy(self.address)
        self._away_until, self._away = 0.0, ""
        self._client: OpenAI | None = None
        self._lock = Lock()

    def complete_structured(self, system: str, user: str, schema: type[Answer], max_tokens: int = 400) -> Answer:
        """The answer as `schema`; raises `ChatUnanswered` with one sentence for any other reply."""
        try:
            reply = self._ask(ChatRequest(system, user, max_tokens, schema))
        except _ReplyCutOff:
            raise ChatUnanswered(self._describe("gave an incomplete answer")) from None
        if reply.refused:
            raise ChatUnanswered(self._describe("refused to answer"))
        cut = reply.finish == "length"
        text = strip_thoughts(reply.text) or ("" if cut else reply.text or reply.thoughts)
        if (answer := read_answer(text, schema)) is not None:
            return answer
        if cut:
            fault = f"was cut off after {max_tokens:,} tokens{'' if text else ', still thinking'}; raise max_tokens"
        elif text:
            fault = f"did not answer in the requested format ({', '.join(schema.model_fields)})"
        else:
            fault = self._explain_empty(reply)
        raise ChatUnanswered(self._describe(fault))

    def complete(
        self,
        system: str,
        user: str,
        max_tokens: int,
        stop: Sequence[str] = (),
        temperature: float = 0.0,
        seed: int | None = None,
        stream: bool = True,
        schema: type[BaseModel] | None = None,
    ) -> Completion:
        """The reply as plain text without the model's thoughts, streamed unless `stream` is False.

        With a `schema` JSON of this form is asked for. A reply that breaks off is requested again, at most `retries` times.
        Raises `ChatUnanswered` if there is none.
        """
        request = ChatRequest(system, user, max_tokens, schema, temperature, tuple(stop), seed, stream)
        for _ in range(self._retries + 1):
            try:
                reply = self._ask(request)
            except _ReplyCutOff:
                continue
            if reply.refused or reply.finish == "content_filter":
                raise ChatUnanswered(self._describe("refused to answer"))
            text = strip_thoughts(reply.text)
            if schema and not text and "{" in (all_said := reply.text or reply.thoughts) and reply.finish != "length":
                text = all_said
            if (reply.finish or reply.bare) and not text:
                raise ChatUnanswered(self._describe(self._explain_empty(reply)))
            if reply.finish:
                return Completion(text, reply.finish != "length")
        raise ChatUnanswered(self._describe("gave an incomplete answer each time"))

    def list_models(self) -> list[str]:
        """The names of the server's models, none where it does not list them; raises `ChatUnanswered` if it cannot be asked."""
        try:
            with self._translate_errors():
                return sorted(one.id for one in self._connect().models.list())
        except ChatUnanswered as error:
            if error.http_status == _NOT_FOUND:
                return []
            raise ChatUnanswered(str(error).replace(f"The model {self.model}", "The server"), error.status) from None
        except _ReplyCutOff:
            return []

    def _ask(self, request: ChatRequest) -> ChatReply:
        """The reply to a request without what the server refuses; raises `_ReplyCutOff` if it breaks off."""
        refused = self.server.refused | self._leave_out
        try:
            reply = self._send(request, refused)
        except ChatUnanswered as fault:
            if not self._may_refuse(fault):
                raise
            with self.server.finding_out:
                if self.server.knows_fault(fault.said):
                    raise
                if found := self.server.refused <= refused:
                    reply, refused = self._ask_for_less(request, refused, fault)
                    self.server.learn(refused - self._leave_out, request.list_parts(refused))
            return reply if found else self._ask(request)
        self.server.learn(refused - self._leave_out, request.list_parts(refused))
        return reply

    def _ask_for_less(
        self, request: ChatRequest, refused: frozenset[Part], fault: ChatUnanswered
    ) -> tuple[ChatReply, frozenset[Part]]:
        """The reply to a request without the part that the server does not support, and all that it does without.

        The parts that an error names are left out first. If it names none, those are tried that no answered request ever had.
        Raises the fault if that does not help. Each request has fewer parts than the last, so there is an end.
        """
        first = fault

        def send(less: frozenset[Part]) -> ChatReply | ChatUnanswered:
            try:
                return self._send(request, less, again=True)
            except ChatUnanswered as error:
                if not self._may_refuse(error):
                    raise
                return error

        while named := find_refused(fault.said, request.list_parts(refused)):
            refused |= {named}
            outcome = send(refused)
            if isinstance(outcome, ChatReply):
                return outcome, refused
            fault = outcome
        suspects = frozenset(request.list_parts(refused)) - self.server.accepted - {"stream"}
        if suspects & FORMS and isinstance(outcome := send(refused | FORMS), ChatReply):
            return outcome, refused | FORMS
        bare = send(refused | BARE) if suspects else fault
        if isinstance(bare, ChatUnanswered):
            self.server.note_fault(first.said)
            raise fault
        for one in (frozenset[Part](("system",)), frozenset[Part](("temperature",)), LIMITS):
            if suspects & one and isinstance(outcome := send(refused | one), ChatReply):
                return outcome, refused | one
        return bare, refused | BARE

    @staticmethod
    def _may_refuse(fault: ChatUnanswered) -> bool:
        """Whether an error may be the fault of a part of the request, other than its length."""
        return fault.http_status in _MAY_REFUSE and not TOO_LONG.search(fault.said)

    def _send(self, request: ChatRequest, refused: Collection[Part], again: bool = False) -> ChatReply:
        """The reply to one request, within the budget; one that is sent `again` is not repeated.

        Raises `_ReplyCutOff` if the reply breaks off.
        """
        tokens = (len(request.system) + len(request.user)) // CHARACTERS_A_TOKEN
        with spend(tokens) as budget:
            if budget:
                raise BudgetSpent(self._describe(f"is asked no more: the budget of {budget} is spent"), 503)
            if not self.server.used.reserve(held := Usage(0, tokens), self._budget):
                raise ChatUnanswered(
                    self._describe(f"has used its budget of {self._budget:,} tokens; raise `budget` to continue"), 503
                )
            try:
                return self._send_reserved(request, refused, again)
            finally:
                self.server.used.release(held)

    def _send_reserved(self, request: ChatRequest, refused: Collection[Part], again: bool) -> ChatReply:
        self._wait_for_turn()
        fields, client = request.fill(refused), self._connect()
        create: Any = (client.with_options(max_retries=0) if again else client).chat.completions.create
        with self._translate_errors():
            answer = create(model=self.model, **fields)
            if fields.get("stream"):
                with answer as pieces:
                    media = pieces.response.headers.get("content-type", "")
                    whole = "" if media.startswith("text/event-stream") else pieces.response.read().decode("utf-8", "replace")
                    reply = read_stream(pieces, _check.get()) if not whole else ChatReply()
            else:
                whole, reply = answer if isinstance(answer, str) else "", read_reply(answer)
        if fields.get("stream") and whole.lstrip().startswith(("{", "data:")):
            raise ChatUnanswered(self._describe("does not stream its replies"), 502, 501, "stream")
        if whole:
            raise ChatUnanswered(self._describe(_explain_page(whole)), 502, _OK)
        if reply.bare and (said := describe_fault(getattr(answer, "error", None))):
            raise ChatUnanswered(self._describe(f"answered with an error ({self._quote(said)})"), 502, _BAD_REQUEST, said)
        self._count_tokens(reply, request)
        return reply

    def _wait_for_turn(self) -> None:
        """Wait for this request's turn; raise if nobody waits for the reply any more, or if the server is left alone."""
        self._pace.wait()
        if check := _check.get():
            check()
        if time.monotonic() < self._away_until:
            raise ChatUnanswered(self._away, 503)

    def _leave_alone(self, fault: str) -> ChatUnanswered:
        """The error for a server that does not answer, which is not asked again for a while."""
        self._away_until, self._away = time.monotonic() + _AWAY_SECONDS, self._describe(fault)
        return ChatUnanswered(self._away, 503)

    def _count_tokens(self, reply: ChatReply, request: ChatRequest) -> None:
        """Count what an answered request took, by its characters if the server does not say."""
        prompt, completion = reply.prompt_tokens, reply.completion_tokens
        if estimated := not prompt and not completion:
            prompt = (len(request.system) + len(request.user)) // CHARACTERS_A_TOKEN
            completion = (len(reply.text) + len(reply.thoughts)) // CHARACTERS_A_TOKEN
        cost = (prompt * self._price[0] + completion * self._price[1]) / 1e6 if self._price else None
        self._count(Usage(0, prompt, completion, cost, estimated=estimated))

    def _count(self, usage: Usage) -> None:
        self.server.used.add(usage)
        record(usage)

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """Turn the client's errors into one sentence each; what does not parse is a reply that broke off.

        Only the client runs in this context: an error of our own must never be mistaken for one of the connection.
        """
        from openai import APIConnectionError, APIError, APIStatusError, APITimeoutError, OpenAIError

        try:
            yield
        except APITimeoutError:
            raise self._leave_alone(f"did not answer within {self._timeout:g} s") from None
        except APIConnectionError as error:
            if _broke_while_reading(error):
                raise _ReplyCutOff from None
            raise self._leave_alone(self._explain_no_connection(error)) from None
        except APIStatusError as error:
            said, busy = describe_fault(error.body), error.status_code in (429, 503)
            why = self._explain_status(error.status_code, said)
            message = self._describe(f"answered with HTTP status {error.status_code}{why}")
            raise ChatUnanswered(message, 503 if busy else 502, error.status_code, said) from None
        except APIError as error:
            said = describe_fault(error.body) or error.message
            raise ChatUnanswered(self._describe(f"broke off with an error ({self._quote(said)})")) from None
        except OpenAIError as error:
            raise ChatUnanswered(self._describe(f"cannot be used ({type(error).__name__})")) from None
        except (ValueError, RecursionError) as error:  # the client passes on what its JSON parser raises
            if str(getattr(error, "doc", "")).lstrip().startswith("<"):
                raise ChatUnanswered(self._describe(_explain_page(error.doc)), 502, _OK) from None  # type: ignore[union-attr]
            raise _ReplyCutOff from None

    def _explain_status(self, status: int, said: str) -> str:
        """What the server says of a request that it does not answer, and what to do, in brackets."""
        if status == 401:  # what it says may hold a part of the key
            if self._login:
                return " (it refuses the user and password of its address; set the right ones)"
            if self._key == _NO_KEY:
                return f" (it asks for a key; set {self._key_env})"
            return f" (it refuses the key in {self._key_env}; set the right one)"
        hints = {_NOT_FOUND: "check the model's name, and the address, which usually ends in /v1", 429: "wait, or set per_minute"}
        long = "give fewer words, or serve the model with a larger context" if TOO_LONG.search(said) else ""
        told = "; ".join(filter(None, (self._quote(said), long or hints.get(status, ""))))
        return f" ({told})" if told else ""

    def _quote(self, said: str) -> str:
        """What a server says, shortened, and without the key."""
        if len(self._key) >= _SHORTEST_KEY:
            said = said.replace(self._key, "…")
        return hide_login(said)[:_MOST_QUOTED].rstrip(".")

    def _explain_no_connection(self, error: APIConnectionError) -> str:
        cause = error.__cause__
        text = str(cause).lower()
        if self._proxy:
            return f"cannot be reached through the proxy that the environment names ({type(cause).__name__}); see NO_PROXY"
        if "certificate" in text:
            return "has a certificate that is not trusted; name its authority's file with SSL_CERT_FILE"
        if "wrong version number" in text or "record layer" in text:
            return "speaks no TLS; write http:// in its address"
        if any(words in text for words in ("name or service", "nodename", "name resolution", "getaddrinfo", "no address")):
            return "cannot be found, since no host has this name; correct base_url"
        return "cannot be reached; start the server or correct base_url"

    @staticmethod
    def _explain_empty(reply: ChatReply) -> str:
        if reply.bare:
            return "gave an empty answer, without a message"
        if reply.thoughts or reply.text:
            cut = reply.finish == "length"
            return "wrote only its thoughts and no answer; raise max_tokens" + ("" if cut else ", or switch its thinking off")
        return "gave an empty answer"

    def _connect(self) -> OpenAI:
        """The client, made at the first use: importing it takes a second, and most runs have no such model."""
        with self._lock:
            if self._client is None:
                from openai import OpenAI

                self._key = read_key(self._key_env) or (_NO_KEY if self._own else "")
                if not self._key:
                    raise BadConfig(
                        f"The model {self.model} needs a key: set {self._key_env}, or give base_url for a server of your own."
                    )
                login = base64.b64encode(":".join(self._login).encode()).decode() if self._login else ""
                headers = {"Authorization": f"Basic {login}"} if login else None
                self._client = OpenAI(
                    api_key=self._key,
                    base_url=self.address,
                    timeout=self._timeout,
                    max_retries=self._retries,
                    default_headers=headers,
                    http_client=_make_http_client(self._proxy, lambda: self._count(Usage(1))),
                )
            return self._client

    def _describe(self, what: str) -> str:
        return f"The model {self.model} at {self.address} {what}."


_NO_KEY = "none"
_SHORTEST_KEY = 8
"""A shorter one may be a usual word, as "ollama" is, and is no secret."""


def _make_http_client(proxy: str | None, count: Callable[[], object]) -> Client:
    """The connection, through a proxy if there is one; every request that reaches the model is counted, repeated ones too."""
    import httpx2

    class Counting(httpx2.BaseTransport):
        transport = httpx2.HTTPTransport(proxy=proxy)

        def handle_request(self, request: httpx2.Request) -> httpx2.Response:
            asks = request.method == "POST"
            try:
                return self.transport.handle_request(request)
            except (httpx2.ConnectError, httpx2.ConnectTimeout):
                asks = False
                raise
            finally:
                if asks:
                    count()

        def close(self) -> None:
            self.transport.close()

    return httpx2.Client(transport=Counting(), follow_redirects=True)


def _explain_page(text: str) -> str:
    if text.lstrip().startswith("<"):
        return "answered with a web page; correct the address, which usually ends in /v1"
    return "answered with a text that is no JSON; is the address that of an OpenAI-compatible server?"


def _broke_while_reading(error: Exception) -> bool:
    """Whether the connection broke after the server had begun to answer."""
    return "RemoteProtocolError" in type(error.__cause__).__name__ or "ReadError" in type(error.__cause__).__name__
