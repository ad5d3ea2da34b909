"""Making a Task B run: topics in parallel, each kept when finished, the whole files written at the end (service.trec.journal)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from retrieval.core.errors import ModelUnusable, Unfinished
from retrieval.core.values import Topic
from service.answering.answer import Answerer
from service.answering.schemas import AnswerResponse
from service.trec.journal import ANSWERS, RUN, Job, beside, facts_of_service, journal, shared_facts, work
from service.trec.records import track_id, write_line
from service.trec.shards import Shard, own_part

_ACTION, _UNIT = "answering", "topics"


@dataclass(frozen=True, slots=True)
class TaskBRunReport:
    """What a run did; `too_little` topics have an entry without a sentence, tokens are the servers' own counts, `cost` is in
    US dollars and covers the models with a configured price."""

    topics: int
    too_little: int
    sentences: int
    removed: int
    conflicts: int
    tokens: int
    cost: float
    resumed: int


def answers_path(out: Path) -> Path:
    """The path of a run's full answers: beside the run, one topic per line."""
    return beside(out, ANSWERS)


def run(
    topics: Sequence[Topic], input: Path, answerer: Answerer, out: Path, team: str, run_id: str, shard: Shard | None = None
) -> TaskBRunReport:
    """Answer every topic and write the official format, one topic per line, with the full answers and a manifest beside it.

    With `shard`, only that part of the topics (service.trec.shards).
    A topic for which the model returns nothing is tried once more after the others. If some still lack an answer, no run is
    written and `Unfinished` is raised: the track requires every topic, and the same command then tries only those.
    """
    topics, part = own_part(topics, [1] * len(topics), shard)
    with journal(out, {**_facts(input, answerer, team, run_id), **part}) as run_journal:
        jobs = [_job(topic, answerer) for topic in topics]
        faults = work(run_journal, jobs, _ACTION, _UNIT, survived=(ModelUnusable,))
        if faults:
            # The topics that the first pass did not reach come first, or the same few faults would end the second pass too.
            retries = sorted(jobs, key=lambda job: job.key in faults)
            faults = work(run_journal, retries, _ACTION, _UNIT, survived=(ModelUnusable,))
        gaps = [topic.id for topic in topics if topic.id not in run_journal.records]
        if gaps:
            last_fault = str(list(faults.values())[-1])
            raise Unfinished(
                f"{len(gaps)} of {len(topics)} topics have no answer yet ({_list_ids(gaps)}; the last fault: "
                f"{last_fault.rstrip('.')}); the others are saved, and the same command resumes with these."
            )
        records = [json.loads(run_journal.records[topic.id]) for topic in topics]
        lines = [write_line(_in_run(record, team, run_id)) for record in records]
        run_journal.publish({RUN: _text(lines), ANSWERS: _text([run_journal.records[topic.id] for topic in topics])})
    return TaskBRunReport(
        topics=len(records),
        too_little=sum(not record["sentences"] for record in records),
        sentences=sum(len(record["sentences"]) for record in records),
        removed=sum(len(record["removed"]) for record in records),
        conflicts=sum(len(record["conflicts"]) for record in records),
        tokens=sum(record["usage"]["prompt_tokens"] + record["usage"]["completion_tokens"] for record in records),
        cost=sum(record["usage"]["cost"] or 0.0 for record in records),
        resumed=run_journal.resumed,
    )


def _job(topic: Topic, answerer: Answerer) -> Job:
    return Job(topic.id, 1, lambda: _record(topic, answerer))


def _record(topic: Topic, answerer: Answerer) -> str:
    """The full answer in the form of POST /answer, as one line of JSON; everything else is made from it."""
    return AnswerResponse.of(answerer.answer(topic), answerer).model_dump_json()


def _in_run(record: dict[str, Any], team: str, run_id: str) -> dict[str, Any]:
    """Convert it to the track's format; a topic without an answer has no responses."""
    responses = [
        {"text": one["text"], "citations": [track_id(citation["pmid"]) for citation in one["citations"]]}
        for one in record["sentences"]
    ]
    return {"metadata": {"team_id": team, "run_id": run_id, "topic_id": record["topic"]["id"]}, "responses": responses}


def _list_ids(ids: Sequence[str]) -> str:
    return ", ".join(ids[:5]) + (", …" if len(ids) > 5 else "")


def _text(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _facts(input: Path, answerer: Answerer, team: str, run_id: str) -> dict[str, Any]:
    """Everything that determines the contents of a run; equal facts give equal bytes if the generator is deterministic."""
    grounder = answerer.grounder
    return {
        **shared_facts("b", input, team, run_id, __name__),
        **facts_of_service(answerer),
        "grounding_models": grounder.models.names() if grounder else {},
        "grounding": grounder.config.model_dump() if grounder else None,
    }
