"""Examples made from the index that is being served: what the page shows before anything is asked."""

from __future__ import annotations

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from service.examples.finding import Examples, find_examples
from service.examples.schemas import ExamplesResponse
from service.http.requests import problems
from service.http.requests.access import admit_request
from service.http.requests.parts import Parts, parts_of
from service.http.requests.responses import write_json
from service.http.requests.working import run_grounding
from service.operating.live_index import Serving
from service.operating.work import Job, while_there
from service.schemas.provenance import Provenance

router = APIRouter(dependencies=[Depends(admit_request)], responses=problems.responses(401, 429))


@router.get("/v1/examples", response_model=ExamplesResponse, responses=problems.responses(500, 503))
async def index_examples(request: Request) -> Response:
    """Claims, questions, a paper and a text to start with, made from the index; computed once, which takes a few seconds."""
    parts = parts_of(request)
    parts.live.ready()

    def work(job: Job[Response]) -> Response:
        with parts.live.lease() as serving:
            if serving.examples is None:
                serving.examples = _find(parts, serving, job)
            return write_json(ExamplesResponse.of(serving.examples, Provenance.of(serving.grounder)))

    async def after_others() -> Response:
        # Requests that come meanwhile wait here and take none of the few places in the queue.
        async with parts.finding_examples:
            return await parts.workers.run(work)

    return await while_there(request, after_others())


def _find(parts: Parts, serving: Serving, job: Job[Response]) -> Examples:
    return find_examples(serving.grounder, lambda claim: run_grounding(parts, serving, claim, job.check))
