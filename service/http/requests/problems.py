"""Every fault over HTTP as problem details (RFC 9457): one sentence in `detail`, the same request id as in the log."""

from __future__ import annotations

import errno
from collections.abc import Mapping
from contextvars import ContextVar
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from counterpoint.retrieval.core.errors import CounterpointError
from counterpoint.service.operating.work import Gone
from counterpoint.service.schemas import Problem, faults

MEDIA_TYPE = "application/problem+json"
CLIENT_LEFT = 499
"""No client ever sees this status; only the log and the metrics do."""

request_id: ContextVar[str] = ContextVar("request_id", default="")
"""The id of the request that is being worked on, on the event loop and in the threads that work for it."""

_KINDS = {
    400: ("bad-request", "The request cannot be read"),
    401: ("unauthorized", "An API key is needed"),
    403: ("forbidden", "The request was sent to a foreign host, by another site, or without the right to do this"),
    404: ("not-found", "Not found"),
    405: ("method-not-allowed", "Method not allowed"),
    408: ("too-slow", "The body arrived too slowly"),
    409: ("conflict", "What it changes is in another state"),
    413: ("too-large", "The body is too large"),
    422: ("bad-input", "The request cannot be processed"),
    429: ("too-many", "Too many requests"),
    499: ("client-left", "The client left"),
    500: ("failed", "The service failed"),
    502: ("bad-gateway", "A language model gave no usable answer"),
    503: ("unavailable", "The service cannot answer now"),
    507: ("out-of-space", "The disk is full"),
}

OF_WORK = (400, 408, 413, 422, 500, 503)
"""The statuses that any call with a body and work to do may return."""


class Refused(CounterpointError):
    """A request that is refused before any work, with this status and these headers."""

    def __init__(self, message: str, status: int, headers: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.status, self.headers = status, headers or {}


def problem(status: int, detail: str) -> Problem:
    """The problem of this status, for the request that is being worked on."""
    kind, title = _KINDS.get(status) or (HTTPStatus(status).phrase.lower().replace(" ", "-"), HTTPStatus(status).phrase)
    return Problem(
        type=f"urn:counterpoint:problem:{kind}",
        title=title,
        status=status,
        detail=detail,
        request_id=request_id.get(),
        error=detail,
    )


def problem_of(error: CounterpointError) -> Problem:
    """The problem for one of our own errors."""
    return problem(error.status, str(error))


def problem_of_failure(error: BaseException) -> Problem:
    """The problem for an error that nobody foresaw, after it was logged."""
    status = 500
    if isinstance(error, MemoryError):
        status = 503
    elif isinstance(error, RecursionError):
        status = 422
    elif isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        status = 507
    return problem(status, faults.explain_failure(error))


def response(status: int, detail: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """The same as a response."""
    return JSONResponse(problem(status, detail).model_dump(), status, headers, media_type=MEDIA_TYPE)


def responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """These problems in the API's description."""
    return {
        status: {"description": _KINDS[status][1], "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}}
        for status in statuses
    }


def install(app: FastAPI) -> None:
    """Answer every fault of `app` with a problem."""

    @app.exception_handler(CounterpointError)
    async def _answer_error(_request: Request, error: CounterpointError) -> Response:
        headers = dict(getattr(error, "headers", {}))
        if retry_after := getattr(error, "retry_after", None):
            headers["Retry-After"] = str(retry_after)
        return response(error.status, str(error), headers)

    @app.exception_handler(HTTPException)
    async def _answer_http_error(_request: Request, error: HTTPException) -> Response:
        details = {404: "There is nothing at this address.", 405: "This address does not accept that method."}
        if error.status_code == 400:
            # FastAPI's own, for a body that is not UTF-8, is nested too deeply, or holds a number too long to read.
            return response(400, faults.UNREADABLE)
        detail = str(error.detail)
        phrase = HTTPStatus(error.status_code).phrase
        detail = details.get(error.status_code, detail) if detail == phrase else detail
        return response(error.status_code, detail, dict(error.headers or {}))

    @app.exception_handler(RequestValidationError)
    async def _answer_invalid_request(request: Request, error: RequestValidationError) -> Response:
        in_body = any(fault["loc"][:1] == ("body",) for fault in error.errors())
        body = request.scope["route"].body_field if in_body else None
        return response(422, faults.sentence(error.errors(), body.field_info.annotation if body else None))

    @app.exception_handler(Gone)
    async def _answer_departure(_request: Request, _error: Gone) -> Response:
        return response(CLIENT_LEFT, "The client left before the response was ready.")
