"""Abbreviations that patients and titles use, and what they stand for (abbreviations.tsv)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from retrieval.core.characters import unify_characters
from retrieval.core.errors import BadConfig
from retrieval.core.word_list import read_shipped

_FILE = Path(__file__).with_name("abbreviations.tsv")
WORD = re.compile(r"\w+(?:['’\-]\w+)*")


@cache
def load_abbreviations() -> Mapping[str, str]:
    """The shipped table, by abbreviation as it is written."""
    return read_abbreviations(read_shipped(_FILE))


def read_abbreviations(text: str) -> dict[str, str]:
    """Read a table with one abbreviation, tab and expansion per line; lines that begin with # state its source.

    Raises `BadConfig` for a wrong line.
    """
    table: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        short, _, long = (part.strip() for part in line.partition("\t"))
        if not (short and long) or short in table:
            raise BadConfig(f"Line {number} of the abbreviations should be a new abbreviation, a tab and what it stands for.")
        table[short] = long
    return table


def expand(text: str) -> str:
    """The text followed by the expansions of its abbreviations, once each."""
    known = load_abbreviations()
    found: dict[str, None] = {}
    for word in WORD.findall(unify_characters(text)):
        for form in (word, word.removesuffix("s")):
            if form in known:
                found[known[form]] = None
                break
    return " ".join([text, *found])
