"""Building and updating an index wherever it is: in a folder or on a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from indexes import build as embedded
from indexes import update as updating
from indexes.cluster.building import build_on_cluster, choose_name, merge_segments, update_on_cluster
from indexes.guard import report_interrupt
from indexes.readers import Columns
from indexes.report import BuildReport
from retrieval.cluster.address import is_address, read_address
from retrieval.cluster.faults import translate_faults
from retrieval.cluster.state import read_state


def build_at(
    paths: Sequence[Path],
    out: Path,
    format: str = "auto",
    skip_bad: int = 0,
    overwrite: bool = False,
    columns: Columns | None = None,
    description: str = "",
) -> BuildReport:
    """Build an index of every document in `paths` in the folder or at the address `out` (`indexes.build.build`)."""
    if not is_address(out):
        return embedded.build(paths, out, format, skip_bad, overwrite, alone=True, columns=columns, description=description)
    with report_interrupt("the index", "what was read so far is saved, and the same command resumes from there"):
        address, files = read_address(out), embedded.detect_formats(paths, format, columns)
        return build_on_cluster(address, files, skip_bad, overwrite, columns, description)


def update_at(
    index: Path, paths: Sequence[Path], format: str = "auto", skip_bad: int = 0, columns: Columns | None = None
) -> BuildReport:
    """Update the index in a folder or at an address (`indexes.update.update`)."""
    if not is_address(index):
        return updating.update(index, paths, format, skip_bad, alone=True, columns=columns)
    with report_interrupt("the update", "the same command resumes from there"):
        return update_on_cluster(read_address(index), embedded.detect_formats(paths, format, columns), skip_bad, columns)


def merge_at(index: Path) -> None:
    """Merge the index in a folder or at an address, so that replaced and deleted documents no longer count in statistics."""
    if is_address(index):
        address = read_address(index)
        merge_segments(address, read_state(address).name)
    else:
        updating.merge(index)


def check_target(out: Path, overwrite: bool) -> None:
    """Raise `BadInput`, as `build_at` would, if no index can be built at `out`."""
    if not is_address(out):
        embedded.check_target(out, overwrite)
        return
    address = read_address(out)
    with translate_faults(address):
        choose_name(address, overwrite)
