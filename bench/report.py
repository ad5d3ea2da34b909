"""What the benchmark writes: a JSON file for each finished part, one file with all of them, and the table of a Markdown page.

No number of the table is typed by hand: it stands between two markers and is replaced as a whole.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from retrieval.core.errors import BadInput
from retrieval.store.manifest import write_atomically

BEGIN, END = "<!-- bench: written by `python -m bench`, not by hand -->", "<!-- bench: end -->"
"""The lines of a page between which the table stands."""
ALL = "results.json"


@dataclass(frozen=True)
class BenchRow:
    """A line of the table: the figures of theirs and of ours, the result, the bar, and whether it is met."""

    measure: str
    theirs: str
    ours: str
    figure: str
    bar: str = ""
    met: bool | None = None


def ratio_row(measure: str, theirs: Sequence[float], ours: Sequence[float], unit: str, bar: float | None = None) -> BenchRow:
    """Ratio of medians: theirs over ours where `unit` is "s" (less is better), else ours over theirs; `bar` is the minimum."""
    their, our = statistics.median(theirs), statistics.median(ours)
    ratio = their / our if unit == "s" else our / their
    minimum = f"{bar:g} ×" if bar else ""
    return BenchRow(measure, amount(their, unit), amount(our, unit), f"{ratio:,.3g} ×", minimum, ratio >= bar if bar else None)


def amount(value: float, unit: str) -> str:
    """A figure to three significant digits, with its unit."""
    return f"{value:,.0f} {unit}" if abs(value) >= 100 else f"{value:.3g} {unit}"


def read(folder: Path, part: str) -> dict[str, Any] | None:
    """The kept result of a part; None where there is nothing usable."""
    try:
        record = json.loads((folder / f"{part}.json").read_text("utf-8"))
        return record if isinstance(record, dict) and isinstance(record.get("facts"), dict) else None
    except (OSError, ValueError):
        return None


def find_kept(folder: Path, part: str, facts: Mapping[str, Any]) -> dict[str, Any] | None:
    """A part's result from an earlier run, if it was measured on the same things; else None."""
    record = read(folder, part)
    return record if record and record["facts"] == facts else None


def keep(folder: Path, part: str, record: Mapping[str, Any]) -> None:
    """Write a part's result; a part that is stopped leaves what was there."""
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / f"{part}.json", json.dumps(record, indent=1) + "\n")


def table(rows: Sequence[BenchRow]) -> str:
    """The rows as a Markdown table."""
    lines = ["| measure | plain, or theirs | ours | figure | bar | met |", "|---|---|---|---|---|---|"]
    answers = {True: "yes", False: "no", None: ""}
    lines += [f"| {row.measure} | {row.theirs} | {row.ours} | {row.figure} | {row.bar} | {answers[row.met]} |" for row in rows]
    return "\n".join(lines)


def page(records: Mapping[str, Mapping[str, Any]], rows: Sequence[BenchRow]) -> str:
    """The table, and below it the code, data and machine of each part."""
    lines = [table(rows), ""]
    for part, record in records.items():
        facts, machine = record["facts"], record["machine"]
        settings = ", ".join(f"{name} {value}" for name, value in facts["options"].items())
        lines.append(
            f"* `{part}`: {record['when']}, commit {facts['commit']}, {facts['documents']:,} documents, {settings}; "
            f"{machine['processor']}, {machine['cores']} cores, load {machine['load_before']:.1f} before, "
            f"{record['seconds']:,.0f} s."
        )
    return "\n".join(lines)


def split_page(path: Path) -> tuple[str, str]:
    """The text of a page before and after the markers; raises `BadInput` if it has none."""
    try:
        whole = path.read_text("utf-8")
    except OSError as error:
        raise BadInput(
            f"The table cannot be written to {path} ({error.strerror}); name a Markdown file that is there."
        ) from error
    head, begin, rest = whole.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not (begin and end):
        raise BadInput(f"{path} lacks the lines {BEGIN} and {END}, between which the table is written; add them.")
    return head, tail


def write_into_page(path: Path, text: str) -> None:
    """Replace the text between the markers of a page; raises `BadInput` if it has none."""
    head, tail = split_page(path)
    write_atomically(path, f"{head}{BEGIN}\n\n{text}\n\n{END}{tail}")
