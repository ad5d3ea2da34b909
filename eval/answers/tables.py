"""The report on answers as tables, for the terminal and as Markdown: one row per run, published figures beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from eval.answers.report import AnswersReport, AnswersRunReport
from eval.measures.report_data import Figure, Measure

_SHARES = ("answered", "coverage", "coverage_supported", "support", "contradict", "verbatim", "narrative", "drafted_coverage")
"""Shown in per cent; a judge's prefix may precede a key."""


@dataclass(frozen=True, slots=True)
class AnswersTable:
    """Rows of cells below column titles; the first cell of a row names it."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def tables(report: AnswersReport) -> tuple[AnswersTable, AnswersTable]:
    """The form of the answers, and whether their citations support them."""
    return (
        _table("Properties of the answers", report.form, report, report.published["table_2"]),
        _table("Citation support", report.content, report, report.published["official"]),
    )


def lines(report: AnswersReport) -> list[str]:
    """The tables for a terminal."""
    blocks: list[str] = []
    for table in tables(report):
        widths = [max(len(row[i]) for row in (table.header, *table.rows)) for i in range(len(table.header))]
        blocks += [table.title, *(_align(row, widths) for row in (table.header, *table.rows)), ""]
    return blocks + _notes(report)


def markdown(report: AnswersReport) -> str:
    """The same as Markdown, with the definition of every measure."""
    blocks = ["# Evaluation of answers"]
    for table in tables(report):
        rule = ["---"] * len(table.header)
        blocks += [f"## {table.title}", "\n".join(_join_cells(row) for row in (table.header, rule, *table.rows))]
    blocks += ["\n".join(f"* {note}" for note in _notes(report))]
    blocks += ["## Measures", "\n".join(f"* **{one.title}**: {one.definition}" for one in (*report.form, *report.content))]
    provenance = ", ".join(f"{key} {value}" for key, value in report.provenance.items() if isinstance(value, str | int))
    return "\n\n".join([*blocks, f"Made with {provenance}; judges {', '.join(one.model for one in report.judges)}."]) + "\n"


def _table(
    title: str, measures: Sequence[Measure], report: AnswersReport, references: Mapping[str, Mapping[str, float]]
) -> AnswersTable:
    keys = [one.key for one in measures]
    rows = [(run.name, *(_cell(key, run.figures[key]) for key in keys)) for run in report.runs]
    rows += [(name, *(_value(key, figures.get(key)) for key in keys)) for name, figures in references.items()]
    return AnswersTable(title, ("run", *(one.title for one in measures)), tuple(rows))


def _notes(report: AnswersReport) -> list[str]:
    notes = [_counts(run) for run in report.runs]
    judges = "; ".join(f"{one.title.strip(': ') or 'judge'}: {one.model}" for one in report.judges)
    if "llm_requests" in report.provenance:
        notes.append(
            f"The language model answered {report.provenance['llm_requests']:,} times; the small model's verdict stands "
            "for the rest."
        )
    return [
        *notes,
        f"In brackets: 95 % intervals by a bootstrap over topics. Averages cover only the answered topics. {judges}.",
        "Published rows were measured by others, on other topics and with other judges: compare only their order of magnitude.",
    ]


def _counts(run: AnswersRunReport) -> str:
    sentence = f"{run.name}: {run.answered} of {run.topics} topics answered, {len(run.declined)} declined"
    if run.missing:
        sentence += f", {len(run.missing)} missing from the run"
    sentence += f"; {run.citations} citations"
    return sentence + (f", {run.unjudged} of them to documents without an abstract in the index." if run.unjudged else ".")


def _cell(key: str, figure: Figure) -> str:
    if figure.value is None or figure.low is None or figure.high is None:
        return "-"
    return f"{_value(key, figure.value)} ({_value(key, figure.low)}-{_value(key, figure.high)})"


def _value(key: str, value: float | None) -> str:
    if value is None:
        return "-"
    if key.split(".")[-1] in _SHARES:
        return f"{100 * value:.1f}"
    return f"{value:.0f}" if key == "words" else f"{value:.2f}"


def _align(row: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _join_cells(row: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"
