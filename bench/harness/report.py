"""What the benchmark writes: a JSON file for each finished part, one file with all of them, and the table of a Markdown page.

No number of the table is typed by hand: it stands between two markers and is replaced as a whole.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.harness.between import Markers
from bench.harness.setting import BenchRow
from retrieval.store.manifest import write_atomically

TABLE = Markers("<!-- bench: written by `python -m bench`, not by hand -->", "<!-- bench: end -->")
ALL = "results.json"


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
