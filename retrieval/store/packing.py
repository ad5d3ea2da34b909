"""Offsets as packed integers."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from itertools import chain


def pack(numbers: Iterable[Sequence[int]]) -> bytes:
    """Tuples of offsets as little-endian uint32."""
    flat = list(chain.from_iterable(numbers))
    return struct.pack(f"<{len(flat)}I", *flat)


def unpack(blob: bytes, width: int) -> list[tuple[int, ...]]:
    """The inverse of `pack`: tuples of `width` numbers."""
    return list(struct.iter_unpack(f"<{width}I", blob))
