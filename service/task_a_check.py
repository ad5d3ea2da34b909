"""Checking a Task A run the way the track would, and more strictly: every fault named by item and sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from retrieval.store import Store
from service.task_a import AnswerSentence, Item, read_json_or_lines

MAX_CITATIONS = 3
_LISTS = ("supported_citations", "contradicted_citations")


def check(run: Path, items: Sequence[Item], store: Store) -> list[str]:
    """All faults of a run, in the order of its items; an empty list is a valid run."""
    return list(_faults(read_json_or_lines(run), {item.qa_id: item for item in items}, store))


def _faults(records: Sequence[Any], items: dict[str, Item], store: Store) -> Iterator[str]:
    seen: set[str] = set()
    idents: set[tuple[Any, Any]] = set()
    for number, record in enumerate(records, 1):
        metadata = record.get("metadata") if isinstance(record, dict) else None
        if not isinstance(metadata, dict):
            yield f"record {number}: an object with metadata and answer was expected"
            continue
        qa_id = str(metadata.get("qa_id", ""))
        place = f"item {qa_id or f'at record {number}'}"
        for key in ("team_id", "run_id"):
            if not isinstance(metadata.get(key), str) or not metadata[key].strip():
                yield f"{place}: metadata.{key} is missing"
        idents.add((str(metadata.get("team_id")), str(metadata.get("run_id"))))
        if qa_id not in items:
            yield f"{place}: the input has no item with this qa_id"
        elif qa_id in seen:
            yield f"{place}: it is there more than once"
        else:
            yield from _item_faults(place, record, metadata, items[qa_id], store)
        seen.add(qa_id)
    for qa_id in items:
        if qa_id not in seen:
            yield f"item {qa_id}: it is missing"
    if len(idents) > 1:
        yield f"the run: its items name {len(idents)} different teams or runs; one was expected"


def _item_faults(place: str, record: dict[str, Any], metadata: dict[str, Any], item: Item, store: Store) -> Iterator[str]:
    if metadata.get("question") != item.question:
        yield f"{place}: metadata.question is not the input's"
    answer = record.get("answer")
    if not isinstance(answer, list):
        yield f"{place}: answer should be a list of sentences"
        return
    if len(answer) != len(item.answer):
        yield f"{place}: it has {len(answer)} sentences and the input has {len(item.answer)}"
    for number, (given, sentence) in enumerate(zip(answer, item.answer, strict=False), 1):
        yield from _sentence_faults(f"{place}, sentence {number}", given, sentence, store)


def _sentence_faults(place: str, given: Any, sentence: AnswerSentence, store: Store) -> Iterator[str]:
    if not isinstance(given, dict):
        yield f"{place}: an object was expected"
        return
    if given.get("text") != sentence.text:
        yield f"{place}: the text is not the input's"
    existing = given.get("existing_supported_citations") or []
    if not _is_id_list(existing) or [str(c) for c in existing] != [str(c) for c in sentence.existing]:
        yield f"{place}: existing_supported_citations are not the input's"
    lists: dict[str, list[str]] = {}
    for name in _LISTS:
        value = given.get(name)
        if value is None or not _is_id_list(value):
            yield f"{place}: {name} should be a list of PMIDs"
            continue
        lists[name] = pmids = [str(pmid) for pmid in value]
        if len(pmids) > MAX_CITATIONS:
            yield f"{place}: {name} has {len(pmids)} PMIDs and at most {MAX_CITATIONS} are allowed"
        for pmid in sorted({pmid for pmid in pmids if pmids.count(pmid) > 1}):
            yield f"{place}: {name} repeats {pmid}"
        held = store.holds(pmids)
        for pmid in dict.fromkeys(pmids):
            if pmid not in held:
                yield f"{place}: {name} holds {pmid}, which is not in the index"
    supported, contradicted = (lists.get(name, []) for name in _LISTS)
    known = {str(pmid) for pmid in sentence.existing}
    for pmid in dict.fromkeys(supported):
        if pmid in known:
            yield f"{place}: supported_citations repeats the existing citation {pmid}"
        if pmid in contradicted:
            yield f"{place}: {pmid} is both supporting and contradicting"


def _is_id_list(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, int | str) and not isinstance(one, bool) for one in value)
