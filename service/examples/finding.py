"""Find examples in an index: statements on which the judge is sure of every paper that takes a side."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice, takewhile

from retrieval.core.values import Claim, Document, Grounding
from service.examples.statements import Statement
from service.grounding.ground import Grounder
from service.grounding.weigh import Placed, place_papers

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
