"""A run in parts: `--shard i/n` makes the i-th of n on any machine, and a merge puts them together, byte for byte as one run.

The input alone determines which items each shard gets: the longest first, each to the shard with the least work so far. So no
shard needs to know about another, all take about as long, and the same command always makes the same shard. Each writes the files
of a run with its own items, and a manifest that says which these are; the merge needs these files and nothing else.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from retrieval.core.counts import format_count
from retrieval.core.errors import BadInput, translate_write_errors
from service.runs.journal import ANSWERS, FILES, RUN, beside, list_few, manifest_path, publish

SHARD = "shard"
"""The key under which a manifest describes its shard; the manifest of a whole run has none."""
_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class Shard:
    """The `number`-th of `of` parts of a run, counted from 1."""

    number: int
    of: int


def parse_shard(text: str) -> Shard:
    """Parse a shard written as i/n; raises `BadInput`."""
    match = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text)
    if not match or not 1 <= int(match[1]) <= int(match[2]):
        raise BadInput(f"--shard should be i/n, such as 2/8, with i from 1 to n, not {text!r}.")
    return Shard(int(match[1]), int(match[2]))


def find_positions(sizes: Sequence[int], shard: Shard) -> list[int]:
    """The positions in the input, from 0, of this shard's items; `sizes` says how much work each item of the input is."""
    loads = [0] * shard.of
    counts = [0] * shard.of
    own = []
    for place in sorted(range(len(sizes)), key=lambda place: (-sizes[place], place)):
        # Among shards with equal work take the one with fewer items, or items of size 0 would all go to the same shard.
        least = min(range(shard.of), key=lambda number: (loads[number], counts[number]))
        loads[least] += sizes[place]
        counts[least] += 1
        if least == shard.number - 1:
            own.append(place)
    return sorted(own)


def take_shard(items: Sequence[_Item], sizes: Sequence[int], shard: Shard | None) -> tuple[Sequence[_Item], dict[str, Any]]:
    """The items of this shard and what its manifest says about it; without a shard, all items and an empty dict."""
    if shard is None:
        return items, {}
    positions = find_positions(sizes, shard)
    facts = {"number": shard.number, "of": shard.of, "items": len(items), "places": positions}
    return [items[place] for place in positions], {SHARD: facts}


@dataclass(frozen=True, slots=True)
class _FinishedShard:
    """A finished shard: its run file, what its manifest says, and which items of the input are its own."""

    path: Path
    manifest: Mapping[str, Any]
    number: int
    of: int
    items: int
    places: list[int]

    def facts(self) -> dict[str, Any]:
        """What made it; all shards of one run have these facts in common."""
        return {name: value for name, value in self.manifest.items() if name not in (SHARD, FILES)}

    def lines(self, name: str) -> list[str]:
        """The lines of one of its files."""
        # Not splitlines(): a line separator of Unicode may stand within a text.
        texts = beside(self.path, name).read_text("utf-8").split("\n")[:-1]
        if len(texts) != len(self.places):
            lines, items = format_count(len(texts), "line"), format_count(len(self.places), "item")
            raise BadInput(f"{beside(self.path, name)} has {lines} for {items}; run the shard again.")
        return texts


def merge(shards: Sequence[Path], out: Path) -> int:
    """Put the finished shards of one run together at `out`, with the same bytes as a single run; return the number of items.

    Raises `BadInput` if a shard is missing, repeated, unfinished, changed since, or made differently from the others.
    """
    if out.resolve() in {path.resolve() for path in shards}:
        raise BadInput(f"{out} is one of the shards; name another file for the whole run.")
    parts = [_read_shard(path) for path in shards]
    for other in parts[1:]:
        _refuse_difference(parts[0], other)
    _refuse_doubled_or_missing(parts)
    lines = {name: _join(parts, name) for name in parts[0].manifest[FILES]}
    with translate_write_errors("the run", out):
        publish(out, parts[0].facts(), lines)
    return parts[0].items


def _read_shard(path: Path) -> _FinishedShard:
    """Read the finished shard at `path` and check that its files are there and unchanged."""
    if not path.is_file():
        if path.with_name(f"{path.name}.partial").exists():
            raise BadInput(f"{path} is not finished; run its command again, which resumes where it stopped.")
        raise BadInput(f"There is no shard at {path}; write it with `counterpoint run … --shard i/n --out {path}`.")
    manifest_file = manifest_path(path)
    if not manifest_file.exists():
        raise BadInput(f"{path} has no manifest beside it; copy {manifest_file.name} here too.")
    try:
        manifest = json.loads(manifest_file.read_text("utf-8"))
        files = {str(name): str(sha256) for name, sha256 in manifest[FILES].items()}
        part = manifest.get(SHARD)
        description = part or {"number": 0, "of": 0, "items": 0, "places": []}
        number, of, items = (int(description[key]) for key in ("number", "of", "items"))
        shard = _FinishedShard(
            path, manifest, number=number, of=of, items=items, places=[int(place) for place in description["places"]]
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise BadInput(f"{manifest_file} cannot be read as the manifest of a run; run the shard again.") from None
    if part is None:
        raise BadInput(f"{path} is a whole run, not a shard; merge takes what `counterpoint run … --shard i/n` wrote.")
    if not {RUN} <= files.keys() <= {RUN, ANSWERS}:
        raise BadInput(f"{manifest_file} lists the wrong files for a run; run the shard again.")
    for name, sha256 in files.items():
        file = beside(path, name)
        if not file.is_file():
            raise BadInput(f"{path} lacks {file.name}, which belongs to it; copy it here too.")
        if hashlib.sha256(file.read_bytes()).hexdigest() != sha256:
            raise BadInput(f"{file} is not what its run wrote (its manifest has a different hash); copy or run the shard again.")
    return shard


def _refuse_difference(first: _FinishedShard, other: _FinishedShard) -> None:
    expected = {**first.facts(), "number of shards": first.of, "number of items": first.items}
    found = {**other.facts(), "number of shards": other.of, "number of items": other.items}
    differ = ", ".join(sorted(name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name)))
    if differ:
        raise BadInput(
            f"{other.path} is not part of the same run as {first.path} ({differ} differ); run one of them again with the "
            "other's settings."
        )


def _refuse_doubled_or_missing(parts: Sequence[_FinishedShard]) -> None:
    by_number: dict[int, Path] = {}
    for one in parts:
        if one.number in by_number:
            raise BadInput(f"{by_number[one.number]} and {one.path} are both shard {one.number}; give each shard once.")
        by_number[one.number] = one.path
    of, items = parts[0].of, parts[0].items
    gaps = [str(number) for number in range(1, of + 1) if number not in by_number]
    if gaps:
        raise BadInput(f"{len(gaps)} of the {of} shards are missing ({list_few(gaps)}); name every shard of the run.")
    if sorted(place for one in parts for place in one.places) != list(range(items)):
        raise BadInput(f"The shards do not contain each of the {items} items once, as their manifests require; run them again.")


def _join(parts: Sequence[_FinishedShard], name: str) -> list[str]:
    """Join the lines of one of the run's files in the order of the input."""
    lines = {place: line for one in parts for place, line in zip(one.places, one.lines(name), strict=True)}
    return [lines[place] for place in sorted(lines)]
