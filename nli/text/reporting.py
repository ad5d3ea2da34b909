"""Signs that a sentence reports a measurement: numbers, and the words of reporting.txt."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from retrieval.core.word_list import read_word_list

_WORDS = Path(__file__).parent / "reporting.txt"
_FIGURE = re.compile(r"\d+(?:[.,·]\d+)*")


def count_figures(text: str) -> int:
    """How many numbers the text contains; "0.85 (0.65-1.12)" is three, "1,250" one."""
    return len(_FIGURE.findall(text))


def is_report(text: str) -> bool:
    """Whether the text contains words that report findings."""
    return _compile_pattern().search(text.lower()) is not None


@cache
def _compile_pattern() -> re.Pattern[str]:
    entries = [
        re.escape(word.removesuffix("*")) + (r"\w*" if word.endswith("*") else r"(?!\w)") for word in read_word_list(_WORDS)
    ]
    return re.compile(rf"(?<!\w)(?:{'|'.join(entries)})")
