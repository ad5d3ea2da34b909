"""Statements from an index's own papers that stand alone as claims: short findings in plain words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from generation.question import write_question
from nli.text.designs import has_findings
from nli.text.roles import find_findings
from retrieval.core.values import Document
from retrieval.store.rows import Entry
from service.checking.checkable import claim_in

FEWEST_WORDS, MOST_WORDS = 5, 16
_UNCLEAR = re.compile(
    # What cannot be understood without its abstract: figures, brackets, groups, comparisons that lack one side.
    r"[\d()\[\]%=:;,/“”\"]|\b(?:we|our|us|study|studies|trial|trials|groups?|both|respectively|also|however|thus|compared|results?"
    r"|findings?|analys[ei]s|authors?|suggest\w*|there|placebo|control|baseline|primary|secondary|similar|other|another|former|latter"
    r"|expected|assigned|but|than|only)\b",
    re.IGNORECASE,
)
_ABBREVIATION = re.compile(r"\b(?!HDL|LDL|HIV|DNA|RNA|BMI)[A-Z]{2,}")
_POINTER = re.compile(
    r"^(?:the|these|those|this|that|such|it|they|most|some|many|few|all|no|neither|only|in|among|after|at|new|further)\b",
    re.IGNORECASE,
)
_DENIAL = re.compile(r"\b(?:not?|neither|nor|without|failed|fails)\b", re.IGNORECASE)
_EFFECT = re.compile(
    r"(?<![\w-])(?:reduc|increas|decreas|improv|prevent|lower|rais|protect|reliev|prolong|shorten|worsen|inhibit|suppress"
    r"|enhanc|caus|induc)(?:es|s|ed|d)\b|\b(?:is|are|was|were) (?:\w+ly )?(?:associated with|effective|harmful|safe|superior)\b",
)
"""A verb that says what something does: opposite findings are most likely for these."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A claim that a paper of the index makes, the question that it answers, and the paper."""

    claim: str
    question: str
    document: Document


def find_statements(entries: Iterable[Entry]) -> Iterator[Statement]:
    """Yield at most one statement per document, in the order of the documents."""
    for entry in entries:
        document = entry.document
        if document.retracted or not has_findings(document):
            continue
        statement = next(filter(None, (_read(text, document) for text in _candidates(entry))), None)
        if statement:
            yield statement


def _candidates(entry: Entry) -> list[str]:
    """The findings, starting with the last one; a title is often no sentence, or says more than its paper found."""
    texts = [sentence.text for sentence in entry.sentences()]
    return [texts[place] for place in reversed(find_findings(texts))]


def _read(text: str, document: Document) -> Statement | None:
    """The statement that a text makes on its own, not negated and understandable without its abstract; None if there is none."""
    words = len(text.split())
    if not FEWEST_WORDS <= words <= MOST_WORDS or not _EFFECT.search(text):
        return None
    if any(pattern.search(text) for pattern in (_UNCLEAR, _ABBREVIATION, _POINTER, _DENIAL)):
        return None
    claim, reason = claim_in(text)
    if reason or not claim.endswith(".") or not text.endswith(claim[1:]):
        return None  # Not a claim, or not a whole sentence.
    question = write_question(claim)
    return Statement(claim, question, document) if question else None
