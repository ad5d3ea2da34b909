"""Checking a Task A run the way the track would, and more strictly: every fault is reported with its item and sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from retrieval.store.documents import Documents
from service.trec.checking import Shape, citation_faults, record_faults
from service.trec.records import is_id_list, read_json_or_lines
from service.trec.task_a.items import AnswerSentence, Item

_SHAPE = Shape("item", "qa_id", "answer")
_LISTS = ("supported_citations", "contradicted_citations")


def check(run: Path, items: Sequence[Item], store: Documents) -> list[str]:
    """All faults of a run, in the order of its items; an empty list means a valid run."""
    by_id = {item.qa_id: item for item in items}
    return list(
        record_faults(
            read_json_or_lines(run), _SHAPE, by_id, lambda place, key, record: _item_faults(place, record, by_id[key], store)
        )
    )


def _item_faults(place: str, record: dict[str, Any], item: Item, store: Documents) -> Iterator[str]:
    if record["metadata"].get("question") != item.question:
        yield f"{place}: metadata.question is not the input's"
    answer = record.get("answer")
    if not isinstance(answer, list):
        yield f"{place}: answer should be a list of sentences"
        return
    if len(answer) != len(item.answer):
        yield f"{place}: it has {len(answer)} sentences and the input has {len(item.answer)}"
    for number, (entry, sentence) in enumerate(zip(answer, item.answer, strict=False), 1):
        yield from _sentence_faults(f"{place}, sentence {number}", entry, sentence, store)


def _sentence_faults(place: str, entry: Any, sentence: AnswerSentence, store: Documents) -> Iterator[str]:
    if not isinstance(entry, dict):
        yield f"{place}: an object was expected"
        return
    if entry.get("text") != sentence.text:
        yield f"{place}: the text is not the input's"
    citations = entry.get("existing_supported_citations") or []
    if not is_id_list(citations) or [str(c) for c in citations] != [str(c) for c in sentence.existing]:
        yield f"{place}: existing_supported_citations are not the input's"
    lists: dict[str, list[str]] = {}
    for name in _LISTS:
        value = entry.get(name)
        if value is None or not is_id_list(value):
            yield f"{place}: {name} should be a list of PMIDs"
            continue
        lists[name] = pmids = [str(pmid) for pmid in value]
        yield from citation_faults(place, name, pmids, store)
    support, against = (lists.get(name, []) for name in _LISTS)
    known_pmids = {str(pmid) for pmid in sentence.existing}
    for pmid in dict.fromkeys(support):
        if pmid in known_pmids:
            yield f"{place}: supported_citations repeats the existing citation {pmid}"
        if pmid in against:
            yield f"{place}: {pmid} is both supporting and contradicting"
