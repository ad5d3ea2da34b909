"""What can be asked of an open index: a function for each call, and the call as the doors take it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Literal, ParamSpec, Protocol, TypeVar, cast

from pydantic import BaseModel

from counterpoint.retrieval.core.errors import BadInput
from counterpoint.retrieval.core.values import Claim, Evidence, FullText, Grounding
from counterpoint.retrieval.index import Documents, Index
from counterpoint.retrieval.runtime.usage import count_usage
from counterpoint.service.answering.answer import Answerer
from counterpoint.service.answering.schemas import AnswerResponse, RemovedOut, SentenceEvent, StageEvent, event_out
from counterpoint.service.calls.requests import (
    MOST_HITS,
    AnswerRequest,
    ClassifyRequest,
    DocumentRequest,
    EvidenceRequest,
    GroundRequest,
    Request,
    SearchRequest,
    TextRequest,
)
from counterpoint.service.calls.schemas import Cursor, DocumentOut, GroundStageEvent, SearchResponse
from counterpoint.service.checking.check import Checker
from counterpoint.service.checking.schemas import CheckedText, ClaimDone, TextPlan
from counterpoint.service.evidence.finder import EvidenceFinder
from counterpoint.service.evidence.schemas import EvidenceResponse
from counterpoint.service.grounding.ground import Grounder
from counterpoint.service.grounding.schemas import GroundResponse
from counterpoint.service.grounding.values import ignore_progress
from counterpoint.service.grounding.weigh import weigh
from counterpoint.service.queries.follow_ups import find_follow_ups
from counterpoint.service.queries.interpret import describe_query, interpret
from counterpoint.service.queries.papers import describe_search, find_paper, search_words
from counterpoint.service.queries.schemas import GroundedInput, InputOut
from counterpoint.service.schemas import Provenance

P = ParamSpec("P")
Q = TypeVar("Q")
R = TypeVar("R", bound=BaseModel)


class Serving(Protocol):
    """An open index and what works on it; a part that cannot be had raises a `CounterpointError` with the reason."""

    @property
    def index(self) -> Index:
        """The index."""

    @property
    def grounder(self) -> Grounder:
        """What grounds claims."""

    def answering(self) -> Answerer:
        """What answers questions."""

    def finding(self) -> EvidenceFinder:
        """What finds evidence in a paper."""


class NoPaper(BadInput):
    """The index has no document of this name."""

    status = 404


@dataclass(frozen=True, slots=True)
class Progress:
    """What is told of a call's work: each event by its name, and a `check` between steps; either may raise to end the work.

    A claim may be read for as many `seconds`; what was read by then is weighed.
    """

    on_progress: Callable[[str, BaseModel], None] = ignore_progress
    check: Callable[[], None] = ignore_progress
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Result(Generic[R]):
    """A call's response, and the function that writes it as a file of another format than JSON."""

    response: R
    write: Callable[[Any], str | bytes] = field(default=lambda format: "")


def ground_timed(
    grounder: Grounder, claim: Claim, progress: Progress, papers: int | None = None, full_text: bool = False
) -> Grounding:
    """Ground a claim as long as `progress` allows, and tell it of every stage."""
    until = None if progress.seconds is None else time.monotonic() + progress.seconds
    return grounder.ground(
        claim,
        lambda stage: progress.on_progress("stage", GroundStageEvent.of(stage)),
        papers=papers,
        until=until,
        full_text=full_text,
    )


def ground(serving: Serving, request: GroundRequest, progress: Progress) -> Result[GroundedInput]:
    """Interpret what was typed, ground the claim that is meant, and look for what may be asked next."""
    from counterpoint.service.output.export import export_text

    claim, grounder = request.statement(), serving.grounder
    given, meant = interpret(grounder.index, claim)
    grounding = ground_timed(grounder, meant, progress, request.read, request.full_text)
    if given.paper:
        grounding = _leave_out(grounding, given.paper.pmid)
    budget = grounder.config.budget
    with count_usage(budget.left(grounding.usage) if budget else None) as tally:
        follow_ups = find_follow_ups(grounder, meant.text, found=weigh(grounding).text)
    grounding = replace(grounding, follow_ups=follow_ups, usage=grounding.usage + tally.total)
    found = GroundResponse.of(grounding, Provenance.of(grounder))
    response = GroundedInput(**dict(found), input=given)
    return Result(response, lambda format: export_text(response, format, grounding))


def _leave_out(grounding: Grounding, pmid: str) -> Grounding:
    """The grounding without the paper itself, which is no evidence for or against its own finding."""

    def others(evidence: tuple[Evidence, ...]) -> tuple[Evidence, ...]:
        rest = [one for one in evidence if one.document.pmid != pmid]
        return (
            tuple(replace(one, rank=rank) for rank, one in enumerate(rest, evidence[0].rank))
            if len(rest) < len(evidence)
            else evidence
        )

    lists = ("contradicting", "supporting", "uncertain", "more", "silent")
    rest: dict[str, Any] = {name: others(getattr(grounding, name)) for name in lists}
    return replace(grounding, **rest)


def answer(serving: Serving, request: AnswerRequest, progress: Progress) -> Result[AnswerResponse]:
    """Answer the question."""
    from counterpoint.service.output.export import export_text

    topic, answerer = request.subject(), serving.answering()
    found = answerer.answer(topic, lambda event: progress.on_progress(*event_out(event)))
    response = AnswerResponse.of(found, answerer)
    return Result(response, lambda format: export_text(response, format, found))


def check_text(serving: Serving, request: TextRequest, progress: Progress) -> Result[CheckedText]:
    """Ground each claim of the text; the stages of each are told too."""
    from counterpoint.service.checking.export import export_text

    reading, grounder = request.reading, serving.grounder
    progress.on_progress("plan", reading.plan)
    checker = Checker(grounder, lambda claim: ground_timed(grounder, claim, progress))
    response = checker.check(reading, lambda done: progress.on_progress("claim", done))
    return Result(response, lambda format: export_text(response, format, request.name or "Checked text"))


def find_evidence(serving: Serving, request: EvidenceRequest, progress: Progress) -> Result[EvidenceResponse]:
    """Find the evidence in the paper that was sent or named."""
    request.check()
    return Result(read_paper(serving.finding(), request, request.paper(serving.index), progress))


def read_paper(finder: EvidenceFinder, request: EvidenceRequest, paper: FullText, progress: Progress) -> EvidenceResponse:
    """Find the evidence in this paper."""
    return EvidenceResponse.of(finder.find(request.hypothesis, paper, request.k, request.results_only, progress.check))


def search(serving: Serving, request: SearchRequest, progress: Progress) -> Result[SearchResponse]:
    """List a page of hits."""
    query, index = request.words(), serving.index
    version = f"{index.manifest.id} {index.manifest.version}"
    begin = Cursor.read(request.cursor, query, version).offset if request.cursor else 0
    end = min(begin + request.limit, MOST_HITS)
    hits = search_words(index, query, min(end + 1, MOST_HITS), begin)
    progress.check()
    more = Cursor(offset=end, query=query, index=version) if len(hits) > end - begin else None
    note = describe_search(index, query)
    return Result(SearchResponse.of(query, begin + 1, hits[: end - begin], more, index.manifest.id, note))


def show_document(serving: Serving, request: DocumentRequest, progress: Progress) -> Result[DocumentOut]:
    """Read the document."""
    return Result(read_document(serving.index.store, serving.index.manifest.counts.documents, request))


def read_document(store: Documents, documents: int, request: DocumentRequest) -> DocumentOut:
    """The document of that name, from a store of so many; raises `NoPaper` if there is none."""
    try:
        return DocumentOut.read(store, find_paper(store, str(request.pmid), documents))
    except BadInput as error:
        raise NoPaper(str(error)) from None


def classify(serving: Serving, request: ClassifyRequest, progress: Progress) -> Result[InputOut]:
    """Say what the text is taken for."""
    request.check()
    return Result(describe_query(serving.index, request.text))


@dataclass(frozen=True)
class Call(Generic[P, Q, R]):
    """A call as the doors take it: its request, what runs it, its response, and where HTTP has it.

    `needs` gets what not every service has; `events` are those of its stream, the last one `last`.
    """

    name: str
    request: Callable[P, Q]
    run: Callable[[Serving, Q, Progress], Result[R]]
    response: type[R]
    path: str
    method: Literal["GET", "POST"] = "POST"
    needs: Callable[[Serving], object] | None = None
    events: Mapping[str, type[BaseModel]] = field(default_factory=dict)
    last: str = ""

    @property
    def model(self) -> type[Request]:
        """The request as a class; `request` is the same as a function of its fields, which gives methods their types."""
        return cast(type[Request], self.request)


GROUND = Call("ground", GroundRequest, ground, GroundedInput, "/v1/ground", events={"stage": GroundStageEvent}, last="grounding")
_ANSWER_EVENTS: dict[str, type[BaseModel]] = {"stage": StageEvent, "sentence": SentenceEvent, "removed": RemovedOut}
ANSWER = Call(
    "answer", AnswerRequest, answer, AnswerResponse, "/v1/answer",
    needs=lambda serving: serving.answering(), events=_ANSWER_EVENTS, last="answer",
)  # fmt: skip
TEXT = Call("text", TextRequest, check_text, CheckedText, "/v1/text", events={"plan": TextPlan, "claim": ClaimDone}, last="text")
EVIDENCE = Call(
    "evidence", EvidenceRequest, find_evidence, EvidenceResponse, "/v1/evidence", needs=lambda serving: serving.finding()
)
SEARCH = Call("search", SearchRequest, search, SearchResponse, "/v1/search", "GET")
DOCUMENT = Call("document", DocumentRequest, show_document, DocumentOut, "/v1/documents/{pmid}", "GET")
CLASSIFY = Call("classify", ClassifyRequest, classify, InputOut, "/v1/classify")
