"""JSON lines: one object per line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from indexes.readers.base import source
from indexes.readers.base.records import RecordError
from retrieval.core.errors import BadInput, BadRecord

_Result = TypeVar("_Result")
_decode = json.JSONDecoder().decode


def read_records(path: Path, read: Callable[[dict[str, Any], int], _Result]) -> Iterator[_Result]:
    """What `read` makes of the object on each line and the line's number; a RecordError becomes a BadRecord with its line."""
    for number, line in read_lines(path):
        try:
            record = read(parse_line(line), number)
        except RecordError as fault:
            raise BadRecord(path, f"line {number}", f"{fault}.") from None
        yield record


def read_some(path: Path, read: Callable[[dict[str, Any], int], _Result], what: str, fields: str) -> list[_Result]:
    """The same as a list; raises `BadInput`, naming `what` was expected with which `fields`, for a file without any."""
    records = list(read_records(path, read))
    if not records:
        raise BadInput(f"{path} contains no {what}; expected JSON lines with {fields}.")
    return records


def read_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, with their numbers from 1."""
    return ((number, line) for number, line in source.read_lines(path, "one object per line") if line.strip())


def parse_line(line: bytes) -> dict[str, Any]:
    """The object on a line."""
    try:
        value = _decode(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise RecordError(f"expected UTF-8, got the byte 0x{line[error.start]:02x} at byte {error.start + 1}") from error
    except json.JSONDecodeError as error:
        raise RecordError(f"expected one JSON object, got invalid JSON ({error.msg} at column {error.colno})") from error
    except (ValueError, RecursionError) as error:
        # Python refuses numbers of thousands of digits and brackets nested thousands deep, which JSON itself allows.
        raise RecordError(f"expected one JSON object, got one too large to read ({error})") from error
    if not isinstance(value, dict):
        kind = "a list" if isinstance(value, list) else "a bare value"
        raise RecordError(f"expected one JSON object, got {kind}")
    return value


def is_cut_off(line: bytes) -> bool:
    """Whether a bad line is the cut-off end of a file rather than a mistake in the middle."""
    return not line.endswith(b"\n") and line.lstrip().startswith(b"{") and not line.rstrip().endswith(b"}")
