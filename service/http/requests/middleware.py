"""What every request passes first: it gets an id, limits on its body, a line in the log and a count in the metrics."""

from __future__ import annotations

import asyncio
import logging
import re
import time
import uuid
from collections.abc import Collection, Mapping
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.http.requests import problems
from service.http.requests.senders import Senders
from service.operating import metrics
from service.operating.settings import Settings

_log = logging.getLogger("counterpoint")
_access = logging.getLogger("counterpoint.access")
_SANE = re.compile(r"[A-Za-z0-9._:/+=@-]{1,128}")
_ASKED_BY_MACHINES = ("/health", "/metrics")
"""Routes that machines request every few seconds; they get no line in the log."""
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class _TooLarge(HTTPException):
    """The body is larger than it may be, whatever its headers said.

    An HTTPException, since those are the only ones that FastAPI passes on while it reads a body.
    """

    def __init__(self, most: int) -> None:
        super().__init__(413, f"The body is larger than {most:,} bytes; send less at once.")


class _TooSlow(HTTPException):
    """The body did not arrive in time. The rest of it would be read as the next request, so the connection is closed."""

    def __init__(self, seconds: float) -> None:
        super().__init__(
            408, f"The body did not arrive within {seconds:g} seconds; send it faster, or send less.", {"Connection": "close"}
        )


class OuterMiddleware:
    """The outermost middleware; pure ASGI, since streams and disconnections must pass through it untouched."""

    def __init__(self, app: ASGIApp, settings: Settings, files: Collection[str]) -> None:
        """`files` are the paths that take files, whose bodies may be larger."""
        self._app, self._settings, self._files = app, settings, files
        self._senders = Senders(settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request; other kinds of connection pass through."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope.setdefault("state", {})
        header = Headers(scope=scope).get("x-request-id", "")
        id = header if _SANE.fullmatch(header) else uuid.uuid4().hex
        token = problems.request_id.set(id)
        sender = _Sender(send, id)
        start = time.perf_counter()
        # HEAD is answered as GET; the server leaves the body out, since its own scope still says HEAD.
        method = scope["method"]
        scope = {**scope, "method": "GET" if method == "HEAD" else method}
        try:
            await self._answer(scope, receive, sender)
        finally:
            problems.request_id.reset(token)
            _note(scope, method, sender.status, time.perf_counter() - start, id)

    async def _answer(self, scope: Scope, receive: Receive, sender: _Sender) -> None:
        if reason := self._senders.refuse(scope):
            metrics.REFUSED.labels(reason="another site").inc()
            await problems.response(403, reason, {"Connection": "close"})(scope, receive, sender)
            return
        settings = self._settings
        most, longest = settings.body_bytes, settings.body_seconds
        if scope["path"] in self._files:
            most = max(most, settings.file_bytes)
        size, whole, deadline = 0, False, asyncio.get_running_loop().time() + longest

        async def limited_receive() -> Message:
            nonlocal size, whole
            try:
                # After the body, the only message is that the client has left, and that may come at any time.
                async with asyncio.timeout_at(None if whole else deadline):
                    message = await receive()
            except TimeoutError:
                raise _TooSlow(longest) from None
            size += len(message.get("body", b""))
            whole = not message.get("more_body", False)
            if size > most:
                raise _TooLarge(most)
            return message

        fault: tuple[int, str, Mapping[str, str] | None]
        try:
            length = Headers(scope=scope).get("content-length", "")
            if length.isascii() and length.isdigit() and (len(length) > 18 or int(length) > most):
                raise _TooLarge(most)
            await self._app(scope, limited_receive, sender)
            return
        except (_TooLarge, _TooSlow) as error:
            fault = error.status_code, error.detail, error.headers
        except Exception as error:
            _log.exception("a request failed")
            failure = problems.problem_of_failure(error)
            fault = failure.status, failure.detail, None
        if not sender.status:
            await problems.response(*fault)(scope, receive, sender)


class _Sender:
    """Passes messages on, and adds the headers of every response to the first."""

    def __init__(self, send: Send, id: str) -> None:
        self._send, self._id, self.status = send, id, 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            headers["X-Request-ID"] = self._id
            headers["X-Content-Type-Options"] = "nosniff"
            headers["Referrer-Policy"] = "no-referrer"
        await self._send(message)


def _note(scope: Scope, method: str, status: int, seconds: float, id: str) -> None:
    """Write the request's line in the log and count it in the metrics; neither contains the path as requested."""
    route: Any = scope.get("route")
    path = str(getattr(route, "path_format", "")) or "unknown"
    # Methods that a client makes up must not create ever more labels.
    method = method if method in _METHODS else "other"
    metrics.REQUESTS.labels(method=method, route=path, status=str(status or problems.CLIENT_LEFT)).observe(seconds)
    fields = {"method": method, "route": path, "status": status or problems.CLIENT_LEFT, "ms": round(seconds * 1000, 1), "id": id}
    if path not in _ASKED_BY_MACHINES:
        _access.info("request", extra={"told": fields | scope.get("state", {}).get("told", {})})
