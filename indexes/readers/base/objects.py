"""The records of a JSON file, however they stand in it: one object per line, a list, or a list in a web service's envelope."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from indexes.readers.base import jsonl, source
from indexes.readers.base.fields import describe_keys, describe_value
from indexes.readers.base.records import OnBad, RecordError, make_records, raise_bad
from retrieval.core.errors import BadInput, BadRecord

_Result = TypeVar("_Result")
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
    return _read_lines(path)


def _read_lines(path: Path) -> Iterator[tuple[str, object]]:
    for number, line in jsonl.read_lines(path):
        found = _parse_line(path, number, line)
        # A line may be a whole answer of a web service.
        if isinstance(found, dict) and not _is_record(found) and (records := _find_list(found)):
            yield from ((f"line {number}, item {item}", record) for item, record in enumerate(records, 1))
        else:
            yield f"line {number}", found


def _parse_line(path: Path, number: int, line: bytes) -> dict[str, Any] | RecordError:
    try:
        return jsonl.parse_line(line)
    except RecordError as fault:
        if jsonl.is_cut_off(line):
            hint = "expected the object to end, reached the end of the file; the file is cut off, so fetch it again."
            raise BadRecord(path, f"line {number}", hint) from fault
        return fault


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
    for one in inside:
        if isinstance(one, list) and any(map(_is_record, one)):
            return one
        if isinstance(one, dict):
            if _is_record(one):
                return [one]
            inside += one.values()
    return None


def _is_record(value: object) -> bool:
    return isinstance(value, dict) and not _TITLES.isdisjoint(value)
