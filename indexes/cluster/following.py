"""`counterpoint index follow`: new update files applied as they come, to an embedded index or one on a cluster.

Update files must be applied in the order of their numbers, once each. An index's manifest names the files that went into it, so
whatever dies in between, the next check finds what is left.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from indexes.cluster.places import update_at
from indexes.reading import BuildReport
from retrieval.cluster.client import ClusterBusy
from retrieval.core.errors import BadInput, Unfinished
from retrieval.index import read_index_manifest
from retrieval.store.manifest import IndexSource

_NAME = re.compile(r"(?P<set>pubmed\d{2})n(?P<number>\d{4,})\.xml(\.gz)?")
_MD5 = re.compile(r"\b[0-9a-fA-F]{32}\b")


@dataclass(frozen=True, slots=True, order=True)
class UpdateFile:
    """A PubMed file: its yearly set, its number in that set, and its path."""

    set: str
    number: int
    path: Path


class OutOfOrder(BadInput):
    """A file should have come before those already applied, or one is missing between them."""


def find_new_files(source: Path, sources: Sequence[IndexSource]) -> list[UpdateFile]:
    """The files in a folder that are not in an index yet, in the order of their numbers.

    Raises `BadInput` if the folder cannot be read, `OutOfOrder` if a number is missing or came too late.
    """
    if not source.is_dir():
        raise BadInput(f"{source} is not a folder; name a folder or a mirror of PubMed's update files.")
    old_files = {file.path.name: file for source_read in sources if (file := read_name(Path(source_read.path)))}
    files = sorted(file for path in source.iterdir() if (file := read_name(path)))
    new = [file for file in files if file.path.name not in old_files]
    last: dict[str, int] = {}
    for file in old_files.values():
        last[file.set] = max(last.get(file.set, 0), file.number)
    for file in new:
        _check_order(file, last, source)
        last[file.set] = file.number
    return new


def read_name(path: Path) -> UpdateFile | None:
    """What a file's name says about it; None if it is not named as PubMed names its files."""
    match = _NAME.fullmatch(path.name)
    return UpdateFile(match["set"], int(match["number"]), path) if match else None


def check_whole(file: UpdateFile) -> None:
    """Compare a file with the .md5 beside it.

    Raises `Unfinished` if there is no .md5 yet (the file may still be arriving), `BadInput` if the two differ.
    """
    beside = file.path.with_name(f"{file.path.name}.md5")
    try:
        match = _MD5.search(beside.read_text("utf-8", errors="replace"))
    except FileNotFoundError:
        raise Unfinished(f"{file.path} has no checksum beside it ({beside.name}); it is applied once that is there.") from None
    except OSError as error:
        raise BadInput(f"{beside} cannot be read ({error.strerror}); fetch it again.") from None
    if not match:
        raise BadInput(f"{beside} contains no MD5 checksum (32 hexadecimal digits); fetch it again.")
    digest = _hash(file.path)
    if digest != match[0].lower():
        raise BadInput(f"{file.path} is damaged: its MD5 is {digest} and should be {match[0].lower()}; fetch it again.")


def _check_order(file: UpdateFile, last: dict[str, int], source: Path) -> None:
    if not last:
        return
    if file.set not in last:
        raise OutOfOrder(
            f"{file.path.name} in {source} is of another year than the index's files ({', '.join(sorted(last))}); build "
            "that year's baseline into a new index."
        )
    if file.number < last[file.set]:
        raise OutOfOrder(
            f"{file.path.name} in {source} comes before number {last[file.set]:04d}, which the index has already; applying it "
            "now would undo later revisions: remove it, or build the index again."
        )
    if file.number > last[file.set] + 1:
        raise OutOfOrder(
            f"{source} has {file.path.name}, and number {last[file.set] + 1:04d} before it is missing; fetch that first."
        )


def _hash(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
    except OSError as error:
        raise BadInput(f"{path} cannot be read ({error.strerror}); fetch it again.") from None


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
