"""A report of an evaluation: tables and sentences as text and as Markdown, and all that was measured as JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic_core import to_json

from counterpoint.eval.measures.figures import Difference, Figure

NOTHING = "–"
"""Shown where there is nothing to measure, or no figure is given."""
_ACTIVE = re.compile(r"([\\`*_\[\]<>|~&$])")
"""What Markdown would not show as it is."""


@dataclass(frozen=True, slots=True)
class Measure:
    """What a figure is: its key in the JSON, a short title, and how it is defined."""

    key: str
    title: str
    definition: str


@dataclass(frozen=True, slots=True)
class Table:
    """A title, the titles of the columns, of which the first stands over the rows' names, and the rows."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]

    def text(self) -> str:
        """Columns as wide as their cells, names to the left and figures to the right."""
        lines = [self.header, *self.rows]
        widths = [max(len(line[place]) for line in lines) for place in range(len(self.header))]
        shown = ("  ".join([f"{one[0]:<{widths[0]}}", *map(str.rjust, one[1:], widths[1:])]) for one in lines)
        return "\n".join(filter(None, [self.title, *(line.rstrip() for line in shown)]))

    def markdown(self) -> str:
        """The same in Markdown."""
        head, *rows = ([_escape(cell) for cell in line] for line in (self.header, *self.rows))
        lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
        title = [f"## {_escape(self.title)}", ""] if self.title else []
        return "\n".join([*title, *(f"| {' | '.join(line)} |" for line in lines)])


@dataclass(frozen=True, slots=True)
class Report:
    """Tables and sentences in their order, the data of the JSON, definitions of the measures, and what it was made with."""

    title: str
    blocks: Sequence[Table | str]
    data: Mapping[str, Any]
    measures: Sequence[Measure] = ()
    made_with: Mapping[str, Any] = field(default_factory=dict)

    def text(self) -> str:
        """The report for a terminal."""
        parts = [self.title]
        for block in self.blocks:
            parts += ["", block.text(), ""] if isinstance(block, Table) else [block]
        return re.sub(r"\n{3,}", "\n\n", "\n".join(parts)).strip()

    def markdown(self) -> str:
        """The report as Markdown, with the definition of every measure."""
        parts = [f"# {_escape(self.title)}"]
        parts += [block.markdown() if isinstance(block, Table) else _escape(block) for block in self.blocks]
        if self.measures:
            parts += ["## Measures", "\n".join(f"* **{_escape(one.title)}**: {_escape(one.definition)}" for one in self.measures)]
        if self.made_with:
            facts = "\n".join(f"* {name}: {_escape(_write_fact(value))}" for name, value in self.made_with.items())
            parts += ["## Made with", facts]
        return "\n\n".join(parts) + "\n"

    def json(self) -> str:
        """All that was measured."""
        return to_json({**self.data, "made_with": self.made_with}, indent=2).decode() + "\n"


def show(figure: Figure | None, form: str = ".3f", sure: bool = False) -> str:
    """A figure with its interval, in a format such as ".1%"; with a star where it is `sure` to differ."""
    if figure is None or figure.value is None or figure.low is None or figure.high is None:
        return NOTHING
    return f"{figure.value:{form}}{'*' if sure else ''} ({figure.low:{form}} to {figure.high:{form}})"


def make_table(figures: Mapping[str, Figure], form: str = ".3f") -> Table:
    """Figures with their intervals, one in each row."""
    return Table("", ["measure", "value and 95 % interval"], [[name, show(one, form)] for name, one in figures.items()])


def show_difference(one: Difference, form: str = "+.3f") -> str:
    """A difference with its interval and the p-value of no difference."""
    if one.value is None or one.low is None or one.high is None:
        return NOTHING
    return f"{one.value:{form}} ({one.low:{form}} to {one.high:{form}}, p {one.p:.3f})"


def _write_fact(value: Any) -> str:
    """A value, or the words of a mapping, such as the models by their roles."""
    if isinstance(value, Mapping):
        return "; ".join(f"{name} {word}" for name, word in value.items() if isinstance(word, str))
    return str(value)


def _escape(text: str) -> str:
    return _ACTIVE.sub(r"\\\1", " ".join(text.split()))
