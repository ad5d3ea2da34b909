"""The quality of rankings, by ir_measures, with bootstrap intervals over the queries and paired differences."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass

from eval.measures.formulas import Tally, share
from eval.measures.report_data import Difference, Figure
from eval.measures.resampling import Resampler
from eval.retrieval.collection import Qrels

Run = Mapping[str, Sequence[str]]
"""For each query, the documents found, best first."""


@dataclass(frozen=True, slots=True)
class RankingRow:
    """A method: each measure's mean over the queries with its 95 % interval, and its difference from the first row's."""

    method: str
    figures: Mapping[str, Figure]
    differences: Mapping[str, Difference]


@dataclass(frozen=True, slots=True)
class RankingReport:
    """The measurements, the number of queries, and the provenance."""

    title: str
    queries: int
    command: str
    rows: tuple[RankingRow, ...]


def by_query(qrels: Qrels, run: Run, measures: Sequence[str]) -> dict[str, list[float]]:
    """Each measure for each query of `qrels`, in its order; 0 for a query without hits.

    Measures are named as ir_measures does (nDCG@10, R@100, RR); trec_eval computes them.
    """
    import ir_measures  # of the extra `lab`; the measures on SciFact need this module but not this function

    # Scores that decrease with rank encode the order, so that ties are never reordered.
    scores = {query: {one: float(-rank) for rank, one in enumerate(run.get(query, ()))} for query in qrels}
    scores = {query: ranks for query, ranks in scores.items() if ranks}
    metrics = [ir_measures.parse_measure(name) for name in measures]
    judgements = {query: dict(grades) for query, grades in qrels.items()}
    values: dict[str, dict[str, float]] = {str(one): {} for one in metrics}
    for one in ir_measures.iter_calc(metrics, judgements, scores) if scores else ():
        values[str(one.measure)][one.query_id] = float(one.value)
    return {name: [values[str(one)].get(query, 0.0) for query in qrels] for name, one in zip(measures, metrics, strict=True)}


def make_report(title: str, qrels: Qrels, runs: Mapping[str, Run], measures: Sequence[str], command: str) -> RankingReport:
    """Measure every run; bootstrap samples are over queries and the same for all runs."""
    resampler = Resampler(len(qrels))
    rows: list[RankingRow] = []
    first: dict[str, Tally] = {}
    for method, run in runs.items():
        values = by_query(qrels, run, measures)
        tallies = {name: Tally.of([(value, 1.0) for value in values[name]], share) for name in measures}
        first = first or tallies
        figures = {name: resampler.figure(tallies[name]) for name in measures}
        differences = {name: resampler.difference(tallies[name], first[name]) for name in measures} if rows else {}
        rows.append(RankingRow(method, figures, differences))
    return RankingReport(title, len(qrels), command, tuple(rows))


def table(report: RankingReport) -> list[str]:
    """The report as lines for a terminal."""
    measures = list(report.rows[0].figures)
    wide = max(len(row.method) for row in report.rows) + 2
    lines = [f"{report.title}, {report.queries:,} queries; mean and 95 % bootstrap interval"]
    lines.append(" " * wide + "".join(f"{name:>22}" for name in measures))
    for row in report.rows:
        lines.append(f"{row.method:<{wide}}" + "".join(f"{_format_figure(row.figures[name]):>22}" for name in measures))
    for row in report.rows[1:]:
        differences = ", ".join(f"{name} {_difference(row.differences[name])}" for name in measures)
        lines.append(f"{row.method} less {report.rows[0].method}: {differences}")
    return lines


def report_json(report: object) -> str:
    """A report, or a list of them, whole."""
    if isinstance(report, list | tuple):
        return json.dumps([asdict(one) for one in report], indent=2) + "\n"
    assert is_dataclass(report) and not isinstance(report, type)
    return json.dumps(asdict(report), indent=2) + "\n"


def _format_figure(figure: Figure) -> str:
    return f"{figure.value or 0:.4f} {figure.low or 0:.3f}–{figure.high or 0:.3f}"


def _difference(one: Difference) -> str:
    return f"{one.value or 0:+.4f} ({one.low or 0:+.4f} to {one.high or 0:+.4f}, p {one.p or 0:.3f})"
