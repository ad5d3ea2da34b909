"""A report as short tables for a terminal; the JSON has the whole of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from eval.measures.report_data import Figure, Report, VariantReport

_MRR = ("support", "contradict", "weighted")
_MAIN = {
    "F1@3 support": "pairs.support.f1",
    "F1@3 contradict": "pairs.contradict.f1",
    "SciFact label": "scifact.abstract_label_only_f1",
    "label+rationale": "scifact.abstract_rationalized_f1",
    "MRR@3 right": "mrr.stance_correct.weighted",
    "silent, rightly": "silence.without_evidence",
}
_WIDTH = 21


def report_lines(report: Report) -> list[str]:
    """The main figures of every variant, the paper's measure beside the paper's figures, and where contradictions were lost."""
    claims = report.claims
    return [
        f"{claims.all} claims: {claims.with_support} with supporting and {claims.with_contradict} with contradicting evidence, "
        f"{claims.without_evidence} with none. 95 % intervals by a bootstrap over claims"
        + (f"; * differs from {report.baseline}'s at p < 0.05." if report.baseline else "."),
        "",
        _row("what is returned", list(_MAIN)),
        *(_row(one.name, [_cell(one, key) for key in _MAIN.values()]) for one in report.variants),
        "",
        "The paper's measure, the rank of the first gold document, ignores stance: compare plain BM25.",
        _row("MRR, whole rankings", list(_MRR)),
        *_blind(report.blind),
        *(_row(one.name, [_cell(one, f"mrr.whole.{stance}") for stance in _MRR]) for one in report.variants),
        *(_row(name, [_three(row.get(stance)) for stance in _MRR]) for name, row in _papers(report).items()),
        "",
        f"Where the {claims.contradict_pairs} contradicting documents went",
        *(_row(one.name, [_fates(one)]) for one in report.variants),
    ]


def _row(name: str, cells: Sequence[str]) -> str:
    return f"{name:<34}" + "".join(f"{cell:<{_WIDTH}}" for cell in cells).rstrip()


def _cell(variant: VariantReport, key: str) -> str:
    difference = variant.against_baseline.get(key)
    sure = difference is not None and difference.p is not None and difference.p < 0.05
    return interval(variant.figures[key]) + ("*" if sure else "")


def interval(figure: Figure) -> str:
    """A figure with its interval, or "-" where there is nothing to measure."""
    if figure.value is None or figure.low is None or figure.high is None:
        return "-"
    return f"{figure.value:.3f} ({figure.low:.3f}-{figure.high:.3f})"


def _three(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _blind(blind: Mapping[str, Figure]) -> list[str]:
    return [_row("plain BM25, no stance judged", [interval(blind[f"mrr.whole.{stance}"]) for stance in _MRR])]


def _papers(report: Report) -> Mapping[str, Mapping[str, float]]:
    return {**report.published["table_1"], **report.published["appendix_a"]}


def _fates(variant: VariantReport) -> str:
    fates = variant.sides["contradict"].fates
    return ", ".join(f"{count} {fate.replace('_', ' ')}" for fate, count in fates.items() if count)
