"""How far judges agree with the labels and with each other: accuracy, macro-F1 and Cohen's kappa, with bootstrap intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eval.judges.opinions import MISQUOTED, UNANSWERED, JudgedPair
from eval.measures.formulas import Floats, Tally, kappa
from eval.measures.report_data import Figure
from eval.measures.resampling import Resampler
from retrieval.core.values import LABELS, Label

_COUNT = len(LABELS)
By = Callable[[JudgedPair], Label]
JUDGES: dict[str, By] = {
    "stance model": lambda one: one.small,
    "language model alone": lambda one: one.alone,
    "stance model, then language model": lambda one: one.behind,
}


@dataclass(frozen=True, slots=True)
class JudgeFigures:
    """A judge against the labels."""

    judge: str
    accuracy: Figure
    macro_f1: Figure
    kappa: Figure


@dataclass(frozen=True, slots=True)
class JudgesReport:
    """All judges on the same pairs, the agreement of the two models, and what was asked of the language model."""

    command: str
    models: tuple[str, str]
    pairs: int
    rows: tuple[JudgeFigures, ...]
    kappa_between: Figure
    undecided: int
    unanswered: int
    misquoted: int


def make_report(opinions: Sequence[JudgedPair], command: str, models: tuple[str, str]) -> JudgesReport:
    """Make the report; bootstrap samples are over pairs and the same for every figure."""
    resampler = Resampler(len(opinions))

    def figure(one: By, other: By, formula: Callable[[Floats], Floats]) -> Figure:
        return resampler.figure(Tally.of([_count(one(pair), other(pair)) for pair in opinions], formula))

    rows = tuple(
        JudgeFigures(name, *(figure(_true, by, formula) for formula in (accuracy, macro_f1, kappa)))
        for name, by in JUDGES.items()
    )
    faults = [one.fault for one in opinions]
    return JudgesReport(
        command, models, len(opinions), rows, figure(JUDGES["stance model"], JUDGES["language model alone"], kappa),
        sum(one.undecided for one in opinions), faults.count(UNANSWERED), faults.count(MISQUOTED),
    )  # fmt: skip


def _true(one: JudgedPair) -> Label:
    return one.true


def _count(row: Label, column: Label) -> list[float]:
    """A flattened table of labels by labels, with a single 1."""
    cells = [0.0] * _COUNT**2
    cells[LABELS.index(row) * _COUNT + LABELS.index(column)] = 1.0
    return cells


def _square(sums: Floats) -> Floats:
    return sums.reshape(*sums.shape[:-1], _COUNT, _COUNT)


def accuracy(sums: Floats) -> Floats:
    """The share of pairs on the diagonal, of [..., labels²] (true by judged)."""
    table = _square(sums)
    score: Floats = np.trace(table, axis1=-2, axis2=-1) / table.sum(axis=(-2, -1))
    return score


def macro_f1(sums: Floats) -> Floats:
    """The mean F1 of the labels that occur on either side, of [..., labels²]."""
    table = _square(sums)
    right, both = np.diagonal(table, axis1=-2, axis2=-1), table.sum(axis=-1) + table.sum(axis=-2)
    each = np.divide(2 * right, both, out=np.zeros_like(both), where=both > 0)
    score: Floats = each.sum(axis=-1) / (both > 0).sum(axis=-1)
    return score


def lines(report: JudgesReport) -> list[str]:
    """The report for a terminal."""
    titles = ("accuracy", "macro-F1", "kappa with the labels")
    rows = [f"{f'{report.pairs} pairs':<36}" + "".join(f"{title:>26}" for title in titles)]
    for row in report.rows:
        cells = (_percent(row.accuracy), _percent(row.macro_f1), _plain(row.kappa))
        rows.append(f"{row.judge:<36}" + "".join(f"{cell:>26}" for cell in cells))
    small, large = report.models
    return [
        *rows,
        f"Kappa between {small} and {large}: {_plain(report.kappa_between)}.",
        f"{report.undecided} of {report.pairs} pairs are left undecided by the stance model; the language model gave no usable "
        f"answer to {report.unanswered + report.misquoted} of all ({report.misquoted} quoted what is not in the sentence).",
        "In brackets: 95 % intervals by a bootstrap over pairs.",
    ]


def _percent(figure: Figure) -> str:
    return _write(figure, lambda value: f"{100 * value:.1f}")


def _plain(figure: Figure) -> str:
    return _write(figure, lambda value: f"{value:.2f}")


def _write(figure: Figure, form: Callable[[Any], str]) -> str:
    if figure.value is None:
        return "-"
    return f"{form(figure.value)} ({form(figure.low)} to {form(figure.high)})"
