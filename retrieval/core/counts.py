"""Counts in words."""

from __future__ import annotations


def format_count(count: int, noun: str) -> str:
    """A count with its noun: "1 document", "2,000 documents"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
