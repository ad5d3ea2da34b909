"""The memory over HTTP: history, saved claims, feedback, alerts and their feed; each user sees only their own."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request, Security
from fastapi.responses import Response
from fastapi.security import HTTPAuthorizationCredentials

from counterpoint.retrieval.core.errors import BadInput
from counterpoint.service.calls.calls import ground_timed
from counterpoint.service.checking.export import export_text as export_checked
from counterpoint.service.checking.schemas import CheckedText
from counterpoint.service.grounding.claims import check_claim
from counterpoint.service.grounding.schemas import GroundResponse
from counterpoint.service.http.library_routes import changes
from counterpoint.service.http.requests import problems
from counterpoint.service.http.requests.access import bearer_key, header_key, require_key, sender_of
from counterpoint.service.http.requests.bodies import JsonRoute, describe_formats, write_json, write_response
from counterpoint.service.http.requests.working import ON_LIBRARY, live_of, note, parts_of, watch, whose_memory
from counterpoint.service.http.schemas import SaveRequest
from counterpoint.service.memory.database import Whose
from counterpoint.service.memory.history import Now
from counterpoint.service.memory.memory import Memory
from counterpoint.service.memory.schemas import (
    AlertList,
    FeedbackList,
    FeedbackOut,
    FeedbackRequest,
    HistoryOut,
    HistoryPage,
    MemoryOut,
    Opinion,
    SavedList,
    SavedOut,
    SharedList,
    SharedOut,
    SharedResult,
    ShareRequest,
)
from counterpoint.service.operating.live_index import NotReady, Serving
from counterpoint.service.operating.work import Job, while_there
from counterpoint.service.output.export import export_text
from counterpoint.service.output.feed import MEDIA_TYPE, write_feed
from counterpoint.service.output.formats import KeptFormat
from counterpoint.service.queries.classify import refuse_keywords
from counterpoint.service.queries.papers import check_known
from counterpoint.service.schemas import Provenance

router = APIRouter(
    route_class=JsonRoute, dependencies=[Depends(require_key)], responses=problems.responses(401, 404, 422, 500, 503)
)
feed_router = APIRouter(responses=problems.responses(401, 404, 422, 500, 503))

NOTHING = "This service remembers nothing: its operator turned that off, or its folder cannot be written."
Own = Annotated[Whose, Depends(whose_memory)]
_WORK = {**problems.responses(400, 408, 413, 429, 507)}
Id = Annotated[str, Path(max_length=64, description="The id of an entry in the list.", examples=["0123456789ab"])]
Since = Annotated[
    str,
    Query(max_length=64, description="Only alerts from this date or time on (UTC), such as 2026-11-22.", examples=["2026-11-22"]),
]


@router.get("/v1/memory", response_model=MemoryOut)
def about_memory(request: Request, whose: Own) -> MemoryOut:
    """How much this service remembers for you; `on` is false if it remembers nothing."""
    memory = parts_of(request).memory
    if memory is None:
        return MemoryOut(holder=whose.holder)
    return memory.about(whose)


@router.delete("/v1/memory", status_code=204, response_class=Response)
def forget_everything(request: Request) -> None:
    """Delete everything that is remembered for you: history, saved claims, alerts, feedback and the address of your feed."""
    _memory(request).forget(sender_of(request).holder)


@router.get("/v1/history", response_model=HistoryPage)
def list_history(
    request: Request,
    whose: Own,
    limit: Annotated[int, Query(ge=1, le=100, description="Entries per page.")] = 20,
    before: Annotated[str, Query(max_length=64, description="`next_before` of the previous page.")] = "",
) -> HistoryPage:
    """The claims and questions that you asked, newest first."""
    return _memory(request).history.find(whose, limit, before, _current_provenances(request))


@router.get("/v1/history/{id}", response_model=HistoryOut)
def read_history(id: Id, request: Request, whose: Own) -> HistoryOut:
    """One entry of the history: what was asked, what was listed, and what has changed since."""
    return _memory(request).history.get(whose, id, _current_provenances(request))


@router.delete("/v1/history/{id}", status_code=204, response_class=Response)
def delete_history(id: Id, request: Request, whose: Own) -> None:
    """Delete one entry of the history."""
    _memory(request).history.delete(whose, id)


@router.delete("/v1/history", status_code=204, response_class=Response)
def clear_history(request: Request, whose: Own) -> None:
    """Delete your whole history; saved claims are kept."""
    _memory(request).history.clear(whose)


@router.post("/v1/saved", response_model=SavedOut, dependencies=ON_LIBRARY, responses=_WORK)
async def save_claim(body: SaveRequest, request: Request) -> Response:
    """Ground a claim and save it with the result; it is watched from then on. Saving it again replaces its result and note."""
    parts, live, holder = parts_of(request), live_of(request), sender_of(request).holder
    memory = _memory(request)
    claim = body.statement()
    refuse_keywords(claim.text)
    note(request, parts, claim=claim.text)

    def work(job: Job[Response]) -> Response:
        with live.lease() as serving:
            index = serving.index
            grounding = ground_timed(serving.grounder, check_known(claim, index.store), watch(parts, job.check))
            response = GroundResponse.of(grounding, Provenance.of(serving.grounder))
            return write_json(memory.saved.add(holder, live.id, index.manifest, response, body.note))

    return await while_there(request, parts.workers.run(work))


@router.get("/v1/saved", response_model=SavedList)
def list_saved(request: Request, whose: Own) -> SavedList:
    """Your saved claims, newest first."""
    return _memory(request).saved.find(whose, _current_provenances(request))


@router.get("/v1/saved/{id}", response_model=SavedOut)
def read_saved(id: Id, request: Request, whose: Own) -> SavedOut:
    """One saved claim, with the papers now listed for and against it."""
    return _memory(request).saved.get(whose, id, _current_provenances(request))


@router.delete("/v1/saved/{id}", status_code=204, response_class=Response)
def delete_saved(id: Id, request: Request, whose: Own) -> None:
    """Delete a saved claim and its alerts."""
    _memory(request).saved.delete(whose, id)


@router.post("/v1/feedback", response_model=FeedbackOut, dependencies=ON_LIBRARY, responses=_WORK)
async def give_feedback(body: FeedbackRequest, request: Request) -> Response:
    """Say which side a paper is really on. Only the last opinion on each claim and paper is kept."""
    parts, live, memory, holder = parts_of(request), live_of(request), _memory(request), sender_of(request).holder
    claim = check_claim(body.claim, body.question)

    def work(_job: Job[Response]) -> Response:
        with live.lease() as serving:
            _check_held(serving, body.pmid, body.sentence)
            provenance = body.provenance or Provenance.of(serving.grounder)
        fields = body.model_dump(include={"pmid", "sentence", "shown", "right", "comment"})
        opinion = Opinion(claim=claim.text, question=claim.question, provenance=provenance, **fields)
        return write_json(memory.feedback.add(holder, live.id, opinion))

    return await while_there(request, parts.workers.run(work))


SHARED = "/v1/shared"


@changes.post(SHARED)
def share_result(body: ShareRequest, request: Request, whose: Own) -> SharedOut:
    """Keep a result as it is, for all who may see its library and are given its link."""
    libraries, seen_as = parts_of(request).libraries, sender_of(request).seen_as
    return _memory(request).shared.add(whose, body.result, body.name, lambda library: libraries.find(library, seen_as).name)


@changes.get(SHARED)
def list_shared(request: Request, whose: Own) -> SharedList:
    """What you share, newest first; with the scope admin, what anybody shares."""
    return SharedList(shared=_memory(request).shared.find(_kept_by(request, whose), _current_provenances(request)))


@changes.delete(f"{SHARED}/{{id}}", status_code=204, response_class=Response)
def withdraw_shared(id: Id, request: Request, whose: Own) -> None:
    """Withdraw a shared result: your own or, with the scope admin, anybody's."""
    _memory(request).shared.delete(_kept_by(request, whose), id)


@router.get(f"{SHARED}/{{id}}", response_model=SharedResult, responses=describe_formats(SharedResult, KeptFormat))
def read_shared(
    id: Id,
    request: Request,
    whose: Own,
    format: Annotated[KeptFormat, Query(description="JSON, a page to keep (HTML), or a table (CSV, XLSX).")] = "json",
) -> Response:
    """A result that somebody shared, as it was."""
    kept = _memory(request).shared.get(whose, id, _current_provenances(request))
    return write_response(kept, format, lambda: _export_kept(kept, format))


def _kept_by(request: Request, whose: Whose) -> Whose:
    return replace(whose, everyone=sender_of(request).may("admin"))


def _export_kept(kept: SharedResult, format: KeptFormat) -> str | bytes:
    if isinstance(kept.result, CheckedText):
        return export_checked(kept.result, format, kept.title, kept.about)
    return export_text(kept.result, format, about=kept.about)


@router.get("/v1/feedback", response_model=FeedbackList)
def list_feedback(request: Request, whose: Own) -> FeedbackList:
    """The feedback that you gave, newest first."""
    return _memory(request).feedback.find(whose)


@router.delete("/v1/feedback/{id}", status_code=204, response_class=Response)
def delete_feedback(id: Id, request: Request, whose: Own) -> None:
    """Delete a piece of feedback."""
    _memory(request).feedback.delete(whose, id)


@router.get("/v1/alerts", response_model=AlertList)
def list_alerts(request: Request, whose: Own, since: Since = "") -> AlertList:
    """What changed for your saved claims, newest first: a first or a strong contradiction, a paper retracted or gone."""
    return _memory(request).alerts.find(whose, since)


@router.delete("/v1/alerts/{id}", status_code=204, response_class=Response)
def delete_alert(id: Id, request: Request, whose: Own) -> None:
    """Delete an alert; it will not come back."""
    _memory(request).alerts.delete(whose, id)


# In words alone: generators of clients refuse types that are neither JSON nor text.
_FEED: dict[int | str, dict[str, Any]] = {200: {"description": "An Atom feed (application/atom+xml)"}}


@feed_router.get("/v1/alerts.atom", response_class=Response, responses=_FEED)
def alerts_feed(
    request: Request,
    bearer: Annotated[HTTPAuthorizationCredentials | None, Security(bearer_key)],
    header: Annotated[str | None, Security(header_key)],
    token: Annotated[str, Query(max_length=64, description="The token in `feed` of /v1/memory; it replaces the API key.")] = "",
    since: Since = "",
) -> Response:
    """Your alerts as an Atom feed. Feed readers send no key, so /v1/memory gives you a feed address that needs none."""
    memory, libraries = _memory(request), parts_of(request).libraries
    if token:
        owner = memory.alerts.holder_of(token)
        if owner is None:
            raise problems.Refused("This feed's address is not valid; /v1/memory gives the address of your own.", 404)
        sender = request.app.state.gate.sender(owner)
    else:
        request.app.state.gate.know(request, bearer.credentials if bearer else header or "")
        sender = sender_of(request)
    holder, seen = sender.holder, tuple(one.id for one in libraries.seen_by(sender.seen_as))
    alerts = memory.alerts.find(Whose(holder, seen), since).alerts
    name = f"Counterpoint alerts{f' for {holder}' if holder else ''}"
    id = f"urn:counterpoint:alerts:{memory.alerts.feed_id(holder)}"
    return Response(write_feed(alerts, str(request.base_url), name, id), media_type=MEDIA_TYPE)


def _memory(request: Request) -> Memory:
    memory = parts_of(request).memory
    if memory is None:
        raise problems.Refused(NOTHING, 404)
    return memory


def _current_provenances(request: Request) -> Now:
    """The provenance of results made now, to compare stored ones with; empty for a library that cannot be asked. One that is not
    open is not opened for it: what is open has the same models."""
    libraries = parts_of(request).libraries
    closed = {one.id: one.manifest for one in libraries.seen_by(None)}

    def of_library(library: str) -> dict[str, Provenance]:
        serving, manifest = libraries.opened(library), None
        if serving is None and (manifest := closed.get(library)):
            with suppress(NotReady):
                serving = libraries.check_ready()
        if serving is None:
            return {}
        own = {"index": manifest.id, "documents": manifest.counts.documents} if manifest else {}
        made = {"claim": serving.grounder, "question": serving.answerer}
        return {mode: Provenance.of(one).model_copy(update=own) for mode, one in made.items() if one}

    return cache(of_library)


def _check_held(serving: Serving, pmid: str, sentence: str) -> None:
    """Raise `BadInput` if the index has no such paper, or the paper no such sentence."""
    entry = serving.index.store.get(pmid)
    if entry is None:
        raise BadInput(f"The index has no document {pmid[:40]!r}; give the pmid of a document that was shown.")
    text = serving.index.store.full_texts([pmid]).get(pmid)
    if sentence not in entry.document.abstract and not any(sentence in block.text for block in (text.blocks if text else ())):
        raise BadInput("The document does not contain this sentence; the index may have changed, so check the claim again.")
