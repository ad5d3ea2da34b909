"""The HTTP service."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from importlib.resources import files
from typing import Annotated

from fastapi import Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, Response
from fastapi.sse import EventSourceResponse, ServerSentEvent
from starlette.exceptions import HTTPException

from retrieval.errors import CounterpointError
from retrieval.values import Topic
from service.answer import Answerer
from service.answer_schemas import AnswerRequest, AnswerResponse
from service.answer_stream import streamed
from service.claims import checked_claim, checked_topic
from service.ground import Grounder
from service.schemas import GroundRequest, GroundResponse, Health, Problem, Provenance

_log = logging.getLogger("counterpoint")

_DESCRIPTION = (
    "For a biomedical claim: the papers that contradict it and the papers that support it, each with its exact sentence. "
    "Every figure can be traced through `provenance`."
)


def create_app(load: Callable[[], Grounder], answering: Callable[[Grounder], Answerer] | None = None) -> FastAPI:
    """The service over whatever `load` assembles; it answers /health at once and becomes ready when loading is done.

    `answering` makes the part that answers questions from the same index and models. Where it fails the rest is served all the
    same and /answer says why.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.grounder, app.state.failure = None, ""
        app.state.answerer, app.state.no_answers = None, "This service was started without answers."

        async def loading() -> None:
            try:
                grounder = await asyncio.to_thread(load)
                if answering:
                    app.state.answerer, app.state.no_answers = await asyncio.to_thread(_answerer, answering, grounder)
                app.state.grounder = grounder
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
    async def _invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        fault = error.errors()[0]
        place = ".".join(str(part) for part in fault["loc"] if part != "body") or "the body"
        body = AnswerRequest if request.url.path.startswith("/answer") else GroundRequest
        known = ", ".join(body.model_fields)
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

    unanswered = {**problems, 502: {"model": Problem, "description": "the language model gave no usable answer"}}

    @app.post("/answer", response_model=AnswerResponse, responses=unanswered)  # type: ignore[arg-type]  # as above
    def answer(body: AnswerRequest, request: Request) -> AnswerResponse:
        """A short answer to a question, each sentence with citations that were checked, and what contradicts it."""
        answerer = _answering(request)
        topic = _topic(body)
        return AnswerResponse.of(answerer.answer(topic), answerer)

    @app.post("/answer/stream", response_class=EventSourceResponse, responses=unanswered)  # type: ignore[arg-type]  # as above
    def answer_stream(
        topic: Annotated[Topic, Depends(_topic)], answerer: Annotated[Answerer, Depends(_answering)]
    ) -> Iterator[ServerSentEvent]:
        """The same as server-sent events while it is made: "stage", "sentence", "removed", and last "answer" or "error"."""
        yield from streamed(answerer, topic)


def _topic(body: AnswerRequest) -> Topic:
    return checked_topic(body.question, body.topic, body.narrative, body.id)


def _answerer(answering: Callable[[Grounder], Answerer], grounder: Grounder) -> tuple[Answerer | None, str]:
    """The answerer, or None and why there is none."""
    try:
        return answering(grounder), ""
    except CounterpointError as error:
        return None, str(error)


def _answering(request: Request) -> Answerer:
    """The answerer once everything is loaded; faults of the service come before those of the request."""
    _ready(request)
    answerer: Answerer | None = request.app.state.answerer
    if answerer is None:
        error = CounterpointError(request.app.state.no_answers)
        error.status = 503
        raise error
    return answerer


def _ready(request: Request) -> Grounder:
    grounder: Grounder | None = request.app.state.grounder
    if grounder is None:
        error = CounterpointError(request.app.state.failure or "The service is still loading; try again in a few seconds.")
        error.status = 503
        raise error
    return grounder
