"""The phrases of generation/sentences/phrases.txt, as one regular expression a section."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from retrieval.core.word_list import read_sections

_FILE = Path(__file__).with_name("phrases.txt")


def compile_phrases(section: str) -> re.Pattern[str]:
    """Finds any phrase of a section: at the beginning, in its own case, where the section is an opening; else anywhere."""
    opening = section.endswith("(opening)")
    return re.compile(f"{'^' if opening else BOUND}{list_alternatives(section)}(?!\\w)", 0 if opening else re.IGNORECASE)


BOUND = r"(?<!\w)"


def list_alternatives(section: str) -> str:
    """A section's phrases as one group of a regular expression."""
    return f"(?:{'|'.join(_load_sections()[section])})"


@cache
def _load_sections() -> dict[str, list[str]]:
    return {
        section: [phrase.strip().replace(" ", r"\s+") for line in lines for phrase in line.split(" / ")]
        for section, lines in read_sections(_FILE).items()
    }
