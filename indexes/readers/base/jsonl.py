"""JSON: one object per line, or records however else they stand in a file: a list, or a list in a web service's envelope."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from counterpoint.indexes.readers.base import source
from counterpoint.indexes.readers.base.fields import OnBad, RecordError, describe_keys, describe_value, make_records, raise_bad
from counterpoint.retrieval.core.errors import BadInput, BadRecord

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


# A list of objects, or an object whose first line ends before it does.
_WHOLE = re.compile(r"\s*(?:\[\s*(?:[{\]]|$)|\{(?:[^\n]*[{\[,])?[ \t]*\n)")
_BLANKS = re.compile(r"\s*")
_TITLES = frozenset({"title", "contents", "abstract"})
"""An object with one of these keys is a record; another may be an envelope around a list of them."""


def read_documents(path: Path, document: Callable[[dict[str, Any]], _Result], on_bad: OnBad) -> Iterator[_Result]:
    """Each object of a file, read by `document`, which raises RecordError if it cannot use it."""

    def make(found: object) -> _Result:
        if isinstance(found, RecordError):
            raise found
        if not isinstance(found, dict):
            raise RecordError(f"expected an object, got {describe_value(found)}")
        return document(found)

    return make_records(path, read_objects(path, on_bad), make, on_bad)


def read_objects(path: Path, on_bad: OnBad = raise_bad) -> Iterator[tuple[str, object]]:
    """What should be objects, each with its place; for a line that is no JSON object, the RecordError that says why."""
    if _WHOLE.match(source.read_head(path)):
        records = _find_records(path, _read_values(path, on_bad))
        return ((f"item {number}", record) for number, record in enumerate(records, 1))
    return _read_line_objects(path)


def _read_line_objects(path: Path) -> Iterator[tuple[str, object]]:
    for number, line in read_lines(path):
        found: dict[str, Any] | RecordError
        try:
            found = parse_line(line)
        except RecordError as fault:
            if not line.endswith(b"\n") and line.lstrip().startswith(b"{") and not line.rstrip().endswith(b"}"):
                hint = "expected the object to end, reached the end of the file; the file is cut off, so fetch it again."
                raise BadRecord(path, f"line {number}", hint) from fault
            found = fault
        # A line may be a whole answer of a web service.
        if isinstance(found, dict) and not _is_record(found) and (records := _find_list(found)):
            yield from ((f"line {number}, item {item}", record) for item, record in enumerate(records, 1))
        else:
            yield f"line {number}", found


def _read_values(path: Path, on_bad: OnBad) -> list[Any]:
    """The values of a file, one behind the other; usually it is one."""
    text = source.read_text(path, on_bad)
    decoder, values, at = json.JSONDecoder(strict=False), list[Any](), 0
    try:
        while (at := _BLANKS.match(text, at).end()) < len(text):  # type: ignore[union-attr]  # it matches everywhere
            value, at = decoder.raw_decode(text, at)
            values.append(value)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise BadRecord(path, where, f"expected valid JSON to the end, found an error ({error.msg}); export it again.") from None
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path} cannot be read as JSON ({error}); export it again.") from None
    return values


def _find_records(path: Path, values: list[Any]) -> list[Any]:
    """The records among the values of a file: its objects, the items of its list, or those of the list in its envelope."""
    if len(values) > 1 or _is_record(values[0]):
        return values
    records = values[0] if isinstance(values[0], list) else _find_list(values[0])
    if records is None:
        got = describe_keys(values[0])
        raise BadInput(f"{path} contains no list of papers: expected JSON with a list of objects, got {got}; export it again.")
    return records


def _find_list(value: dict[str, Any]) -> list[Any] | None:
    """The first list of records inside an envelope, such as Crossref's "message" with its "items"."""
    inside: list[Any] = [value]
    for part in inside:
        if isinstance(part, list) and any(map(_is_record, part)):
            return part
        if isinstance(part, dict):
            if _is_record(part):
                return [part]
            inside += part.values()
    return None


def _is_record(value: object) -> bool:
    return isinstance(value, dict) and not _TITLES.isdisjoint(value)
