"""Figures as text, formatted the same everywhere."""

from __future__ import annotations

from collections.abc import Mapping

from eval.measures.report_data import Difference, Figure, VariantReport
from eval.page.blocks import Cell

NOTHING = "–"
"""Shown where there is nothing to measure, or no figure is given."""
SURE = 0.05


def three(value: float | None) -> str:
    """A figure to three decimal places."""
    return NOTHING if value is None else f"{value:.3f}"


def interval(figure: Figure) -> str:
    """The ends of its interval."""
    return "" if figure.low is None or figure.high is None else f"{figure.low:.3f} to {figure.high:.3f}"


def in_words(figure: Figure | None) -> str:
    """A figure with its interval, within a sentence."""
    if figure is None or figure.value is None:
        return NOTHING
    ends = interval(figure)
    return f"{three(figure.value)} ({ends})" if ends else three(figure.value)


def format_difference(value: float) -> str:
    """A signed difference; one that rounds to zero has no sign."""
    text = f"{abs(value):.3f}"
    if text == "0.000":
        return text
    return f"{'+' if value > 0 else '−'}{text}"


def probability(p: float) -> str:
    """A p-value to the precision that ten thousand samples allow."""
    return "p < 0.001" if p < 0.001 else f"p {p:.3f}"


def plain(figures: Mapping[str, Figure], key: str) -> Cell:
    """A figure and its interval."""
    figure = figures.get(key)
    if figure is None or figure.value is None:
        return Cell(NOTHING)
    return Cell(three(figure.value), tuple(filter(None, [interval(figure)])))


def make_compared_cell(variant: VariantReport, key: str) -> Cell:
    """A figure, its interval, and how far it is from the baseline's."""
    cell = plain(variant.figures, key)
    difference = variant.against_baseline.get(key)
    if difference is None or difference.value is None or difference.p is None:
        return cell
    return Cell(
        cell.text, (*cell.details, f"{format_difference(difference.value)}, {probability(difference.p)}"), is_sure(difference)
    )


def is_sure(difference: Difference) -> bool:
    """Whether a difference is significant."""
    return difference.p is not None and difference.p < SURE


def pluralise(count: int, one: str, more: str) -> str:
    """A count with its noun."""
    return f"{count:,} {one if count == 1 else more}"


def join_words(words: list[str]) -> str:
    """Words as a list in a sentence."""
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]])) if words else ""
