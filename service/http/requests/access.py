"""Who may send requests, and how often: API keys compared in constant time, and a limit for each key."""

from __future__ import annotations

import hashlib
import hmac
import time
from math import ceil
from typing import Annotated

from fastapi import Depends, Request, Security
from fastapi.security import APIKeyHeader, HTTPAuthorizationCredentials, HTTPBearer
from limits import RateLimitItem, parse_many
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from service.http.requests.problems import Refused
from service.operating import metrics
from service.operating.settings import Settings

bearer_key = HTTPBearer(auto_error=False, description="An API key, if the operator requires one.")
header_key = APIKeyHeader(name="X-API-Key", auto_error=False, description="The same key, in the X-API-Key header.")


class AccessControl:
    """Admits requests that have a key, up to its limits; the limits are counted in this process."""

    def __init__(self, settings: Settings) -> None:
        self._digests = settings.digests()
        self._limits: list[RateLimitItem] = parse_many(settings.rate) if settings.rate else []
        self._counts = MovingWindowRateLimiter(MemoryStorage())

    def name(self, key: str) -> str | None:
        """The name of the key's owner, if known. Every key is compared, so that the time taken reveals nothing about them."""
        key_digest, owner = hashlib.sha256(key.encode("utf-8", "replace")).digest(), None
        for name, digest in self._digests.items():
            if hmac.compare_digest(key_digest, digest):
                owner = name
        return owner

    def know(self, request: Request, key: str) -> None:
        """Let the request through if its key is known or none is required; otherwise raise the error to respond with."""
        who = f"address {request.client.host if request.client else ''}"
        if self._digests:
            name = self.name(key)
            if name is None:
                metrics.REFUSED.labels(reason="no key").inc()
                message = "This API key is unknown." if key else "Give an API key as Authorization: Bearer KEY or X-API-Key: KEY."
                raise Refused(message, 401, {"WWW-Authenticate": "Bearer"})
            who = f"key {name}"
            request.scope.setdefault("state", {}).setdefault("told", {})["key"] = name
            request.scope["state"]["holder"] = name
        request.scope.setdefault("state", {})["who"] = who

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
                    f"The limit is {limit}; try again later.",
                    429,
                    {"Retry-After": str(max(1, ceil(reset - time.time())))},
                )
        for limit in self._limits:
            self._counts.hit(limit, who, cost=claims)


def holder_of(request: Request) -> str:
    """The name of the key that a request came with; "" if no keys are set."""
    return str(request.scope.get("state", {}).get("holder", ""))


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
