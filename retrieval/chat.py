"""One door to every OpenAI-compatible chat server: OpenAI's own, vLLM, Ollama, llama.cpp, `transformers serve`.

The official client does the wire, the retries with backoff and the waiting that a server asks for (Retry-After). Here its
errors become sentences, and a structured answer is checked against the schema that was asked for: some servers ignore it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel, ValidationError

from retrieval.errors import BadConfig, ModelUnusable

if TYPE_CHECKING:
    from openai import OpenAI
    from openai.types.shared_params import ResponseFormatJSONSchema

Answer = TypeVar("Answer", bound=BaseModel)


class ChatUnanswered(ModelUnusable):
    """The server gave no usable answer: unreachable, overloaded, refusing, or out of the schema."""


@dataclass(slots=True)
class Usage:
    """What a model has been asked so far; counts are the server's own where it gives them."""

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


class Chat:
    """A chat model behind a base URL. The key is read from the environment variable `key_env` and never kept or shown.

    `base_url` None means the client's own default (OPENAI_BASE_URL, else OpenAI's). Servers on one's own machine need no key.
    Safe to use from several threads.
    """

    def __init__(
        self, model: str, base_url: str | None = None, key_env: str = "OPENAI_API_KEY", timeout: float = 60.0, retries: int = 3
    ) -> None:
        if not model:
            raise BadConfig("A chat model needs a name in `model`, such as gpt-4o-2024-11-20 or what the server lists.")
        if timeout <= 0 or retries < 0:
            raise BadConfig(f"timeout {timeout} and retries {retries} do not fit; expected seconds above 0, and 0 or more.")
        self.model, self.base_url, self.usage = model, base_url, Usage()
        self._key_env, self._timeout, self._retries = key_env, timeout, retries
        self._client: OpenAI | None = None
        self._lock = Lock()

    def structured(self, system: str, user: str, schema: type[Answer], max_tokens: int = 400) -> Answer:
        """The answer as `schema`; raises `ChatUnanswered` in one sentence for whatever else came back."""
        from openai import APIConnectionError, APIStatusError, APITimeoutError, OpenAIError

        form: ResponseFormatJSONSchema = {
            "type": "json_schema",
            "json_schema": {"name": schema.__name__, "strict": True, "schema": _closed(schema)},
        }
        try:
            reply = self._connected().chat.completions.create(
                model=self.model,
                messages=[{"role": "system", "content": system}, {"role": "user", "content": user}],
                response_format=form,
                temperature=0.0,
                max_completion_tokens=max_tokens,
            )
        except APITimeoutError:
            raise ChatUnanswered(self._told(f"did not answer within {self._timeout:g} s")) from None
        except APIConnectionError:
            raise ChatUnanswered(self._told("cannot be reached; start the server or correct base_url")) from None
        except APIStatusError as error:
            raise ChatUnanswered(self._told(f"answered with HTTP status {error.status_code}")) from None
        except OpenAIError as error:
            raise ChatUnanswered(self._told(f"cannot be used ({type(error).__name__})")) from None
        if reply.usage:
            self.usage.add(reply.usage.prompt_tokens, reply.usage.completion_tokens)
        else:
            self.usage.add(0, 0)
        message = reply.choices[0].message if reply.choices else None
        if message is None or message.refusal or not message.content:
            raise ChatUnanswered(self._told("refused to answer" if message and message.refusal else "gave an empty answer"))
        try:
            return schema.model_validate_json(message.content)
        except ValidationError:
            raise ChatUnanswered(self._told(f"did not answer in the form asked for ({', '.join(schema.model_fields)})")) from None

    def _connected(self) -> OpenAI:
        """The client, made at the first use: importing it takes a second, and most runs have no such model."""
        with self._lock:
            if self._client is None:
                from openai import OpenAI

                key = os.environ.get(self._key_env) or ("none" if self.base_url else "")
                if not key:
                    raise BadConfig(
                        f"The model {self.model} needs a key: set {self._key_env}, or give base_url for a server of your own."
                    )
                self._client = OpenAI(api_key=key, base_url=self.base_url, timeout=self._timeout, max_retries=self._retries)
            return self._client

    def _told(self, what: str) -> str:
        return f"The model {self.model} at {self.base_url or 'the default address'} {what}."


def _closed(schema: type[BaseModel]) -> dict[str, object]:
    """The JSON schema as strict servers want it: no other keys, every key required."""
    made = schema.model_json_schema()
    return {**made, "additionalProperties": False, "required": list(made["properties"])}
