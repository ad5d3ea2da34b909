"""What the checks of both tasks' runs share: every item present once, its metadata complete, one team and one run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from retrieval.store.documents import Documents
from service.trec.records import is_whole

MAX_CITATIONS = 3


@dataclass(frozen=True, slots=True)
class Shape:
    """The form of a task's records: what a record is called, the key of its id in the metadata, the key beside the metadata."""

    noun: str
    id: str
    body: str


def record_faults(
    records: Sequence[Any], shape: Shape, ids: Collection[str], faults_in: Callable[[str, str, dict[str, Any]], Iterator[str]]
) -> Iterator[str]:
    """The faults of a run whose input holds these `ids`; `faults_in` yields those in one record (its place, its id, itself)."""
    noun = shape.noun
    keys: set[str] = set()
    idents: set[tuple[Any, Any]] = set()
    for number, record in enumerate(records, 1):
        metadata = record.get("metadata") if isinstance(record, dict) else None
        if not isinstance(metadata, dict):
            yield f"record {number}: an object with metadata and {shape.body} was expected"
            continue
        key = str(metadata.get(shape.id, ""))
        place = f"{noun} {key or f'at record {number}'}"
        for name in ("team_id", "run_id"):
            if not isinstance(metadata.get(name), str) or not metadata[name].strip():
                yield f"{place}: metadata.{name} is missing"
        idents.add((str(metadata.get("team_id")), str(metadata.get("run_id"))))
        if key not in ids:
            yield f"{place}: the input has no {noun} with this {shape.id}"
        elif key in keys:
            yield f"{place}: it appears more than once"
        else:
            yield from faults_in(place, key, record)
        keys.add(key)
    for key in ids:
        if key not in keys:
            yield f"{noun} {key}: it is missing"
    if len(idents) > 1:
        yield f"the run: its {noun}s name {len(idents)} different teams or runs; expected one"


def citation_faults(place: str, name: str, pmids: Sequence[str], store: Documents) -> Iterator[str]:
    """The faults of one list of citations, called `name`: too many, a repeated one, or one of no document in the index."""
    if len(pmids) > MAX_CITATIONS:
        yield f"{place}: {name} has {len(pmids)} PMIDs; at most {MAX_CITATIONS} are allowed"
    for pmid in sorted({pmid for pmid in pmids if pmids.count(pmid) > 1}):
        yield f"{place}: {name} repeats {pmid}"
    index_pmids = store.holds([pmid for pmid in pmids if is_whole(pmid)])
    for pmid in dict.fromkeys(pmids):
        if pmid not in index_pmids:
            yield f"{place}: {name} contains {pmid}, which is not in the index"
