"""Files read in a process of their own: one that ends it costs only itself."""

from __future__ import annotations

import os

import pytest

from counterpoint.indexes.readers.base import apart
from counterpoint.retrieval.core.errors import BadInput

HERE = f"{__name__}:measure"


def measure(raw: bytes, name: str) -> int:
    """Read apart: the length of a file, except of one that is refused and of one that ends the process."""
    if raw == b"refuse":
        raise BadInput(f"{name} is refused.")
    if raw == b"end":
        os._exit(1)
    return len(raw)


def test_a_file_is_read_and_one_that_is_refused_or_ends_its_process_is_told() -> None:
    assert [apart.read_apart(HERE, raw, "0") for raw in (b"one", b"", b"four")] == [3, 0, 4]
    with pytest.raises(BadInput, match=r"^2 is refused\.$"):
        apart.read_apart(HERE, b"refuse", "2")
    with pytest.raises(BadInput, match="1 is damaged"):
        apart.read_apart(HERE, b"end", "1")
