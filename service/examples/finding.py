"""Find examples in an index: short findings of its papers that stand alone as claims, and of which the judge is sure."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice, takewhile

from generation.question import write_question
from nli.text.designs import has_findings
from nli.text.roles import find_findings
from retrieval.core.values import Claim, Document, Grounding
from retrieval.store.documents import Entry
from service.checking.checkable import claim_in
from service.grounding.ground import Grounder
from service.grounding.weigh import Placed, place_papers

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


SAMPLED, GROUNDED, KEPT, SECONDS = 1000, 12, 3, 40
"""The most documents to look at, statements to ground, examples to keep, and seconds after which no other statement is begun."""
SURE = 0.9
"""The least probability, for its side, of a paper that an example shows."""


@dataclass(frozen=True, slots=True)
class Example:
    """A statement and both sides of it; the papers that take one, its own first."""

    statement: Statement
    grounding: Grounding
    papers: tuple[Document, ...]


def find_examples(grounder: Grounder, statements: Iterable[Statement]) -> tuple[Example, ...]:
    """The statements that are sure, those with the most papers first; the same ones each time, unless time runs out.

    That papers stand on both sides counts for nothing: where few papers contradict a finding, a preference for contradictions
    would choose the judge's mistakes.
    """
    start = time.monotonic()
    in_time = takewhile(lambda _: time.monotonic() - start < SECONDS, islice(statements, GROUNDED))
    grounded = ((one, grounder.ground(Claim(one.claim))) for one in in_time)
    sure = [Example(one, grounding, papers) for one, grounding in grounded if (papers := _find_sure(one, grounding))]
    return tuple(sorted(sure, key=lambda one: -len(one.papers))[:KEPT])


def _find_sure(statement: Statement, grounding: Grounding) -> tuple[Document, ...]:
    """The papers on a side, the statement's own first; none unless that supports it and the judge is sure of each."""
    placed = [one for one in place_papers(grounding) if one.place in ("contradict", "support")]
    counted = [one for one in placed if not one.evidence.document.retracted]
    own = [one for one in counted if one.evidence.document.pmid == statement.document.pmid]
    if [one.place for one in own] != ["support"] or not all(_is_sure(one) for one in counted):
        return ()
    return tuple(one.evidence.document for one in (*own, *(one for one in counted if one not in own)))


def _is_sure(placed: Placed) -> bool:
    verdict = placed.evidence.verdict
    return verdict is not None and getattr(verdict, placed.place) >= SURE
