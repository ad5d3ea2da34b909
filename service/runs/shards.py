"""A run in parts: `--shard i/n` makes the i-th of n on any machine, and a merge puts them together, byte for byte as one run.

A shard has every n-th item of the input, so that it needs to know nothing of the others, and the same command always makes the
same shard. Each writes the files of a run with its own items, and a manifest; the merge needs these files and nothing else.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

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


def take_shard(items: Sequence[_Item], shard: Shard | None) -> tuple[Sequence[_Item], dict[str, Any]]:
    """The items of this shard and what its manifest says about it; without a shard, all items and an empty dict."""
    if shard is None:
        return items, {}
    facts = {"number": shard.number, "of": shard.of, "items": len(items)}
    return items[shard.number - 1 :: shard.of], {SHARD: facts}


@dataclass(frozen=True, slots=True)
class _FinishedShard:
    """A finished shard: its run file, what its manifest says of what made it, its number, and the lines of each of its files.

    `of` is the number of shards and of all items, which all shards of one run have in common.
    """

    path: Path
    facts: Mapping[str, Any]
    number: int
    of: tuple[int, int]
    lines: Mapping[str, list[str]]


def merge(shards: Sequence[Path], out: Path) -> int:
    """Put the finished shards of one run together at `out`, with the same bytes as a single run; return the number of items.

    Raises `BadInput` if a shard is missing, repeated, unfinished, changed since, or made differently from the others.
    """
    if out.resolve() in {path.resolve() for path in shards}:
        raise BadInput(f"{out} is one of the shards; name another file for the whole run.")
    parts: dict[int, _FinishedShard] = {}
    for one in map(_read_shard, shards):
        first = next(iter(parts.values()), one)
        _refuse_difference(first, one)
        if one.number in parts:
            raise BadInput(f"{parts[one.number].path} and {one.path} are both shard {one.number}; give each shard once.")
        parts[one.number] = one
    of, items = first.of
    if gaps := [str(number) for number in range(1, of + 1) if number not in parts]:
        raise BadInput(f"{len(gaps)} of the {of} shards are missing ({list_few(gaps)}); name every shard of the run.")
    lines = {name: [parts[at % of + 1].lines[name][at // of] for at in range(items)] for name in first.lines}
    with translate_write_errors("the run", out):
        publish(out, first.facts, lines)
    return items


def _read_shard(path: Path) -> _FinishedShard:
    """Read the finished shard at `path`; its files must be there and unchanged."""
    if not path.is_file():
        if path.with_name(f"{path.name}.partial").exists():
            raise BadInput(f"{path} is not finished; run its command again, which resumes where it stopped.")
        raise BadInput(f"There is no shard at {path}; write it with `counterpoint run … --shard i/n --out {path}`.")
    manifest_file = manifest_path(path)
    if not manifest_file.exists():
        raise BadInput(f"{path} has no manifest beside it; copy {manifest_file.name} here too.")
    try:
        manifest = json.loads(manifest_file.read_text("utf-8"))
        files, part = dict(manifest.pop(FILES)), manifest.pop(SHARD, None)
        number, of, items = (int(part[key]) for key in ("number", "of", "items")) if part else (1, 1, 0)
        if not 1 <= number <= of:
            raise ValueError(f"{number} of {of} is no shard")
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise BadInput(f"{manifest_file} cannot be read as the manifest of a run; run the shard again.") from None
    if part is None:
        raise BadInput(f"{path} is a whole run, not a shard; merge takes what `counterpoint run … --shard i/n` wrote.")
    if not {RUN} <= files.keys() <= {RUN, ANSWERS}:
        raise BadInput(f"{manifest_file} lists the wrong files for a run; run the shard again.")
    lines = {name: _read_lines(path, beside(path, name), sha256) for name, sha256 in files.items()}
    if any(len(own) != len(range(number - 1, items, of)) for own in lines.values()):
        raise BadInput(f"{path} has not the items that its manifest names; run the shard again.")
    return _FinishedShard(path, manifest, number, (of, items), lines)


def _read_lines(run: Path, file: Path, sha256: str) -> list[str]:
    """The lines of one of the files of a run, which has this hash."""
    if not file.is_file():
        raise BadInput(f"{run} lacks {file.name}, which belongs to it; copy it here too.")
    content = file.read_bytes()
    if hashlib.sha256(content).hexdigest() != sha256:
        raise BadInput(f"{file} is not what its run wrote (its manifest has a different hash); copy or run the shard again.")
    # Not splitlines(): a line separator of Unicode may stand within a text.
    return content.decode().split("\n")[:-1]


def _refuse_difference(first: _FinishedShard, other: _FinishedShard) -> None:
    expected, found = ({**one.facts, "number of shards and items": one.of} for one in (first, other))
    differ = ", ".join(sorted(name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name)))
    if differ:
        raise BadInput(
            f"{other.path} is not part of the same run as {first.path} ({differ} differ); run one of them again with the "
            "other's settings."
        )
