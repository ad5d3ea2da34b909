"""Whom a paper studied: people, or animals and cells, by its design and by words that indicate people (people.txt)."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Literal

from nli.text.designs import ANIMAL, find_design
from retrieval.core.values import Document
from retrieval.core.word_list import read_word_list

Subjects = Literal["humans", "animals", "unknown"]

_FILE = Path(__file__).with_name("people.txt")


def find_subjects(document: Document) -> Subjects:
    """Whom a paper studied; "unknown" where neither its design nor its words say."""
    if find_design(document).name == ANIMAL:
        return "animals"
    return "humans" if _load_people().search(f"{document.title} {document.abstract}") else "unknown"


@cache
def _load_people() -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(read_word_list(_FILE))})\b", re.IGNORECASE)
