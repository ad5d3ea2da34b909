"""Precision against recall in numbers: the plot of a stance, at steps of recall."""

from __future__ import annotations

from collections.abc import Sequence

from eval.measures.formulas import Point
from eval.measures.report_data import Report
from eval.page.blocks import Body, Cell, Table, TableRow
from eval.page.tables import PLURAL
from eval.page.wording import NOTHING, three
from retrieval.core.values import Stance

STEPS = tuple(step / 10 for step in range(1, 10))


def curves(report: Report, stance: Stance) -> Table:
    """The best precision at each step of recall, and the precision and recall of all that is returned."""
    rows = []
    for one in report.variants:
        points = one.sides[stance].precision_recall
        end = points[-1] if points else None
        whole = (three(end.precision), three(end.recall), f"{end.returned:,}") if end else (NOTHING, NOTHING, "0")
        rows.append(
            TableRow(one.name, tuple(Cell(text) for text in (*(three(at_recall(points, step)) for step in STEPS), *whole)))
        )
    return Table(
        caption=f"Precision of {PLURAL[stance]} at a recall of at least …, and of all that is returned",
        corner="variant",
        groups=(("precision at recall", len(STEPS)), ("all that is returned", 3)),
        columns=(*(f"{step:.1f}" for step in STEPS), "precision", "recall", "documents"),
        bodies=(Body(tuple(rows)),),
    )


def at_recall(points: Sequence[Point], recall: float) -> float | None:
    """Interpolated precision (Manning, Raghavan and Schütze 2008, section 8.4): the best at this recall or a higher one."""
    return max((one.precision for one in points if one.recall >= recall), default=None)


def in_words(report: Report, stance: Stance) -> str:
    """A description of the plot for those who cannot see it."""
    descriptions = []
    for one in report.variants:
        points = one.sides[stance].precision_recall
        if not points:
            descriptions.append(f"{one.name} returns nothing")
            continue
        first, last = points[0], points[-1]
        descriptions.append(
            f"{one.name}: from precision {first.precision:.2f} at recall {first.recall:.2f} for its highest score "
            f"to precision {last.precision:.2f} at recall {last.recall:.2f} for all {last.returned:,} that it returns"
        )
    return f"Precision against recall of {PLURAL[stance]}, a panel for each variant. " + "; ".join(descriptions) + "."
