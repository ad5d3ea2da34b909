"""Whom a paper studied: people, or animals and cells, by its design and by words that indicate people (people.txt)."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Literal

from nli.text.designs import ANIMAL, find_design
from retrieval.core.errors import ModelUnusable
from retrieval.core.values import Document

Subjects = Literal["humans", "animals", "unknown"]

_FILE = Path(__file__).with_name("people.txt")


def find_subjects(document: Document) -> Subjects:
    """Whom a paper studied; "unknown" where neither its design nor its words say."""
    if find_design(document).name == ANIMAL:
        return "animals"
    return "humans" if _load_people().search(f"{document.title} {document.abstract}") else "unknown"


@cache
def _load_people() -> re.Pattern[str]:
    try:
        lines = _FILE.read_text("utf-8").splitlines()
    except OSError as error:
        raise ModelUnusable(f"The words {_FILE} cannot be read ({error}); reinstall the package.") from error
    forms = [line for line in lines if line and not line.startswith("#")]
    return re.compile(rf"\b(?:{'|'.join(forms)})\b", re.IGNORECASE)
