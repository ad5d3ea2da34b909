"""The two pages and their files, built once from those in the package: only these names exist, and nothing else is loaded."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response
from starlette.exceptions import HTTPException

from counterpoint.service.http.reference.docs import render_page
from counterpoint.service.http.requests.problems import Refused
from counterpoint.service.output.templates import load_templates

_PAGE = "index.html"

# Listed here because systems guess a file's type differently, and a browser refuses a script of the wrong type.
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".ico": "image/x-icon",
}

# Trusted Types make the browser refuse markup made from text; `data:` is for the icon, which is embedded in the main page.
POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "img-src 'self' data:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ]
)


@dataclass(frozen=True, slots=True)
class _File:
    content: bytes
    media_type: str
    tag: str


@cache
def page_files() -> dict[str, _File]:
    """Every file of the page by its name, read once; a name that is not here is never looked up on disk.

    The page itself is built from its parts, some of them shared or used several times; nothing in it depends on a request.
    """
    assets = {}
    page = load_templates("counterpoint.service.http.page").get_template(_PAGE).render().encode()
    for file in files("counterpoint.service.http").joinpath("page").iterdir():
        media_type = _TYPES.get(file.name[file.name.rfind(".") :])
        if media_type:
            assets[file.name] = _make_file(page if file.name == _PAGE else file.read_bytes(), media_type)
    return assets


def _make_file(content: bytes, media_type: str) -> _File:
    return _File(content, media_type, f'"{hashlib.sha256(content).hexdigest()[:16]}"')


router = APIRouter(include_in_schema=False)


@router.get("/")
async def page(request: Request, token: str = "") -> Response:
    """The page, whether or not an index is loaded; for the person at the machine, whose link has a token, with a cookie of it."""
    if token:
        gate = request.app.state.gate
        if not gate.opens(token):
            raise Refused("This link is of another start of the service; open the one that it printed last.", 403)
        response = RedirectResponse("./", 303)
        response.set_cookie(gate.cookie, token, httponly=True, samesite="strict")
        return response
    return _respond(request, page_files()[_PAGE])


@router.get("/docs")
async def docs(request: Request) -> Response:
    """The API's description for people, whether or not an index is loaded; made once."""
    state = request.app.state
    if not hasattr(state, "docs"):
        state.docs = _make_file(render_page(request.app.openapi()), _TYPES[".html"])
    return _respond(request, state.docs)


@router.get("/favicon.ico")
async def icon(request: Request) -> Response:
    """The icon, which browsers request from every site; it is the same drawing as in the page."""
    return await part(request, "favicon.ico")


@router.get("/page/{name}")
async def part(request: Request, name: str) -> Response:
    """A file that a page loads."""
    if name not in page_files():
        raise HTTPException(404)
    return _respond(request, page_files()[name])


def _respond(request: Request, file: _File) -> Response:
    # Revalidated on each use, so that files of two releases are never mixed; unchanged files are not sent again.
    headers = {
        "Cache-Control": "no-cache",
        "Content-Security-Policy": POLICY,
        "ETag": file.tag,
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
    }
    # The tag may stand among others, or as W/"…" if a proxy has compressed the file.
    if file.tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(file.content, media_type=file.media_type, headers=headers)
