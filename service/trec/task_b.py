"""TREC Task B: reading its topics in the forms of 2024 and 2025, making a run, checking one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from counterpoint.retrieval.core.english import format_count
from counterpoint.retrieval.core.errors import BadInput, BadRecord, ModelUnusable, Unfinished
from counterpoint.retrieval.core.values import Topic
from counterpoint.retrieval.index import Documents
from counterpoint.retrieval.store.corpus import Corpus
from counterpoint.service.answering.answer import Answerer
from counterpoint.service.answering.schemas import AnswerResponse
from counterpoint.service.grounding.claims import check_topic
from counterpoint.service.runs.journal import ANSWERS, RUN, Job, beside, facts_of_service, journal, shared_facts, work
from counterpoint.service.trec.records import (
    Shape,
    citation_faults,
    is_id_list,
    keys,
    kind,
    read_id,
    read_json_or_lines,
    read_words,
    record_faults,
    refuse_repeats,
    track_id,
    write_line,
)

_FIELDS = ("question", "topic", "narrative")
_EXPECTATION = "Task B reads a list of topics with id, topic, question and narrative"


def read_topics(path: Path) -> list[Topic]:
    """Read the topics of a file, in its order; raises `BadInput` with the file, topic and fault."""
    records = read_json_or_lines(path)
    if len(records) == 1 and isinstance(records[0], dict) and "topics" in records[0]:
        records = records[0]["topics"]
        if not isinstance(records, list):
            raise BadInput(f"{path}: topics should be a list, not {kind(records)}; {_EXPECTATION}.")
    # The track's topics are passed on with empty fields of other tasks, too.
    if any(isinstance(record, dict) and (record.get("answer") or record.get("meta_data")) for record in records):
        raise BadInput(f"{path} contains items with answers, the input of Task A; {_EXPECTATION}.")
    if any(isinstance(record, dict) and record.get("responses") is not None for record in records):
        raise BadInput(f"{path} contains responses: it is a run of Task B, not its input; {_EXPECTATION}.")
    topics = [_topic(path, number, record) for number, record in enumerate(records, 1)]
    if not topics:
        raise BadInput(f"{path} contains no topics; {_EXPECTATION}.")
    refuse_repeats(path, "topic", "id", (topic.id for topic in topics))
    return topics


def _topic(path: Path, number: int, record: Any) -> Topic:
    place = f"topic {number}"
    if not isinstance(record, dict):
        raise BadRecord(path, place, f"expected an object, not {kind(record)}")
    if "id" not in record:
        raise BadRecord(path, place, f"an id is missing; the record has {keys(record)}")
    own_id = read_id(path, place, "id", record["id"])
    place = f"topic {number} (id {own_id})"
    if record.get("question") is None:
        raise BadRecord(path, place, f"a question is missing; the record has {keys(record)}")
    fields = {name: read_words(path, place, name, record[name]) for name in _FIELDS if record.get(name) is not None}
    try:
        return check_topic(**fields, id=own_id)
    except BadInput as error:
        raise BadRecord(path, place, str(error)) from None


_ACTION, _UNIT = "answering", "topics"


@dataclass(frozen=True, slots=True)
class TaskBRunReport:
    """What a run did; on `too_little` topics the index has too little, and `empty` ones have an entry without a sentence; tokens
    are the servers' own counts, `cost` is in US dollars and covers the models with a configured price."""

    topics: int
    too_little: int
    empty: int
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
    topics: Sequence[Topic], input: Path, answerer: Answerer, out: Path, team: str, run_id: str, fill: bool = False
) -> TaskBRunReport:
    """Answer every topic and write the official format, one topic per line, with the full answers and a manifest beside it.

    With `fill`, a topic on which the index has too little gets what the nearest papers found.
    A topic for which the model returns nothing is tried once more after the others. If some still lack an answer, no run is
    written and `Unfinished` is raised: the track requires every topic, and the same command then tries only those.
    """
    grounder = answerer.grounder
    # Everything that determines the contents of a run: equal facts give equal bytes if the generator is deterministic.
    facts = {
        **shared_facts("b", input, team, run_id, __name__),
        "fill": fill,
        **facts_of_service(answerer),
        "grounding_models": grounder.models.names() if grounder else {},
        "grounding": grounder.config.model_dump() if grounder else None,
    }
    jobs = [Job(topic.id, 1, partial(_record, topic, answerer, fill)) for topic in topics]
    with journal(out, facts) as run_journal:
        faults = work(run_journal, jobs, _ACTION, _UNIT, survived=(ModelUnusable,))
        if faults:
            # The topics that the first pass did not reach come first, or the same few faults would end the second pass too.
            retries = sorted(jobs, key=lambda job: job.key in faults)
            faults = work(run_journal, retries, _ACTION, _UNIT, survived=(ModelUnusable,))
        gaps = [topic.id for topic in topics if topic.id not in run_journal.records]
        if gaps:
            last_fault = str(list(faults.values())[-1])
            few = ", ".join(gaps[:5]) + (", …" if len(gaps) > 5 else "")
            raise Unfinished(
                f"{len(gaps)} of {format_count(len(topics), 'topic')} {'has' if len(gaps) == 1 else 'have'} no answer yet "
                f"({few}; the last fault: "
                f"{last_fault.rstrip('.')}); the others are saved, and the same command resumes with these."
            )
        records = [json.loads(run_journal.records[topic.id]) for topic in topics]
        lines = [write_line(_in_run(record, team, run_id)) for record in records]
        run_journal.publish({RUN: lines, ANSWERS: [run_journal.records[topic.id] for topic in topics]})
    return TaskBRunReport(
        topics=len(records),
        too_little=sum(record["outcome"] == "too little" for record in records),
        empty=sum(not record["sentences"] for record in records),
        sentences=sum(len(record["sentences"]) for record in records),
        removed=sum(len(record["removed"]) for record in records),
        conflicts=sum(len(record["conflicts"]) for record in records),
        tokens=sum(record["usage"]["prompt_tokens"] + record["usage"]["completion_tokens"] for record in records),
        cost=sum(record["usage"]["cost"] or 0.0 for record in records),
        resumed=run_journal.resumed,
    )


def _record(topic: Topic, answerer: Answerer, fill: bool) -> str:
    """The full answer in the form of POST /answer, as one line of JSON; everything else is made from it."""
    return AnswerResponse.of(answerer.answer(topic, fill=fill), answerer).model_dump_json()


def _in_run(record: dict[str, Any], team: str, run_id: str) -> dict[str, Any]:
    """Convert it to the track's format; a topic without an answer has no responses."""
    responses = [
        {"text": one["text"], "citations": [track_id(citation["pmid"]) for citation in one["citations"]]}
        for one in record["sentences"]
    ]
    return {"metadata": {"team_id": team, "run_id": run_id, "topic_id": record["topic"]["id"]}, "responses": responses}


MAX_WORDS = 250
"""The most words, split at white space, over all sentences of an answer."""
SHAPE = Shape("topic", "topic_id", "responses", {2024: range(116, 181), 2025: range(181, 211)})


def check(run: Path, topics: Sequence[Topic], store: Documents | None, corpus: Corpus | None = None) -> list[str]:
    """All faults of a run, in its own order; an empty list means a valid run. With `corpus`, it may cite no other, and no `store`
    is needed.

    An empty list of responses is not a fault.
    """

    def faults_in(place: str, _: str, record: dict[str, Any]) -> Iterator[str]:
        return _topic_faults(place, record, store, corpus)

    return list(record_faults(read_json_or_lines(run), SHAPE, [topic.id for topic in topics], faults_in))


def _topic_faults(place: str, record: dict[str, Any], store: Documents | None, corpus: Corpus | None) -> Iterator[str]:
    responses = record.get("responses")
    if not isinstance(responses, list):
        yield f"{place}: responses should be a list of sentences"
        return
    words = 0
    for number, entry in enumerate(responses, 1):
        yield from _sentence_faults(f"{place}, sentence {number}", entry, store, corpus)
        text = entry.get("text") if isinstance(entry, dict) else None
        words += len(text.split()) if isinstance(text, str) else 0
    if words > MAX_WORDS:
        yield f"{place}: its sentences have {format_count(words, 'word')}; at most {MAX_WORDS} are allowed"


def _sentence_faults(place: str, entry: Any, store: Documents | None, corpus: Corpus | None) -> Iterator[str]:
    if not isinstance(entry, dict):
        yield f"{place}: an object with text and citations was expected"
        return
    text, citations = entry.get("text"), entry.get("citations")
    if not isinstance(text, str) or not text.strip():
        yield f"{place}: the text is missing"
    if not is_id_list(citations):
        yield f"{place}: citations should be a list of PMIDs"
    elif not citations:
        yield f"{place}: it has no citation; at least one is required"
    else:
        yield from citation_faults(place, "citations", [str(pmid) for pmid in citations], store, corpus)
