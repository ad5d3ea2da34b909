"""What every request passes first: its sender, its key and how often that was used, an id, limits on its body, the log.

A web page of any site can make its visitor's browser send requests to this machine; if its own name leads here (DNS rebinding),
it can also read the responses. The Host header gives such a name away; Origin and Sec-Fetch-Site tell of any other site.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
import re
import time
import uuid
from dataclasses import dataclass
from ipaddress import ip_address
from math import ceil
from socket import gethostname
from typing import Annotated, Any, cast

from fastapi import Depends, Request, Security
from fastapi.responses import Response
from fastapi.security import APIKeyHeader, HTTPAuthorizationCredentials, HTTPBearer
from limits import RateLimitItem, parse_many
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from counterpoint.service.http.requests import problems
from counterpoint.service.http.requests.problems import Refused
from counterpoint.service.operating import metrics
from counterpoint.service.operating.settings import ANY, SCOPES, KeyScope, Settings, is_own_machine, read_host
from counterpoint.service.schemas.faults import short

_SAFE = ("GET", "HEAD", "OPTIONS", "TRACE")
_HINT = "if this name is meant to work, its operator adds it to the setting hosts (COUNTERPOINT_HOSTS)"


class Senders:
    """Refuses requests to hosts that are not the service's own, and those that pages of other sites send."""

    def __init__(self, settings: Settings) -> None:
        self._named = {*settings.hosts}
        self._only_here = is_own_machine(settings.host)
        self._own = {"localhost", read_host(settings.host)} | (set() if self._only_here else {read_host(gethostname())})

    def refuse(self, scope: Scope) -> str:
        """Why this request is refused, in one sentence; "" if it is not."""
        headers = Headers(scope=scope)
        asked = headers.get("host")
        if asked is not None and not self._is_own(read_host(asked)):
            return f"This service does not answer to the host “{short(asked)}”; {_HINT}."
        if scope["method"] not in _SAFE and not self._is_same_site(headers, asked or ""):
            origin = short(headers.get("origin", "another site"))
            return f"This request was sent by a page of another site ({origin}); use the service's own page, or, {_HINT}."
        return ""

    def _is_own(self, host: str) -> bool:
        """Whether the service is reached by this host. An address that is not a name cannot be another site's."""
        if ANY in self._named or host in self._named | self._own:
            return True
        try:
            address = ip_address(host)
        except ValueError:
            return False
        return address.is_loopback or not self._only_here

    def _is_same_site(self, headers: Headers, asked: str) -> bool:
        """Whether a program or the service's own page sent this. Browsers say so in Sec-Fetch-Site, older ones only in Origin."""
        if site := headers.get("sec-fetch-site"):
            return site in ("same-origin", "none")
        origin = headers.get("origin")
        if origin is None:
            return True
        place = origin.partition("://")[2]
        return bool(place) and (place.lower() == asked.lower() or read_host(place) in self._named)


bearer_key = HTTPBearer(auto_error=False, description="An API key, if the operator requires one.")
header_key = APIKeyHeader(name="X-API-Key", auto_error=False, description="The same key, in the X-API-Key header.")


@dataclass(frozen=True, slots=True)
class Sender:
    """Who sent a request: the holder of its key ("" for none), and what they may do."""

    holder: str = ""
    scope: KeyScope = "read"

    @property
    def seen_as(self) -> str | None:
        """The name by which libraries say who may see them; None is for who sees all."""
        return None if self.scope == "admin" else self.holder

    def may(self, scope: KeyScope) -> bool:
        """Whether they have this scope."""
        return SCOPES.index(self.scope) >= SCOPES.index(scope)


class AccessControl:
    """Admits requests that have a key, up to its limits; the limits are counted in this process.

    Who opened the link that `counterpoint serve` printed has its token in a cookie, and needs no key. Where no key is set,
    everybody else may read: behind a proxy all visitors seem to come from this machine.
    """

    def __init__(self, settings: Settings) -> None:
        self._digests, self._scope_of = settings.digests(), settings.scope_of
        self._token = settings.token.get_secret_value().encode() if settings.token else b""
        self.cookie = f"counterpoint-{settings.port}"
        self._limits: list[RateLimitItem] = parse_many(settings.rate) if settings.rate else []
        self._counts = MovingWindowRateLimiter(MemoryStorage())

    def name(self, key: str) -> str | None:
        """The name of the key's owner, if known. Every key is compared, so that the time taken reveals nothing about them."""
        key_digest, owner = hashlib.sha256(key.encode("utf-8", "replace")).digest(), None
        for name, digest in self._digests.items():
            if hmac.compare_digest(key_digest, digest):
                owner = name
        return owner

    def opens(self, token: str) -> bool:
        """Whether this is the token of the link for the person at the machine."""
        return bool(self._token) and hmac.compare_digest(token.encode("utf-8", "replace"), self._token)

    def sender(self, holder: str) -> Sender:
        """The holder of a key, or who has none."""
        return Sender(holder, self._scope_of(holder) if holder else "read")

    def know(self, request: Request, key: str) -> None:
        """Let the request through if its key is known or none is required; otherwise raise the error to respond with."""
        who, sender = f"address {request.client.host if request.client else ''}", Sender()
        if not key and self.opens(request.cookies.get(self.cookie, "")):
            sender = Sender(scope="admin")
        elif self._digests:
            name = self.name(key)
            if name is None:
                metrics.REFUSED.labels(reason="no key").inc()
                message = "This API key is unknown." if key else "Give an API key as Authorization: Bearer KEY or X-API-Key: KEY."
                raise Refused(message, 401, {"WWW-Authenticate": "Bearer"})
            who, sender = f"key {name}", self.sender(name)
            request.scope.setdefault("state", {}).setdefault("told", {})["key"] = name
        request.scope.setdefault("state", {}).update(who=who, sender=sender)

    def require(self, request: Request, scope: KeyScope) -> None:
        """Let the request through if its sender has this scope; otherwise raise the error to respond with."""
        kind, _, key = request.headers.get("authorization", "").partition(" ")
        self.know(request, key if kind.lower() == "bearer" else request.headers.get("x-api-key", ""))
        if not sender_of(request).may(scope):
            metrics.REFUSED.labels(reason="scope").inc()
            raise Refused(
                f"This needs a key with the scope {scope} or, at this machine, the link that `counterpoint serve` prints.", 403
            )

    def spend(self, request: Request, claims: int) -> None:
        """Count claims against the limits of the sender of the request."""
        who = request.scope.get("state", {}).get("who", "")
        if claims < 1:
            return
        for limit in self._limits:
            if not self._counts.test(limit, who, cost=claims):
                reset = self._counts.get_window_stats(limit, who).reset_time
                metrics.REFUSED.labels(reason="too many").inc()
                raise Refused(
                    f"The limit is {limit}; try again later.", 429, {"Retry-After": str(max(1, ceil(reset - time.time())))}
                )
        for limit in self._limits:
            self._counts.hit(limit, who, cost=claims)


def sender_of(request: Request) -> Sender:
    """Who sent a request that was let through."""
    return cast(Sender, request.scope["state"]["sender"])


async def require_key(
    request: Request,
    bearer: Annotated[HTTPAuthorizationCredentials | None, Security(bearer_key)],
    header: Annotated[str | None, Security(header_key)],
) -> None:
    """The dependency of every call that needs a key."""
    gate: AccessControl = request.app.state.gate
    gate.know(request, bearer.credentials if bearer else header or "")


async def admit_request(request: Request, _known: Annotated[None, Depends(require_key)]) -> None:
    """The dependency of every call that does work: a key that is known and has not been used too often."""
    gate: AccessControl = request.app.state.gate
    gate.spend(request, 1)


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

    def __init__(self, app: ASGIApp, settings: Settings, files: re.Pattern[str]) -> None:
        """`files` matches the paths that take files, whose bodies may be larger."""
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
        start, status = time.perf_counter(), 0

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                own = {"X-Request-ID": id, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}
                MutableHeaders(scope=message).update(own)
            await send(message)

        # HEAD is answered as GET; the server leaves the body out, since its own scope still says HEAD.
        method = scope["method"]
        scope = {**scope, "method": "GET" if method == "HEAD" else method}
        try:
            fault = await self._answer(scope, receive, send_with_headers)
            if fault and not status:
                await fault(scope, receive, send_with_headers)
        finally:
            problems.request_id.reset(token)
            _write_log_line(scope, method, status, time.perf_counter() - start, id)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> Response | None:
        """Answer a request; return the problem to answer with if that cannot be done."""
        if reason := self._senders.refuse(scope):
            metrics.REFUSED.labels(reason="another site").inc()
            return problems.response(403, reason, {"Connection": "close"})
        settings = self._settings
        most, longest = settings.body_bytes, settings.body_seconds
        if self._files.fullmatch(scope["path"]):
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

        try:
            length = Headers(scope=scope).get("content-length", "")
            if length.isascii() and length.isdigit() and (len(length) > 18 or int(length) > most):
                raise _TooLarge(most)
            await self._app(scope, limited_receive, send)
        except (_TooLarge, _TooSlow) as error:
            return problems.response(error.status_code, error.detail, error.headers)
        except Exception as error:
            _log.exception("a request failed")
            failure = problems.problem_of_failure(error)
            return problems.response(failure.status, failure.detail)
        return None


def _write_log_line(scope: Scope, method: str, status: int, seconds: float, id: str) -> None:
    """Write the request's line in the log and count it in the metrics; neither contains the path as requested."""
    route: Any = scope.get("route")
    path = str(getattr(route, "path_format", "")) or "unknown"
    # Methods that a client makes up must not create ever more labels.
    method = method if method in _METHODS else "other"
    metrics.REQUESTS.labels(method=method, route=path, status=str(status or problems.CLIENT_LEFT)).observe(seconds)
    fields = {"method": method, "route": path, "status": status or problems.CLIENT_LEFT, "ms": round(seconds * 1000, 1), "id": id}
    if path not in _ASKED_BY_MACHINES:
        _access.info("request", extra={"told": fields | scope.get("state", {}).get("told", {})})
