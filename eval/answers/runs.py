"""Task B runs to be measured: anyone's, in the track's format, read as they are even where they exceed its limits."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from retrieval.core.errors import BadInput, BadRecord
from retrieval.core.values import Drafted
from service.trec.records import is_id, is_id_list, keys, kind, read_json_or_lines
from service.trec.task_b import answers_path


@dataclass(frozen=True, slots=True)
class Response:
    """A sentence of an answer and the PMIDs that it cites, without duplicates."""

    text: str
    citations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Run:
    """A run, named after its file: the responses to each topic in it, none where the topic was declined.

    `drafts` holds what the generator wrote before our check, by topic, where the run's full answers are stored beside it.
    """

    name: str
    responses: dict[str, tuple[Response, ...]]
    drafts: dict[str, Drafted] = field(default_factory=dict)


def read_runs(paths: Collection[Path], topics: Collection[str]) -> list[Run]:
    """The runs of these files; where two files share a name, each run is named by its whole path.

    Raises `BadInput` for a file that is given twice.
    """
    stems = [path.stem for path in paths]
    if len({path.resolve() for path in paths}) < len(paths):
        raise BadInput("The same run file is given twice; give each once.")
    return [_read(path, path.stem if stems.count(path.stem) == 1 else str(path), topics) for path in paths]


def _read(path: Path, name: str, topics: Collection[str]) -> Run:
    responses: dict[str, tuple[Response, ...]] = {}
    for number, record in enumerate(read_json_or_lines(path), 1):
        place = f"record {number}"
        if not isinstance(record, dict):
            raise BadRecord(path, place, f"expected an object, not {kind(record)}")
        metadata = record.get("metadata")
        if not isinstance(metadata, dict) or not is_id(metadata.get("topic_id")):
            raise BadRecord(path, place, f"expected metadata with a topic_id, as in Task B; the record has {keys(record)}")
        topic = str(metadata["topic_id"])
        place = f"topic {topic}"
        if topic not in topics:
            raise BadRecord(path, place, "no topic has this id; give the topics of this run")
        if topic in responses:
            raise BadRecord(path, place, "it appears more than once")
        if not isinstance(record.get("responses"), list):
            raise BadRecord(path, place, f"responses should be a list of sentences, not {kind(record.get('responses'))}")
        responses[topic] = tuple(_response(path, f"{place}, sentence {i}", one) for i, one in enumerate(record["responses"], 1))
    return Run(name, responses, _read_drafts(answers_path(path), responses))


def _read_drafts(path: Path, topics: Collection[str]) -> dict[str, Drafted]:
    """The drafts in the full answers that `run task-b` writes beside a run; empty where there are none, as for others' runs."""
    if not path.is_file():
        return {}
    drafts: dict[str, Drafted] = {}
    for record in read_json_or_lines(path):
        draft = record.get("drafted") if isinstance(record, dict) else None
        topic = str(record["topic"]["id"]) if draft else ""
        if draft and topic in topics and draft["sentences"]:
            drafts[topic] = Drafted(draft["sentences"], draft["cited"], draft["citations"])
    return drafts


def _response(path: Path, place: str, value: Any) -> Response:
    if not isinstance(value, dict) or not isinstance(value.get("text"), str):
        raise BadRecord(path, place, f"expected an object with a text, not {kind(value)}")
    citations = value.get("citations") or []
    if not is_id_list(citations):
        raise BadRecord(path, place, f"citations should be a list of PMIDs, not {kind(citations)}")
    return Response(value["text"], tuple(dict.fromkeys(str(pmid) for pmid in citations)))
