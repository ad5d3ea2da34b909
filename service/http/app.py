"""The HTTP service."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any

from fastapi import Depends, FastAPI, Request
from fastapi.responses import JSONResponse, Response

from counterpoint.retrieval.cluster.client import RETRY_SECONDS, EngineState, look_at_engine
from counterpoint.service.grounding.coverage import estimate_usage
from counterpoint.service.http import call_routes, job_routes, library_routes, memory_routes, model_routes
from counterpoint.service.http.page import files
from counterpoint.service.http.reference.docs import add_examples
from counterpoint.service.http.requests import problems
from counterpoint.service.http.requests.access import AccessControl, OuterMiddleware, require_key
from counterpoint.service.http.requests.working import Parts, parts_of
from counterpoint.service.http.schemas import Health
from counterpoint.service.memory.memory import open_memory
from counterpoint.service.memory.watching import Watcher
from counterpoint.service.operating import metrics
from counterpoint.service.operating.jobs import Jobs, Runner
from counterpoint.service.operating.libraries import Libraries
from counterpoint.service.operating.live_index import NotReady
from counterpoint.service.operating.page_model import PageModel
from counterpoint.service.operating.settings import Settings
from counterpoint.service.operating.work import Workers
from counterpoint.service.schemas import Provenance

_log = logging.getLogger("counterpoint")

_DESCRIPTION = (
    "For a biomedical claim: the papers that contradict it and the papers that support it, each with its exact sentence. "
    "`provenance` says where every figure comes from. Errors are problem details (RFC 9457)."
)
_FILES = re.compile("|".join((*call_routes.FILES, job_routes.FILES, memory_routes.SHARED)))
"""The paths that take files."""


class _App(FastAPI):
    def openapi(self) -> dict[str, Any]:
        """The API's description, with examples."""
        return add_examples(super().openapi())


def create_app(libraries: Libraries, settings: Settings | None = None, when_loaded: Callable[[], None] | None = None) -> FastAPI:
    """The service over these libraries; it answers /health at once and becomes ready when the first is open.

    With `when_loaded` it takes no connections until loading is done, and then calls it: while one of several workers is loading,
    the others take them.
    """
    options = settings or Settings()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        workers = Workers(options.limits())
        memory = await asyncio.to_thread(open_memory, options.state_folder(), options.history, options.watch)
        runner, most = None, options.library_papers
        if libraries.folder:
            runner = Runner(Jobs(libraries.folder), libraries.find_place, options.profile, libraries.refresh, most)
            runner.forget = memory.forget_library if memory else bool
        model = PageModel(options.model_folder(), options.profile) if options.page_model else None
        app.state.parts = Parts(libraries, workers, options.log_claims, memory, runner, options.upload_bytes, most, model)
        watcher = Watcher(memory.saved, libraries) if memory and options.watch else None
        if when_loaded:
            await asyncio.to_thread(libraries.load)
            when_loaded()
        task = asyncio.create_task(_keep_up_to_date(libraries, options.reload_seconds, watcher, loaded=when_loaded is not None))
        if runner:
            runner.start()
        yield
        task.cancel()
        if runner:
            await asyncio.to_thread(runner.stop)
        if watcher:
            await asyncio.to_thread(watcher.stop)
        await asyncio.to_thread(workers.close)
        await asyncio.to_thread(libraries.close)

    app = _App(
        title="Counterpoint", version=version("counterpoint"), description=_DESCRIPTION, lifespan=lifespan,
        # FastAPI's own pages load their scripts from other sites; here nothing is fetched from another machine (reference.docs).
        docs_url=None, redoc_url=None,
        generate_unique_id_function=lambda route: route.name,
    )  # fmt: skip
    app.state.gate = AccessControl(options)
    app.add_middleware(OuterMiddleware, settings=options, files=_FILES)
    problems.install(app)
    for routes in (call_routes, job_routes, library_routes, model_routes, memory_routes):
        app.include_router(routes.router)
    app.include_router(memory_routes.feed_router)
    app.include_router(library_routes.changes)
    app.include_router(job_routes.tickets)
    _add_routes(app)
    return app


async def _keep_up_to_date(libraries: Libraries, seconds: float, watcher: Watcher | None, loaded: bool) -> None:
    """Load, then, while the service runs, look for changed libraries and for saved claims that the changes affect.

    If the cluster of an index is unreachable, wait for it.
    """
    if not loaded:
        await asyncio.to_thread(libraries.load)
    while libraries.waiting:
        await asyncio.sleep(RETRY_SECONDS)
        await asyncio.to_thread(libraries.load)
    if watcher:
        watcher.begin()
    while seconds and (libraries.folder or not libraries.failure):
        await asyncio.sleep(seconds)
        try:
            await asyncio.to_thread(libraries.refresh)
            if watcher:
                watcher.begin()
        except Exception:
            _log.exception("checking for changed libraries failed")


def _add_routes(app: FastAPI) -> None:
    app.include_router(files.router)

    @app.get("/health", response_model=Health, responses={503: {"model": Health, "description": "Not ready"}})
    async def health(request: Request) -> Response:
        """200 once the index is open and the models are loaded; 503 until then, and while its engine cannot answer in full."""
        libraries = parts_of(request).libraries
        nothing = Health(status="ready", documents=0, index="", config="", profile="", models={})
        try:
            first = libraries.check_ready()
        except NotReady as error:
            if libraries.empty:
                return JSONResponse(nothing.model_dump())
            status = libraries.failure or ("waiting for the index" if libraries.waiting else "loading")
            headers = {"Retry-After": str(error.retry_after)} if error.retry_after else {}
            body = nothing.model_copy(update={"status": status, "engine": libraries.waiting})
            return JSONResponse(body.model_dump(), status_code=503, headers=headers)
        # Of the libraries in a folder nothing is told to whoever asks.
        own = await asyncio.to_thread(libraries.opened)
        made = Provenance.of((own or first).grounder).model_dump() | ({} if own else {"index": "", "documents": 0})
        engine = await asyncio.to_thread(look_at_engine, own.index.folder) if own else EngineState("embedded", True)
        status = "ready" if engine.answers else "the index cannot be searched completely now"
        headers = {} if engine.answers else {"Retry-After": str(RETRY_SECONDS)}
        asks = estimate_usage(first.grounder, first.answerer.config if first.answerer else None)
        body = Health(status=status, engine=engine.says, asks=asks, **made)
        return JSONResponse(body.model_dump(), status_code=200 if engine.answers else 503, headers=headers)

    @app.get("/metrics", include_in_schema=False, dependencies=[Depends(require_key)])
    async def numbers() -> Response:
        """Metrics for Prometheus."""
        text, media_type = await asyncio.to_thread(metrics.exposition)
        return Response(text, media_type=media_type)
