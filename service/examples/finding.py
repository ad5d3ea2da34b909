"""Find examples in an index: ground its statements until one has papers on both sides, and put that one first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

from retrieval.core.values import Claim, Document, Grounding
from service.balance.weighing import place_papers
from service.examples.statements import Statement, find_statements
from service.grounding.ground import Grounder

SAMPLED, GROUNDED, KEPT = 400, 6, 5
"""The most documents to look at, statements to ground, and examples to keep."""
BOTH = 10.0
"""The interest of a claim with papers on both sides."""


@dataclass(frozen=True, slots=True)
class Examples:
    """What a reader may begin with, the most interesting first; empty if the index has no statement that stands alone.

    `grounding` belongs to the first statement; `paper` is a document that bears on it.
    """

    statements: tuple[Statement, ...] = ()
    grounding: Grounding | None = None
    paper: Document | None = None


def find_examples(grounder: Grounder, ground: Callable[[Claim], Grounding] | None = None) -> Examples:
    """Find the examples of the grounder's index, always the same ones; `ground` grounds a claim the way the service does."""
    statements = list(islice(find_statements(grounder.index.store.sample(SAMPLED)), GROUNDED + KEPT))
    candidates: list[tuple[float, Statement, Grounding]] = []
    for one in statements[:GROUNDED]:
        grounding = (ground or grounder.ground)(Claim(one.claim))
        candidates.append((_measure_interest(grounding), one, grounding))
        if candidates[-1][0] >= BOTH:
            break  # the first with both sides: the rest would only cost time
    if not candidates:
        return Examples()
    candidates.sort(key=lambda one: -one[0])
    _, best, best_grounding = candidates[0]
    paper = next((one.document for one in (*best_grounding.contradicting, *best_grounding.supporting)), best.document)
    return Examples((best, *(one for one in statements if one != best))[:KEPT], best_grounding, paper)


def _measure_interest(grounding: Grounding) -> float:
    """Score a grounding: highest for papers on both sides, then for contradictions, then for any papers."""
    places = [one.place for one in place_papers(grounding) if not one.evidence.document.retracted]
    against, for_it = places.count("contradict"), places.count("support")
    return BOTH * (against > 0 and for_it > 0) + 2 * against + for_it + 0.5 * places.count("uncertain")
