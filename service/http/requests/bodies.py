"""Bodies of requests: JSON in which no text has a lone surrogate, read without holding up other requests."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute

from service.http.requests.parts import parts_of
from service.http.requests.surrogates import repair_json

_SMALL = 65_536
"""Bytes that are read in a millisecond."""


class _JsonRequest(Request):
    async def json(self) -> Any:
        """The body's value. Large bodies are read one after the other, so that other requests come between them."""
        body = await self.body()
        if len(body) < _SMALL:
            return _read(body)
        async with parts_of(self).reading_body:
            return _read(body)


class JsonRoute(APIRoute):
    """A route whose body is read like this."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The route's own handler, given a request of this kind."""
        handle = super().get_route_handler()

        async def handle_json(request: Request) -> Response:
            return await handle(_JsonRequest(request.scope, request.receive))

        return handle_json


def _read(body: bytes) -> Any:
    text = body.decode(json.detect_encoding(body))
    # There is no garbage in what is being read, but Python would look for it over and over: 0.31 s for 340,000 empty lists
    # in place of 0.02.
    gc.disable()
    try:
        return json.loads(repair_json(text))
    finally:
        gc.enable()
