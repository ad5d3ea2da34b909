"""Files read in a few processes: in order, and one that ends its process costs only itself."""

from __future__ import annotations

import os

import pytest

from indexes.readers.base import apart
from retrieval.core.errors import BadInput

HERE = f"{__name__}:measure"


def measure(raw: bytes, name: str) -> int:
    """Read apart: the length of a file, except of one that is refused and of one that ends the process."""
    if raw == b"refuse":
        raise BadInput(f"{name} is refused.")
    if raw == b"end":
        os._exit(1)
    return len(raw)


def test_files_are_read_in_order_and_one_that_ends_its_process_is_told() -> None:
    contents = [b"one", b"end", b"refuse", b"", b"end", *([b"four"] * 8)]
    found = list(apart.read_all_apart(((HERE, raw, str(number)) for number, raw in enumerate(contents)), 2))
    assert [name for name, _ in found] == [str(number) for number in range(13)]
    assert [result for _, result in found if not isinstance(result, BadInput)] == [3, 0, *([4] * 8)]
    faults = [str(result) for _, result in found if isinstance(result, BadInput)]
    assert faults[1] == "2 is refused." and "1 is damaged" in faults[0] and "4 is damaged" in faults[2]


def test_reading_ahead_stops_with_its_reader() -> None:
    reading = apart.read_all_apart(((HERE, b"a", str(number)) for number in range(1000)), 2)
    assert next(reading) == ("0", 1)
    reading.close()  # type: ignore[attr-defined]
    with pytest.raises(StopIteration):
        next(reading)
