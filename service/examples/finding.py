"""Examples for an index: its statements are grounded until one has papers on both sides, and that one comes first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

from retrieval.core.values import Claim, Document, Grounding
from service.balance.weighing import place_papers
from service.examples.statements import Statement, find_statements
from service.grounding.ground import Grounder

SAMPLED, GROUNDED, KEPT = 400, 6, 5
"""Documents that are looked at, statements that are grounded, examples that are kept, each at most."""
BOTH = 10.0
"""The interest of a claim with papers on both sides."""


@dataclass(frozen=True, slots=True)
class Examples:
    """What a reader may begin with, the most telling first; empty where the index states nothing that stands alone.

    `grounding` is that of the first statement, `paper` a document that speaks to it.
    """

    statements: tuple[Statement, ...] = ()
    grounding: Grounding | None = None
    paper: Document | None = None


def find_examples(grounder: Grounder, ground: Callable[[Claim], Grounding] | None = None) -> Examples:
    """The examples of the grounder's index, the same ones each time; `ground` grounds a claim as the service does it."""
    stated = list(islice(find_statements(grounder.index.store.sample(SAMPLED)), GROUNDED + KEPT))
    found: list[tuple[float, Statement, Grounding]] = []
    for one in stated[:GROUNDED]:
        grounding = (ground or grounder.ground)(Claim(one.claim))
        found.append((_measure_interest(grounding), one, grounding))
        if found[-1][0] >= BOTH:
            break  # the first that shows both sides: the rest would only cost time
    if not found:
        return Examples()
    found.sort(key=lambda one: -one[0])
    _, best, first = found[0]
    paper = next((one.document for one in (*first.contradicting, *first.supporting)), best.document)
    return Examples((best, *(one for one in stated if one != best))[:KEPT], first, paper)


def _measure_interest(grounding: Grounding) -> float:
    """More for papers on both sides, then for contradictions, then for any."""
    places = [one.place for one in place_papers(grounding) if not one.evidence.document.retracted]
    against, for_it = places.count("contradict"), places.count("support")
    return BOTH * (against > 0 and for_it > 0) + 2 * against + for_it + 0.5 * places.count("uncertain")
