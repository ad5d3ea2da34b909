"""The HTTP service."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib.metadata import version
from importlib.resources import files

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, Response
from starlette.exceptions import HTTPException

from retrieval.errors import CounterpointError
from service.claims import checked_claim
from service.ground import Grounder
from service.schemas import GroundRequest, GroundResponse, Health, Problem, Provenance

_log = logging.getLogger("counterpoint")

_DESCRIPTION = (
    "For a biomedical claim: the papers that contradict it and the papers that support it, each with its exact sentence. "
    "Every figure can be traced through `provenance`."
)


def create_app(load: Callable[[], Grounder]) -> FastAPI:
    """The service over whatever `load` assembles; it answers /health at once and becomes ready when loading is done."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.grounder, app.state.failure = None, ""

        async def loading() -> None:
            try:
                app.state.grounder = await asyncio.to_thread(load)
            except CounterpointError as error:
                app.state.failure = str(error)
            except Exception:
                app.state.failure = "The service could not be loaded; its log has the reason."
                _log.exception("loading failed")

        task = asyncio.create_task(loading())
        yield
        task.cancel()
        if app.state.grounder is not None:
            app.state.grounder.index.close()

    app = FastAPI(
        title="Counterpoint", version=version("counterpoint"), description=_DESCRIPTION, lifespan=lifespan,
        # The bundled pages of these load their scripts from elsewhere; this service sends nobody off the machine.
        docs_url=None, redoc_url=None,
    )  # fmt: skip
    _add_errors(app)
    _add_routes(app)
    return app


def _add_errors(app: FastAPI) -> None:
    @app.exception_handler(CounterpointError)
    async def _told(_request: Request, error: CounterpointError) -> JSONResponse:
        return JSONResponse({"error": str(error)}, status_code=error.status)

    @app.exception_handler(HTTPException)
    async def _refused(_request: Request, error: HTTPException) -> JSONResponse:
        return JSONResponse({"error": str(error.detail)}, status_code=error.status_code, headers=error.headers)

    @app.exception_handler(RequestValidationError)
    async def _invalid(_request: Request, error: RequestValidationError) -> JSONResponse:
        fault = error.errors()[0]
        place = ".".join(str(part) for part in fault["loc"] if part != "body") or "the body"
        known = ", ".join(GroundRequest.model_fields)
        hint = f" (known fields: {known})" if fault["type"] == "extra_forbidden" else ""
        return JSONResponse({"error": f"{place}: {fault['msg']}{hint}."}, status_code=422)


def _add_routes(app: FastAPI) -> None:
    @app.get("/", response_class=HTMLResponse, include_in_schema=False)
    def page() -> str:
        return files("service").joinpath("page.html").read_text("utf-8")

    @app.get("/health", response_model=Health, responses={503: {"model": Health, "description": "not ready"}})
    def health(request: Request) -> Response:
        """Ready (200) only when the index is open and the models are loaded; 503 until then."""
        grounder: Grounder | None = request.app.state.grounder
        if grounder is None:
            status = request.app.state.failure or "loading"
            body = Health(status=status, documents=0, index="", config="", profile="", models={})
            return JSONResponse(body.model_dump(), status_code=503)
        return JSONResponse(Health(status="ready", **Provenance.of(grounder).model_dump()).model_dump())

    problems = {422: {"model": Problem, "description": "the claim cannot be used"}, 503: {"model": Problem}}

    @app.post("/ground", response_model=GroundResponse, responses=problems)  # type: ignore[arg-type]  # int keys are documented
    def ground(body: GroundRequest, request: Request) -> GroundResponse:
        """The documents that contradict a claim, and those that support it, each with its exact sentence."""
        grounder = _ready(request)
        claim = checked_claim(body.claim, body.question, body.known_pmids)
        return GroundResponse.of(grounder.ground(claim), Provenance.of(grounder))


def _ready(request: Request) -> Grounder:
    grounder: Grounder | None = request.app.state.grounder
    if grounder is None:
        error = CounterpointError(request.app.state.failure or "The service is still loading; try again in a few seconds.")
        error.status = 503
        raise error
    return grounder
