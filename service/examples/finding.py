"""Find examples in an index: short findings of its papers that stand alone as claims, with the papers for and against each.

What a paper denies ("losartan did not prevent stroke") is put as the claim that it contradicts.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from counterpoint.generation.question import write_question
from counterpoint.nli.text.designs import has_findings
from counterpoint.nli.text.roles import find_findings
from counterpoint.retrieval.core.values import Claim, Document, Grounding
from counterpoint.retrieval.store.documents import Entry
from counterpoint.retrieval.words.forms import make_past
from counterpoint.service.checking.checkable import claim_in
from counterpoint.service.grounding.ground import Grounder
from counterpoint.service.grounding.weigh import LIKELY, SURE, Placed, place_papers

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
_DENIED = re.compile(
    r"\bdid not (?:significantly |substantially )?(reduce|increase|decrease|improve|prevent|lower|raise|protect|cause)\b"
)
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
    """The statement that a text makes or denies on its own, understandable without its abstract; None if there is none."""
    claim, reason = claim_in(text)
    if reason or not claim.endswith(".") or not text.endswith(claim[1:]):
        return None  # Not a claim, or not a whole sentence.
    claim = _DENIED.sub(lambda match: make_past(match[1]), claim, count=1)
    if not FEWEST_WORDS <= len(claim.split()) <= MOST_WORDS or not _EFFECT.search(claim):
        return None
    if any(pattern.search(claim) for pattern in (_UNCLEAR, _ABBREVIATION, _POINTER, _DENIAL)):
        return None
    question = write_question(claim)
    return Statement(claim, question, document) if question else None


SAMPLED, GROUNDED, KEPT, SECONDS = 2000, 40, 3, 40
"""The most documents to look at, statements to ground and examples to keep; seconds after which no other statement is begun."""


@dataclass(frozen=True, slots=True)
class Example:
    """A statement, both sides of it, and the papers that take one: those of the side with fewer papers first."""

    statement: Statement
    grounding: Grounding
    papers: tuple[Document, ...]
    sides: int

    @property
    def worth(self) -> int:
        """3 with papers on both sides, 2 with several on one, 1 with a single paper, which may be the statement's own."""
        return self.sides + (len(self.papers) > 1)


def find_examples(grounder: Grounder, statements: Iterable[Statement]) -> tuple[Example, ...]:
    """The statements whose papers are sure: first those with papers on both sides, then those with the most papers.

    If any has a second paper, those with their own alone are left out. The same ones each time, unless time runs out.
    """
    start, sure = time.monotonic(), list[Example]()
    for one in statements:
        if time.monotonic() - start > SECONDS or sum(example.sides == 2 for example in sure) == KEPT:
            break
        if example := _read_sides(one, grounder.ground(Claim(one.claim))):
            sure.append(example)
    best = sorted(sure, key=lambda one: (-one.worth, -len(one.papers)))
    return tuple(one for one in best if one.worth > 1 or best[0].worth == 1)[:KEPT]


def _read_sides(statement: Statement, grounding: Grounding) -> Example | None:
    """The example that a grounding makes, if its own paper takes a side and the judge is sure of the best paper of each side."""
    counted = [
        one for one in place_papers(grounding) if one.side in ("contradict", "support") and not one.evidence.document.retracted
    ]
    own = any(one.evidence.document.pmid == statement.document.pmid for one in counted)
    sides = [side for name in ("contradict", "support") if (side := [one for one in counted if one.side == name])]
    if not own or min(map(_likely, counted)) < LIKELY or any(max(map(_likely, side)) < SURE for side in sides):
        return None
    papers = tuple(one.evidence.document for side in sorted(sides, key=len) for one in side)
    return Example(statement, grounding, papers, len(sides))


def _likely(placed: Placed) -> float:
    """How probably the paper takes its side."""
    return float(getattr(placed.evidence.verdict, placed.side))
