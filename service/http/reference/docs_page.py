"""/docs (the API's description) and /favicon.ico: made from files of the package, so that nothing is loaded from elsewhere."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from service.http.reference.described import calls, errors, shapes
from service.output.templates import load_templates

POLICY = "; ".join(
    [
        "default-src 'none'",
        "style-src 'self'",
        "img-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
)
_FILES = files("service.http.reference")

router = APIRouter(include_in_schema=False)


@router.get("/docs")
async def docs(request: Request) -> Response:
    """The page, whether or not an index is loaded; made once."""
    state = request.app.state
    if not hasattr(state, "docs"):
        state.docs = render_page(request.app.openapi())
    return _respond(state.docs, "text/html; charset=utf-8")


@router.get("/docs/docs.css")
async def style() -> Response:
    """The page's style, in addition to that of the main page."""
    return _respond(_FILES.joinpath("docs.css").read_bytes(), "text/css; charset=utf-8")


@router.get("/favicon.ico")
async def icon() -> Response:
    """The icon, which browsers request from every site; it is the same drawing as in the page."""
    return _respond(_FILES.joinpath("favicon.ico").read_bytes(), "image/x-icon")


def render_page(document: dict[str, Any]) -> bytes:
    """Render the page of an OpenAPI document; everything taken from the document is escaped."""
    template = load_templates("service.http.reference").get_template("docs.html")
    info = document["info"]
    return (
        template.render(
            title=info["title"],
            version=info["version"],
            about=info["description"],
            calls=calls(document),
            errors=errors(document),
            shapes=shapes(document),
        )
        .lstrip()
        .encode()
    )


def _respond(content: bytes, media_type: str) -> Response:
    return Response(content, media_type=media_type, headers={"Cache-Control": "no-cache", "Content-Security-Policy": POLICY})
