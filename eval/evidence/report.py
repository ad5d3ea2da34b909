"""The EvidenceBench table: aspect recall of each method in each task, with bootstrap errors, and the gain from set selection."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from eval.evidence.evidencebench import EvidenceCase, Task
from eval.evidence.methods import SET, TOP, EvidenceMethod
from eval.measures.formulas import Floats, Tally
from eval.measures.report_data import Difference
from eval.measures.resampling import RESAMPLES, SEED, Resampler
from nli.evidence import EvidenceReading


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


def _mean(sums: Floats) -> Floats:
    mean: Floats = sums[..., 0] / sums[..., 1]
    return mean


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
            tallies[method.name] = Tally.of([(100 * value, 1.0) for value in each.values()], _mean)
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


def table(report: EvidenceReport) -> list[str]:
    """The report as lines for a terminal."""
    tasks = list(dict.fromkeys(row.task for row in report.rows))
    names = list(dict.fromkeys(row.method for row in report.rows))
    cells = {(row.method, row.task): row for row in report.rows}
    counts = {row.task: row.papers for row in report.rows}
    lines = [f"{'aspect recall, percent ± standard error':<44}" + "".join(f"{task:>20}" for task in tasks)]
    lines.append(f"{'papers':<44}" + "".join(f"{counts[task]:>20}" for task in tasks))
    for name in names:
        series = [cells[name, task] for task in tasks]
        lines.append(f"{series[0].title:<44}" + "".join(f"{f'{row.value:.1f} ± {row.error:.1f}':>20}" for row in series))
    for gain in report.gains:
        one = gain.difference
        if one.value is not None and one.low is not None and one.high is not None:
            lines.append(
                f"Set selection in {gain.task}: {one.value:+.1f} points over the top k by the same scores "
                f"(95 % interval {one.low:+.1f} to {one.high:+.1f}, p {one.p:.2f})."
            )
    return lines


def report_json(report: EvidenceReport) -> str:
    """The whole report, each paper's figures included."""
    return json.dumps(asdict(report), indent=2) + "\n"
