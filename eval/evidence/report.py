"""The EvidenceBench table: aspect recall of each method in each task, with bootstrap errors, and the gain from set selection."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from tqdm import tqdm

from eval.evidence.evidencebench import EvidenceCase, Task
from eval.evidence.methods import SET, TOP, EvidenceMethod
from eval.measures.figures import RESAMPLES, SEED, Difference, Resampler, Tally, share
from eval.measures.report import Report, Table, show_difference
from nli.evidence import EvidenceReader, EvidenceReading
from retrieval.core.errors import GO_ON, translate_write_errors
from retrieval.core.values import Verdict
from retrieval.dense.encoder import Vectors
from retrieval.store.journal import Origin
from retrieval.store.manifest import write_atomically
from service.runs.journal import code_of


@dataclass(frozen=True, slots=True)
class EvidenceRow:
    """A method in a task: mean aspect recall in percent, its bootstrap standard error and 95 % interval, and each paper's."""

    method: str
    title: str
    task: str
    papers: int
    value: float
    error: float
    low: float
    high: float
    recalls: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Gain:
    """The gain of set selection over the plain top k in a task, in points, with its 95 % interval and the p-value for no gain."""

    task: str
    difference: Difference


@dataclass(frozen=True, slots=True)
class EvidenceReport:
    """All measurements, and what they were made with."""

    command: str
    models: str
    rows: tuple[EvidenceRow, ...]
    gains: tuple[Gain, ...]


def recalls(
    method: EvidenceMethod, cases: Sequence[EvidenceCase], readings: Mapping[str, EvidenceReading], task: Task
) -> dict[str, float]:
    """The method's aspect recall, 0 to 1, on each paper that has aspects for the task."""
    by_paper: dict[str, float] = {}
    for case in cases:
        goal = case.goals.get(task.name)
        if goal is None:
            continue
        if method.choose:
            by_paper[case.id] = goal.recall(method.choose(case, readings[case.id], task))
        elif method.name == "maximum":
            by_paper[case.id] = goal.recall(goal.best)
        else:
            by_paper[case.id] = goal.expected(len(case.paper.sentences))
    return by_paper


def standard_error(values: Sequence[float]) -> float:
    """The bootstrap's standard error of the mean, in percent (Efron and Tibshirani 1993, algorithm 6.1)."""
    weights = np.random.default_rng(SEED).multinomial(len(values), np.full(len(values), 1 / len(values)), size=RESAMPLES)
    return float((100 * (weights @ np.array(values)) / len(values)).std(ddof=1))


def make_report(
    cases: Sequence[EvidenceCase],
    readings: Mapping[str, EvidenceReading],
    tasks: Sequence[Task],
    methods: Sequence[EvidenceMethod],
    command: str,
    models: str,
) -> EvidenceReport:
    """Evaluate every method on every task; bootstrap samples are over papers and the same for all methods."""
    rows, gains = [], []
    for task in tasks:
        tallies = {}
        for method in methods:
            each = recalls(method, cases, readings, task)
            resampler = Resampler(len(each))
            tallies[method.name] = Tally.of([(100 * value, 1.0) for value in each.values()], share)
            figure = resampler.figure(tallies[method.name])
            rows.append(
                EvidenceRow(
                    method.name, method.title, task.name, len(each), figure.value or 0.0, standard_error(list(each.values())),
                    figure.low or 0.0, figure.high or 0.0, each,
                )
            )  # fmt: skip
        if TOP in tallies and SET in tallies:
            gains.append(Gain(task.name, resampler.difference(tallies[SET], tallies[TOP])))
    return EvidenceReport(command, models, tuple(rows), tuple(gains))


def show_evidence(report: EvidenceReport, notes: Sequence[str] = ()) -> Report:
    """A row for each method, the gain from set selection in each task, and notes."""
    tasks = list(dict.fromkeys(row.task for row in report.rows))
    titles = dict.fromkeys((row.method, row.title) for row in report.rows)
    cells = {(row.method, row.task): f"{row.value:.1f} ± {row.error:.1f}" for row in report.rows}
    counts = {row.task: f"{row.papers}" for row in report.rows}
    rows = [["papers", *counts.values()], *([title, *(cells[name, task] for task in tasks)] for name, title in titles)]
    blocks: list[Table | str] = [
        Table("Aspect recall, per cent ± standard error", ["method", *tasks], rows),
        *(
            f"Set selection in {one.task}: {show_difference(one.difference, '+.1f')} points over the top k by the same scores."
            for one in report.gains
        ),
        *notes,
    ]
    made_with = {"command": report.command, "models": report.models}
    return Report("EvidenceBench", blocks, report, made_with=made_with)


class KeptReadings:
    """Readings in a folder, one file each, by their origin; a stopped run resumes with what is there."""

    def __init__(self, folder: Path, reader: EvidenceReader) -> None:
        self._folder, self._reader = folder, reader

    def of(self, cases: Sequence[EvidenceCase]) -> Iterator[tuple[EvidenceCase, EvidenceReading]]:
        """Each case with its reading, from the folder or made now, with a progress bar."""
        with translate_write_errors("the readings", self._folder, GO_ON):
            self._folder.mkdir(parents=True, exist_ok=True)
            for case in tqdm(cases, desc="papers read", unit="paper", disable=None):
                path = self._origin(case).path(self._folder, "reading", ".npz")
                reading = _load(path)
                if reading is None:
                    reading = self._reader.read(case.hypothesis, case.paper)
                    _save(reading, path)
                yield case, reading

    def _origin(self, case: EvidenceCase) -> Origin:
        return Origin([case.hypothesis, asdict(case.paper)], self._reader.name, code_of("nli.evidence"))


def _save(reading: EvidenceReading, path: Path) -> None:
    shares = [(v.support, v.neutral, v.contradict) if v else (np.nan,) * 3 for v in reading.verdicts]
    content = io.BytesIO()
    np.savez(
        content, relevance=reading.relevance, verdicts=np.array(shares), vectors=reading.vectors, hypothesis=reading.hypothesis
    )
    write_atomically(path, content.getvalue())


def _load(path: Path) -> EvidenceReading | None:
    """The reading in a file; None where there is no file, or one that a full disk truncated."""
    try:
        with np.load(path) as file:
            shares = file["verdicts"]
            verdicts = tuple(None if np.isnan(row[0]) else Verdict(*map(float, row)) for row in shares)
            vectors: Vectors = file["vectors"]
            return EvidenceReading(file["relevance"], verdicts, vectors, file["hypothesis"])
    except (OSError, ValueError, KeyError, EOFError, BadZipFile):
        return None
