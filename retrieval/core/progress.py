"""Progress of long work: a bar on a terminal, or lines for the process that started this one and reads its standard error."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from tqdm import tqdm

FOR_PROCESS = "COUNTERPOINT_PROGRESS"
"""The environment variable that asks for lines."""
_MARK = "\x02"
"""No text has this character."""


class Progress(NamedTuple):
    """How far a piece of work is; `total` is 0 where nobody knows it."""

    what: str
    done: int
    total: int
    unit: str


def make_bar(what: str, unit: str, total: int | None = None, done: int = 0) -> tqdm[Any]:
    """A bar for work on `total` units, of which some are done; it shows nothing where standard error is neither."""
    options: dict[str, Any] = {"desc": what, "unit": f" {unit}", "total": total, "initial": done, "mininterval": 0.5}
    if os.environ.get(FOR_PROCESS):
        return tqdm(**options, disable=False, bar_format=_MARK.join(("", "{desc}", "{n}", "{total}", "{unit}")))
    return tqdm(**options, disable=None)


def read_progress(line: str) -> Progress | None:
    """What a bar said in a line; None for any other line."""
    parts = line.split(_MARK)
    if len(parts) != 5:
        return None
    done, total = (int(float(part)) if part.replace(".", "", 1).isdigit() else 0 for part in parts[2:4])
    return Progress(parts[1].removesuffix(": "), done, total, parts[4].strip())
