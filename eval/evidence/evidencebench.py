"""EvidenceBench (Wang et al. 2025, arXiv 2504.18736): which sentences of a paper are evidence for a hypothesis, by aspect.

Each paper's evidence is divided into aspects, and every aspect is annotated with the sentences that show it. A method chooses
k sentences; **aspect recall** is the share of the aspects that at least one of them shows, averaged over papers. A task says
whether all aspects count or only those of results, and how large k is: fixed, or for each paper the smallest number of sentences
that can show them all.

The data (CC BY-NC-SA) is used for evaluation only, never for training; it is at
https://github.com/EvidenceBench/EvidenceBench.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import comb
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from indexes.readers.base.fields import RecordError
from indexes.readers.base.jsonl import parse_line, read_lines
from indexes.readers.paper import make_paper
from retrieval.core.errors import BadInput, BadRecord
from retrieval.core.values import Paper, SectionKind


@dataclass(frozen=True, slots=True)
class Task:
    """One of the benchmark's four tasks; a `k` of None stands for each paper's own optimal count."""

    name: str
    results_only: bool
    k: int | None


TASKS = {
    task.name: task
    for task in (
        Task("er-optimal", False, None),
        Task("er-10", False, 10),
        Task("result-er-optimal", True, None),
        Task("result-er-5", True, 5),
    )
}


def check_names(names: Sequence[str], entries: Iterable[str], what: str, others: Sequence[str] = ()) -> list[str]:
    """The names given, without duplicates; `all` stands for all of `entries`. Names in `others` are valid, but `all` excludes
    them.

    Raises `BadInput` for an unknown name.
    """
    every = list(entries)
    selection = list(dict.fromkeys(name for one in names for name in (every if one == "all" else [one])))
    for name in selection:
        if name not in every and name not in others:
            raise BadInput(f"There is no {what} {name!r}; the {what}s are {', '.join([*every, *others])}, or all.")
    return selection


def tasks(names: Sequence[str]) -> list[Task]:
    """The tasks with these names, without duplicates; `all` stands for the four."""
    return [TASKS[name] for name in check_names(names, TASKS, "task")]


@dataclass(frozen=True)
class Goal:
    """What a task asks of one paper: the sentences of each aspect, how many may be chosen, and a choice that shows the most."""

    aspects: tuple[frozenset[int], ...]
    k: int
    best: tuple[int, ...]

    def recall(self, selection: Sequence[int]) -> float:
        """The share of the aspects that the chosen sentences show; only the first `k` sentences count."""
        sentences = set(selection[: self.k])
        return sum(not aspect.isdisjoint(sentences) for aspect in self.aspects) / len(self.aspects)

    def expected(self, sentences: int) -> float:
        """The expected recall of `k` sentences drawn at random without replacement from `sentences`."""
        k = min(self.k, sentences)
        draws = comb(sentences, k)
        return sum(1 - comb(sentences - len(aspect), k) / draws for aspect in self.aspects) / len(self.aspects)


@dataclass(frozen=True)
class EvidenceCase:
    """One paper with its hypothesis; `goals` by task, without the tasks that it has no aspects for."""

    id: str
    hypothesis: str
    paper: Paper
    goals: dict[str, Goal]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="ignore")


class _Choice(_Strict):
    one_selection_of_sentences: list[int]


class _Optimal(_Choice):
    optimal: int


class _Record(_Strict):
    """The fields read from a record, under the benchmark's names."""

    id: str
    hypothesis: str
    paper_as_candidate_pool: list[str]
    sentence_types_in_candidate_pool: list[str]
    aspect_list_ids: list[str]
    results_aspect_list_ids: list[str] | None = None
    aspect2sentence_indices: dict[str, list[int]]
    evidence_retrieval_at_optimal_evaluation: _Optimal
    evidence_retrieval_at_10_evaluation: _Choice
    results_evidence_retrieval_at_optimal_evaluation: _Optimal | None = None
    results_evidence_retrieval_at_5_evaluation: _Choice | None = None


_KINDS: dict[str, SectionKind] = {"abstract": "abstract"}
_HEADING = "section_name"


def read_cases(paths: Sequence[Path]) -> list[EvidenceCase]:
    """The cases of JSON lines files, gzipped or not; raises a one-sentence `BadInput` for any other format."""
    cases: list[EvidenceCase] = []
    for path in paths:
        for number, line in read_lines(path):
            place = f"line {number}"
            try:
                cases.append(_case(parse_line(line), f"{path}, {place}"))
            except (RecordError, ValueError) as fault:
                raise BadRecord(path, place, f"{_describe_fault(fault)}; expected a record of EvidenceBench.") from None
    if not cases:
        raise BadInput(f"{', '.join(map(str, paths)) or '--data'} contains no record; name a file of EvidenceBench.")
    distinct_ids: set[str] = set()
    for case in cases:
        if case.id in distinct_ids:
            raise BadInput(f"The paper {case.id} appears twice; name each file of EvidenceBench once.")
        distinct_ids.add(case.id)
    return cases


def _describe_fault(fault: Exception) -> str:
    if isinstance(fault, ValidationError):
        first = fault.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return str(fault)


def _case(data: dict[str, Any], where: str) -> EvidenceCase:
    record = _Record.model_validate(data)
    types = record.sentence_types_in_candidate_pool
    if len(types) != len(record.paper_as_candidate_pool):
        raise ValueError(f"{len(record.paper_as_candidate_pool)} sentences came with {len(types)} types")
    paper = make_paper(
        record.paper_as_candidate_pool,
        [_KINDS.get(kind) for kind in types],
        headings=[kind == _HEADING for kind in types],
        where=where,
        id=record.id,
    )
    optimal, results = record.evidence_retrieval_at_optimal_evaluation, record.results_evidence_retrieval_at_optimal_evaluation
    ten, five = record.evidence_retrieval_at_10_evaluation, record.results_evidence_retrieval_at_5_evaluation
    goals = {
        "er-optimal": _goal(record, record.aspect_list_ids, optimal.optimal, optimal),
        "er-10": _goal(record, record.aspect_list_ids, 10, ten),
    }
    if record.results_aspect_list_ids and results and five:
        goals["result-er-optimal"] = _goal(record, record.results_aspect_list_ids, results.optimal, results)
        goals["result-er-5"] = _goal(record, record.results_aspect_list_ids, 5, five)
    return EvidenceCase(record.id, record.hypothesis, paper, goals)


def _goal(record: _Record, aspects: Sequence[str], k: int, choice: _Choice) -> Goal:
    count = len(record.paper_as_candidate_pool)
    sentence_sets = []
    for aspect in aspects:
        sentences = frozenset(record.aspect2sentence_indices.get(aspect, ()))
        if not sentences or min(sentences) < 0 or max(sentences) >= count:
            raise ValueError(f"the aspect {aspect} has no sentence among the {count} of the paper, or one out of their range")
        sentence_sets.append(sentences)
    if not sentence_sets:
        raise ValueError("it has no aspects")
    return Goal(tuple(sentence_sets), k, tuple(choice.one_selection_of_sentences))
