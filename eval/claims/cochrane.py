"""Agreement with the conclusions of Cochrane's reviews: MedEvidence (ICLR 2026), questions on an outcome under two treatments.

They are asked over one index of all abstracts that the reviews rest on.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from counterpoint.eval.claims.directions import ANSWERS, DirectedQuestion
from counterpoint.indexes.readers.base.fields import RecordError
from counterpoint.indexes.readers.base.jsonl import read_some
from counterpoint.retrieval.core.values import Document

_QUESTION = re.compile(
    r"(is|are) (.+?),? (?:higher|lower), (?:higher|lower),? or the same,?(?: when)? comparing (?:following )?(.+)\?",
    re.IGNORECASE,
)
_FIELDS = "question, answer and abstracts (pmid, title, abstract)"
_BETWEEN = (" to ", " versus ", " vs. ", " vs ", " with ", " and ")
"""What stands between the two treatments, the surest first."""


def ask(question: str) -> tuple[str, str]:
    """The two claims of a question: the outcome is higher, and lower, with the first treatment than with the second.

    Raises `RecordError` for a question of another form.
    """
    match = _QUESTION.fullmatch(" ".join(question.split()))
    if match is None:
        raise RecordError(f"expected “Is … higher, lower, or the same when comparing … to …?”, got {question!r}")
    verb, outcome, treatments = match.groups()
    between = next((one for one in _BETWEEN if one in treatments), None)
    first, _, second = treatments.rpartition(between) if between else (treatments, "", "")
    than = f"with {first} than with {second}" if second else f"when comparing {treatments}"
    higher, lower = (f"{outcome[0].upper()}{outcome[1:]} {verb.lower()} {way} {than}." for way in ("higher", "lower"))
    return higher, lower


def read_conclusions(path: Path) -> tuple[list[DirectedQuestion], list[Document]]:
    """The questions of a file of JSON lines, gzipped or not, and the abstracts of all their reviews.

    Raises `BadInput` for a file that cannot be used and `BadRecord` for an invalid line.
    """
    documents: dict[str, Document] = {}

    def read(row: dict[str, Any], _line: int) -> DirectedQuestion:
        try:
            if row["answer"] not in ANSWERS:
                raise RecordError(f"expected answer to be one of {', '.join(ANSWERS)}, got {row['answer']!r}")
            for one in row["abstracts"]:
                pmid = str(one["pmid"])
                documents[pmid] = Document(pmid, str(one["title"]), str(one["abstract"]))
            return DirectedQuestion(row["question"], *ask(row["question"]), row["answer"])
        except (KeyError, TypeError, AttributeError):
            raise RecordError(f"expected {_FIELDS}") from None

    return read_some(path, read, "question", _FIELDS), list(documents.values())
