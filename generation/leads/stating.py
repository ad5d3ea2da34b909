"""From an open question to what an answer to it states: "How is gout treated?" to "the treatment is effective for gout".

A reader of claims can then tell a sentence that answers from one that shares its words. The patterns are data (statements.yaml).
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from retrieval.core.word_list import read_shipped

_FILE = Path(__file__).with_name("statements.yaml")
_NO_SUBJECT = re.compile(r"\b(?:is|are|was|were|which|what|it|them|this|these|not)\b", re.IGNORECASE)
"""Words of a longer question than the patterns are made for."""
_ASKER = re.compile(r"\b(?:my|your|our) ", re.IGNORECASE)


def state_answer(question: str) -> str:
    """What an answer to the question states, whatever it is; "" if no pattern fits."""
    text = " ".join(question.split()).rstrip(" ?.!")
    for asks, states in _load_statements():
        if match := asks.search(text):
            parts = {name: _cut(part) for name, part in match.groupdict().items()}
            named = all(part and not _NO_SUBJECT.search(part) for part in parts.values())
            return states.format(**parts) if named else ""
    return ""


def _cut(subject: str) -> str:
    """The subject without what follows it, such as "that you can take", and without the asker."""
    return _ASKER.sub("", _load_end().split(subject, maxsplit=1)[0]).strip(" ,;")


@cache
def _load_statements() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((_compile(rf"\b(?:{one['asks']})"), one["states"]) for one in _load()["statements"])


@cache
def _load_end() -> re.Pattern[str]:
    return _compile("|".join(_load()["end"]))


def _load() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(read_shipped(_FILE))
    return content


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)
