"""EvidenceBench (Wang et al. 2025, arXiv 2504.18736): which sentences of a paper are evidence for a hypothesis, by aspect.

Each paper's evidence is divided into aspects, and every aspect is annotated with the sentences that show it. A method chooses
k sentences; **aspect recall** is the share of the aspects that at least one of them shows, averaged over papers. A task says
whether all aspects count or only those of results, and how large k is: fixed, or for each paper the smallest number of sentences
that can show them all.

The data (CC BY-NC-SA) is used for evaluation only, never for training; it is at
https://github.com/EvidenceBench/EvidenceBench.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ValidationError

from counterpoint.eval.measures.figures import Resampler
from counterpoint.eval.measures.report import Report, Table, show
from counterpoint.eval.measures.resuming import record_each
from counterpoint.indexes.readers.base.fields import RecordError
from counterpoint.indexes.readers.base.jsonl import read_some
from counterpoint.indexes.readers.prose.article import make_article
from counterpoint.nli.evidence import EvidenceReader, EvidenceReading, choose_sentences
from counterpoint.nli.long_text import list_sentences
from counterpoint.nli.text.headings import Part
from counterpoint.retrieval.core.errors import BadInput
from counterpoint.retrieval.core.values import SectionKind, Sentence
from counterpoint.retrieval.store.journal import Origin
from counterpoint.retrieval.training.bm25 import TextIndex
from counterpoint.service.runs.journal import code_of


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


@dataclass(frozen=True)
class Goal:
    """What a task asks of one paper: the sentences of each aspect, how many may be chosen, and a choice that shows the most."""

    aspects: tuple[tuple[int, ...], ...]
    k: int
    best: tuple[int, ...]

    def recall(self, selection: Sequence[int]) -> float:
        """The share of the aspects that the chosen sentences show; only the first `k` sentences count."""
        sentences = set(selection[: self.k])
        return sum(not sentences.isdisjoint(aspect) for aspect in self.aspects) / len(self.aspects)

    def expected(self, sentences: int) -> float:
        """The expected recall of `k` sentences drawn at random without replacement from `sentences`."""
        k = min(self.k, sentences)
        draws = comb(sentences, k)
        return sum(1 - comb(sentences - len(aspect), k) / draws for aspect in self.aspects) / len(self.aspects)


@dataclass(frozen=True)
class EvidenceCase:
    """One paper with its hypothesis: its sentences, without headings, and the number of each among the benchmark's candidates,
    which are `count`; `goals` by task, without the tasks that it has no aspects for."""

    id: str
    hypothesis: str
    sentences: tuple[Sentence, ...]
    numbers: tuple[int, ...]
    count: int
    goals: dict[str, Goal]


class _Choice(BaseModel):
    one_selection_of_sentences: list[int]


class _Optimal(_Choice):
    optimal: int


class _Record(BaseModel):
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
    cases: dict[str, EvidenceCase] = {}
    for case in (case for path in paths for case in read_some(path, _read_case, "record", "EvidenceBench's records")):
        if cases.setdefault(case.id, case) is not case:
            raise BadInput(f"The paper {case.id} appears twice; name each file of EvidenceBench once.")
    return list(cases.values())


def _read_case(data: dict[str, Any], _number: int) -> EvidenceCase:
    try:
        return _make_case(_Record.model_validate(data))
    except ValidationError as error:
        first = error.errors()[0]
        raise RecordError(f"expected a record of EvidenceBench: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    except ValueError as error:
        raise RecordError(f"expected a record of EvidenceBench: {error}") from None


def _make_case(record: _Record) -> EvidenceCase:
    types = record.sentence_types_in_candidate_pool
    if len(types) != len(record.paper_as_candidate_pool):
        raise ValueError(f"{len(record.paper_as_candidate_pool)} sentences came with {len(types)} types")
    texts = [" ".join(text.split()) for text in record.paper_as_candidate_pool]
    parts = [
        Part(text, number, kind == _HEADING, _KINDS.get(kind))
        for number, (text, kind) in enumerate(zip(texts, types, strict=True))
    ]
    sentences = list_sentences(make_article(parts))
    if not sentences:
        raise ValueError("it contains no sentence")
    numbers = tuple(part.paragraph for part in parts if part.text and not part.heading)
    optimal, results = record.evidence_retrieval_at_optimal_evaluation, record.results_evidence_retrieval_at_optimal_evaluation
    ten, five = record.evidence_retrieval_at_10_evaluation, record.results_evidence_retrieval_at_5_evaluation
    goals = {
        "er-optimal": _goal(record, record.aspect_list_ids, optimal.optimal, optimal),
        "er-10": _goal(record, record.aspect_list_ids, 10, ten),
    }
    if record.results_aspect_list_ids and results and five:
        goals["result-er-optimal"] = _goal(record, record.results_aspect_list_ids, results.optimal, results)
        goals["result-er-5"] = _goal(record, record.results_aspect_list_ids, 5, five)
    return EvidenceCase(record.id, record.hypothesis, sentences, numbers, len(parts), goals)


def _goal(record: _Record, aspects: Sequence[str], k: int, choice: _Choice) -> Goal:
    count = len(record.paper_as_candidate_pool)
    found = [tuple(sorted({*record.aspect2sentence_indices.get(aspect, ())})) for aspect in aspects]
    for aspect, sentences in zip(aspects, found, strict=True):
        if not sentences or sentences[0] < 0 or sentences[-1] >= count:
            raise ValueError(f"the aspect {aspect} has no sentence among the {count} of the paper, or one out of their range")
    if not found:
        raise ValueError("it has no aspects")
    return Goal(tuple(found), k, tuple(choice.one_selection_of_sentences))


def _choose_by_bm25(case: EvidenceCase, reading: EvidenceReading, task: Task) -> Sequence[int]:
    # The usual k1 and b: the service's own 0.9 and 0.4 suit abstracts, but within a paper they favour long sentences.
    index = TextIndex([sentence.text for sentence in case.sentences], k1=1.2, b=0.75)
    return [int(row) for row in np.argsort(-index.scores(case.hypothesis), kind="stable")]


@dataclass(frozen=True, slots=True)
class EvidenceMethod:
    """A row of the table. `choose` gives the rows of the sentences chosen for a case, best first; it is None for the two that are
    computed without choosing sentences: maximum and random."""

    title: str
    choose: Callable[[EvidenceCase, EvidenceReading, Task], Sequence[int]] | None = None


METHODS = {
    "maximum": EvidenceMethod("upper bound for this many sentences"),
    "random": EvidenceMethod("random sentences (expected)"),
    "abstract-end": EvidenceMethod(
        "the last sentences of the abstract", lambda case, *_: [one.index for one in reversed(case.sentences) if one.in_abstract]
    ),
    "bm25": EvidenceMethod("BM25", _choose_by_bm25),
    "ours": EvidenceMethod(
        "ours with set selection",
        lambda case, reading, task: choose_sentences(case.sentences, reading, case.goals[task.name].k, task.results_only),
    ),
}


def compute_recall(case: EvidenceCase, reading: EvidenceReading, task: Task, method: str) -> float:
    """The aspect recall, 0 to 1, of a method of `METHODS` on a paper that has aspects for the task."""
    goal, choose = case.goals[task.name], METHODS[method].choose
    if choose:
        return goal.recall([case.numbers[row] for row in choose(case, reading, task)])
    return goal.recall(goal.best) if method == "maximum" else goal.expected(case.count)


def measure_all(cases: Sequence[EvidenceCase], reader: EvidenceReader, work: Path) -> dict[str, dict[str, dict[str, float]]]:
    """The aspect recall of every method in every task, by paper; a stopped run resumes from the folder `work`.

    Raises `Interrupted` where the user stops it.
    """

    def read(case: EvidenceCase) -> dict[str, dict[str, float]]:
        reading = reader.read(case.hypothesis, "", case.sentences)
        return {task: {name: compute_recall(case, reading, TASKS[task], name) for name in METHODS} for task in case.goals}

    origin = Origin(None, reader.name, code_of("counterpoint.nli.evidence", "counterpoint.eval.evidence.evidencebench"))
    records = record_each(cases, read, origin, work, "evidence", "papers")
    return {case.id: record for case, record in zip(cases, records, strict=True)}


def make_report(
    recalls: Mapping[str, Mapping[str, Mapping[str, float]]],
    tasks: Sequence[str],
    methods: Sequence[str],
    models: str,
) -> Report:
    """Every method on every task, by the recalls of papers; bootstrap samples are over papers and the same for all methods."""
    rows: list[dict[str, Any]] = []
    shown = [["papers", *(str(sum(task in own for own in recalls.values())) for task in tasks)]]
    for method in methods:
        each = {task: {paper: own[task][method] for paper, own in recalls.items() if task in own} for task in tasks}
        figures = {task: Resampler(len(own)).share(own.values()) for task, own in each.items()}
        shown.append([METHODS[method].title, *(show(figures[task], ".1%") for task in tasks)])
        rows += [{"method": method, "task": task, "figure": figures[task], "recalls": each[task]} for task in tasks]
    table = Table("Aspect recall and 95 % interval", ["method", *tasks], shown)
    return Report("EvidenceBench", [table], {"rows": rows}, made_with={"models": models})
