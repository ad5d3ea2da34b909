"""`counterpoint index follow`: new update files applied as they come, to an embedded index or one on a cluster."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from indexes.cluster.places import update_at
from indexes.follow import check_whole, find_new_files
from indexes.report import BuildReport
from retrieval.cluster.faults import ClusterBusy
from retrieval.core.errors import BadInput, Unfinished
from retrieval.index import read_index_manifest

Tell = Callable[[str], None]
_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def read_interval(text: str) -> float:
    """The seconds that "30s", "10m", "1h" or "1d" stands for; raises `BadInput` for anything else."""
    number, unit = text[:-1], text[-1:]
    try:
        seconds = float(number) * _UNITS[unit]
    except (KeyError, ValueError):
        raise BadInput(f"--every {text!r} should be a number and a unit: 30s, 10m, 1h or 1d.") from None
    if not 1 <= seconds <= 30 * _UNITS["d"]:
        raise BadInput(f"--every {text!r} should be between 1s and 30d.")
    return seconds


def follow(
    index: Path,
    source: Path,
    every: float,
    tell: Tell,
    skip_bad: int = 0,
    once: bool = False,
    after: Callable[[], object] = lambda: None,
) -> int:
    """Apply the new files in a folder, then look again every `every` seconds; with `once`, stop after the first look.

    `after` is called after each look, whether or not there was something new: what an earlier run left undone is done then.
    Returns how many files were applied. A damaged or out-of-order file ends it with the reason (`BadInput`); if a cluster does
    not answer, it waits.
    """
    count = 0
    while True:
        try:
            count += apply_new(index, source, tell, skip_bad)
            after()
        except (ClusterBusy, Unfinished) as error:
            if once:
                raise
            tell(f"{error} Looking again in {every:.0f} s.")
        if once:
            return count
        time.sleep(every)


def apply_new(index: Path, source: Path, tell: Tell, skip_bad: int = 0) -> int:
    """Apply every new file in order, one update each, so that each is in the manifest once it is in the index."""
    count = 0
    for file in find_new_files(source, read_index_manifest(index).sources):
        check_whole(file)
        tell(f"{file.path.name}: {describe(update_at(index, [file.path], skip_bad=skip_bad))}.")
        count += 1
    return count


def describe(report: BuildReport) -> str:
    """What an update changed, and what the index holds now."""
    return f"{report.changes}; version {report.manifest.version}, {report.manifest.counts.documents:,} documents"
