"""Checking a Task B run, more strictly than the track, whose own validator counts neither words nor citations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from retrieval.core.values import Topic
from retrieval.store.documents import Documents
from service.trec.checking import Shape, citation_faults, record_faults
from service.trec.records import is_id_list, read_json_or_lines

MAX_WORDS = 250
"""The most words, split at white space, over all sentences of an answer."""
_SHAPE = Shape("topic", "topic_id", "responses")


def check(run: Path, topics: Sequence[Topic], store: Documents) -> list[str]:
    """All faults of a run, in its own order; an empty list means a valid run. An empty list of responses is not a fault."""
    ids = [topic.id for topic in topics]
    return list(record_faults(read_json_or_lines(run), _SHAPE, ids, lambda place, _, record: _topic_faults(place, record, store)))


def _topic_faults(place: str, record: dict[str, Any], store: Documents) -> Iterator[str]:
    responses = record.get("responses")
    if not isinstance(responses, list):
        yield f"{place}: responses should be a list of sentences"
        return
    words = 0
    for number, entry in enumerate(responses, 1):
        yield from _sentence_faults(f"{place}, sentence {number}", entry, store)
        text = entry.get("text") if isinstance(entry, dict) else None
        words += len(text.split()) if isinstance(text, str) else 0
    if words > MAX_WORDS:
        yield f"{place}: its sentences have {words} words; at most {MAX_WORDS} are allowed"


def _sentence_faults(place: str, entry: Any, store: Documents) -> Iterator[str]:
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
        yield from citation_faults(place, "citations", [str(pmid) for pmid in citations], store)
