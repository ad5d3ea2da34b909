"""Checking a text over HTTP: in one response, in an export format, or as a stream while its claims are checked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response, StreamingResponse

from retrieval.core.values import Claim, Grounding
from service.checking.check import Checker, Reading
from service.checking.export import export_text
from service.checking.schemas import MOST_CHARACTERS, MOST_TEXT_CLAIMS, CheckedText, ClaimDone, TextPlan, TextRequest
from service.http.requests import problems
from service.http.requests.access import AccessControl
from service.http.requests.bodies import Event, JsonRoute, Tell, describe_events, describe_formats, stream_events, write_response
from service.http.requests.working import ON_LIBRARY, Parts, live_of, note, parts_of, remember, run_grounding
from service.operating.live_index import Serving
from service.operating.work import Job, while_there
from service.output.formats import TextExport

PATHS = ("/v1/text", "/v1/text/stream")
"""The paths that take files."""

router = APIRouter(
    route_class=JsonRoute,
    dependencies=ON_LIBRARY,
    responses=problems.responses(401, 404, 429),
)

_FAULTS = problems.responses(*problems.OF_WORK)
_RESULT = describe_formats(CheckedText, TextExport)


@router.post(PATHS[0], response_model=CheckedText, responses=_RESULT | _FAULTS)
async def text(
    body: TextRequest,
    request: Request,
    format: Annotated[
        TextExport, Query(description="JSON, a page to print (HTML), a table (CSV or XLSX), or Markdown.")
    ] = "json",
) -> Response:
    """A verdict on each sentence of a text: whether it makes a claim, what papers say, and whether its citations bear it out."""
    parts, live = parts_of(request), live_of(request)
    reading = await _read(body, request, parts)

    def work(job: Job[Response]) -> Response:
        with live.lease() as serving:
            result = Checker(serving.grounder, _grounding(parts, serving, job.check)).check(reading, job.check)
            remember(request, parts, result)
        return write_response(result, format, lambda: export_text(result, format, body.name or "Checked text"))

    return await while_there(request, parts.workers.run(work, pieces=_pieces(reading)))


@router.post(
    PATHS[1],
    response_class=StreamingResponse,
    responses=describe_events(plan=TextPlan, claim=ClaimDone, text=CheckedText) | _FAULTS,
)
async def text_stream(body: TextRequest, request: Request) -> Response:
    """Like /v1/text, but as server-sent events: "plan", "claim" for each checked claim, and finally "text" or "error"."""
    parts, live = parts_of(request), live_of(request)
    reading = await _read(body, request, parts)

    def work(tell: Tell) -> Event:
        tell("plan", reading.plan)

        def report(one: ClaimDone) -> None:
            tell("claim", one)

        with live.lease() as serving:
            result = Checker(serving.grounder, _grounding(parts, serving)).check(reading, report)
            remember(request, parts, result)
            return "text", result

    return await while_there(request, stream_events(parts.workers, work, pieces=_pieces(reading)))


async def _read(body: TextRequest, request: Request, parts: Parts) -> Reading:
    """Read the text and split it into sentences; its claims count against the sender's limits."""
    # Reading a file may take as long as checking a claim, so it waits in the same queue.
    task = parts.workers.run(lambda _job: _read_body(body)) if body.file else asyncio.to_thread(_read_body, body)
    reading = await while_there(request, task)
    note(request, parts, claims=len(reading.claims))
    gate: AccessControl = request.app.state.gate
    gate.spend(request, len(reading.claims) - 1)
    return reading


def _read_body(body: TextRequest) -> Reading:
    _check_length(body.text)
    passage = body.passage()
    _check_length(passage.text)
    return Reading.of(passage).at_most(MOST_TEXT_CLAIMS)


def _check_length(text: str) -> None:
    if len(text) > MOST_CHARACTERS:
        raise problems.Refused(
            f"The text has {len(text):,} characters and at most {MOST_CHARACTERS:,} are read; send it in parts, or use "
            "`counterpoint check`.",
            413,
        )


def _pieces(reading: Reading) -> int:
    return max(1, len(reading.claims))


def _grounding(
    parts: Parts, serving: Serving, check: Callable[[object], None] = lambda _stage: None
) -> Callable[[Claim], Grounding]:
    """Make the function that grounds a text's claims, counted and timed like single claims; `check` is called at each step."""
    return lambda claim: run_grounding(parts, serving, claim, check)
