"""TREC BioGen Task B: reading its topics, in the form of 2024 (an object with topics) and that of 2025 (a bare list)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from retrieval.core.errors import BadInput, BadRecord
from retrieval.core.values import Topic
from service.grounding.claims import check_topic
from service.trec.records import keys, kind, read_id, read_json_or_lines, refuse_repeats

_FIELDS = ("question", "topic", "narrative")
_EXPECTATION = "Task B reads a list of topics with id, topic, question and narrative"


def read_topics(path: Path) -> list[Topic]:
    """Read the topics of a file, in its order; raises `BadInput` with the file, topic and fault."""
    records = read_json_or_lines(path)
    if len(records) == 1 and isinstance(records[0], dict) and "topics" in records[0]:
        records = records[0]["topics"]
        if not isinstance(records, list):
            raise BadInput(f"{path}: topics should be a list, not {kind(records)}; {_EXPECTATION}.")
    if any(isinstance(record, dict) and {"answer", "meta_data"} & record.keys() for record in records):
        raise BadInput(f"{path} contains items with answers, the input of Task A; {_EXPECTATION}.")
    if any(isinstance(record, dict) and "responses" in record for record in records):
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
    if "question" not in record:
        raise BadRecord(path, place, f"a question is missing; the record has {keys(record)}")
    fields = {name: record[name] for name in _FIELDS if name in record}
    for name, value in fields.items():
        if not isinstance(value, str):
            raise BadRecord(path, place, f"{name} should be a text, not {kind(value)}")
    try:
        return check_topic(**fields, id=own_id)
    except BadInput as error:
        raise BadRecord(path, place, str(error)) from None
