"""Grounding and answering for a request: every stage is reported, timed and counted."""

from __future__ import annotations

import time
from collections.abc import Callable

from retrieval.core.answers import Answer, RemovedSentence
from retrieval.core.values import Claim, Grounding, Topic
from service.answering.events import KeptSentence, Stage
from service.grounding.values import GroundStage
from service.http.requests.parts import Parts
from service.operating import metrics
from service.operating.live_index import Serving
from service.typed.grounding import ground_typed
from service.typed.schemas import TypedGroundResponse

IN_TIME = 0.9
"""The part of the time for a piece of work after which no further paper is read, so that what was read is still shown."""


def ground_claim(
    parts: Parts, serving: Serving, claim: Claim, tell: Callable[[GroundStage], None], papers: int | None = None
) -> tuple[TypedGroundResponse, Grounding]:
    """Ground the typed text as a claim, and say what it was taken for."""
    return ground_typed(serving.grounder, claim, lambda meant: run_grounding(parts, serving, meant, tell, papers))


def run_grounding(
    parts: Parts, serving: Serving, claim: Claim, tell: Callable[[GroundStage], None], papers: int | None = None
) -> Grounding:
    """Ground a claim; each stage is reported and timed."""
    clock, until = metrics.StageClock("ground"), time.monotonic() + IN_TIME * parts.workers.limits.work

    def on_stage(stage: GroundStage) -> None:
        clock.begin("" if stage.name == "decided" else f"{stage.side or ''} {stage.name}".lstrip())
        tell(stage)

    grounding = serving.grounder.ground(claim, on_stage, papers=papers, until=until)
    for side, counts in grounding.checked.items():
        metrics.JUDGED.labels(side=side).inc(counts.judged)
    parts.tokens.read([serving.grounder.models.judges])
    return grounding


def run_answer(
    parts: Parts, serving: Serving, topic: Topic, tell: Callable[[Stage | KeptSentence | RemovedSentence], None]
) -> Answer:
    """Answer a question; each event is reported and each stage timed."""
    clock, answerer = metrics.StageClock("answer"), serving.answering()

    def on_event(event: Stage | KeptSentence | RemovedSentence) -> None:
        if isinstance(event, Stage):
            clock.begin(event.name)
        tell(event)

    try:
        answer = answerer.answer(topic, on_event)
        clock.begin("")
        return answer
    finally:
        parts.tokens.read([answerer.models.judges, answerer.models.generators])
