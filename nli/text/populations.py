"""Whether two studies were done in different populations: children or adults, women or men, healthy people or patients."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import yaml

from retrieval.core.errors import ModelUnusable

_FILE = Path(__file__).with_name("populations.yaml")


def differ_in_people(one: str, other: str) -> bool:
    """Whether two titles name groups that do not overlap on some axis; a title that names no group differs from nothing."""
    for groups in _load_axes().values():
        name_sets = [{name for name, words in groups.items() if words.search(text)} for text in (one, other)]
        if all(name_sets) and not name_sets[0] & name_sets[1]:
            return True
    return False


_BEHIND = "after|against|among|at|before|during|for|if|in|on|to|when|with"
_THAN = re.compile(rf"\bthan\s+(.+?)(?=\s+(?:{_BEHIND})\b|[,;]|$)", re.IGNORECASE)


def studied_others(claim: str, title: str) -> bool:
    """Whether a title names other people than those whom a claim or question is about, apart from those whom it compares."""
    return differ_in_people(_THAN.sub("", claim), title)


@cache
def _load_axes() -> dict[str, dict[str, re.Pattern[str]]]:
    try:
        data = yaml.safe_load(_FILE.read_text("utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise ModelUnusable(f"The populations {_FILE} cannot be read ({error}); reinstall the package.") from error
    return {
        axis: {name: re.compile(rf"\b(?:{'|'.join(forms)})\b", re.IGNORECASE) for name, forms in groups.items()}
        for axis, groups in data.items()
    }
