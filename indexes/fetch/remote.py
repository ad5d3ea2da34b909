"""A web service for papers: requests keep to its rate limit, are retried after a fault, and errors take one sentence.

httpx-retries does the back-off and the waiting that a server asks for (Retry-After), also when an answer breaks off or is not
what was asked for. Keys travel in the body of a request, never in a URL, so that no log holds them.
"""

from __future__ import annotations

import urllib.request
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal

import httpx
from httpx_retries import Retry, RetryTransport

from retrieval.core.errors import BadConfig, BadInput, Unfinished
from retrieval.runtime.pace import Pace

TRIES = 6
"""The most attempts at one request."""
_AGAIN = "what was fetched so far is saved: run the same command again to resume"
_TRANSIENT = frozenset({408, 429, 500, 502, 503, 504})
_SHOWN = 200


class NotWhole(Exception):
    """The response is cut off, or holds an error instead of the answer. The request is worth another try."""


class Remote:
    """The service called `name` at `address`, with at most `per_second` requests a second.

    After a fault a request is repeated, up to `TRIES` times in all, after `backoff` seconds, twice that, and so on. `secrets` are
    removed from whatever the service says before it is shown.
    """

    def __init__(
        self,
        name: str,
        address: str,
        per_second: int,
        backoff: float = 1.0,
        secrets: Sequence[str] = (),
    ) -> None:
        if not address.startswith(("http://", "https://")):
            raise BadConfig(f"The address {address!r} of {name} should begin with http:// or https://.")
        self.name = name
        self._address, self._backoff, self._secrets = address.rstrip("/"), backoff, secrets
        self._client = httpx.Client(transport=RetryTransport(_Paced(_connect(self._address), per_second)), timeout=60.0)

    def ask(
        self, method: Literal["GET", "POST"], path: str, fields: Mapping[str, str], check: Callable[[bytes], object]
    ) -> bytes:
        """The body of the response to a request; `check` raises `NotWhole` for one that should be requested again.

        Raises `BadInput` if the service refuses the request, `Unfinished` if it gives no answer.
        """

        def validate(response: httpx.Response) -> None:
            body = response.read()
            if response.is_success:
                check(body)

        retry = Retry(
            total=TRIES - 1,
            allowed_methods=["GET", "POST"],
            status_forcelist=_TRANSIENT,
            retry_on_exceptions=(*Retry.RETRYABLE_EXCEPTIONS, NotWhole),
            backoff_factor=self._backoff / 2,
            backoff_jitter=0.2,
            validate_response=validate,
        )
        options: dict[str, Any] = {"params": fields} if method == "GET" else {"data": fields}
        try:
            answer = self._client.request(method, f"{self._address}/{path}", extensions={"retry": retry}, **options)
            validate(answer)
        except NotWhole as fault:
            why = f"no whole answer in {TRIES} tries ({self._clean(str(fault))})"
            raise Unfinished(f"{self.name} gave {why}; {_AGAIN}.") from None
        except httpx.TransportError as error:
            why = f"{type(error).__name__}: {self._clean(str(error))}"
            raise Unfinished(f"{self.name} cannot be reached at {self._address} ({why}); {_AGAIN}.") from None
        if answer.status_code in _TRANSIENT:
            raise Unfinished(f"{self.name} answered {TRIES} times with the error {answer.status_code}; {_AGAIN}.")
        if not answer.is_success:
            with suppress(NotWhole):
                check(answer.content)  # raises its own error if the body says more than the status
            raise BadInput(f"{self.name} refuses the request with the error {answer.status_code} ({self._clean(answer.text)}).")
        return answer.content

    def refuse(self, message: str, advice: str) -> BadInput:
        """The error for a request that the service understood but refused."""
        return BadInput(f"{self.name} refuses the search ({self._clean(message)}); {advice}.")

    def _clean(self, text: str) -> str:
        """What a service said, shortened, on one line, and without keys."""
        for secret in self._secrets:
            text = text.replace(secret, "…")
        line = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
        return line if len(line) <= _SHOWN else line[:_SHOWN] + "…"

    def close(self) -> None:
        """End the connection."""
        self._client.close()


class _Paced(httpx.BaseTransport):
    """Limits the rate of attempts, retries included, not of requests."""

    def __init__(self, transport: httpx.BaseTransport, per_second: int) -> None:
        self._transport, self._pace = transport, Pace(per_second, period=1.0)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self._pace.wait()
        return self._transport.handle_request(request)

    def close(self) -> None:
        self._transport.close()


def _connect(address: str) -> httpx.HTTPTransport:
    """A transport through the proxy that the environment names, which httpx looks up only when it makes its own transport."""
    url = httpx.URL(address)
    proxy = None if urllib.request.proxy_bypass(url.host) else urllib.request.getproxies().get(url.scheme)
    return httpx.HTTPTransport(proxy=proxy)
