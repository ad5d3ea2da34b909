"""Outcome families: sentences that call one outcome better, worse or unchanged, filled with drugs, genes, exposures or a pair.

Both labels use the same words in equal numbers, so that no word alone gives the label away.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from counterpoint.nli.training.reader.lesson import CONTRADICT, NEUTRAL, SUPPORT, Lesson, make_short
from counterpoint.retrieval.core.word_list import read_sections
from counterpoint.retrieval.words.forms import capitalise

FACTORS = Path(__file__).with_name("factors.txt")


def make_family_lessons(outcomes: Sequence[dict[str, Any]], count: int, rng: random.Random) -> Iterator[Lesson]:
    """A claim and a sentence about one outcome in different words; now and then with another factor or outcome (neutral)."""
    factors, sides = read_sections(FACTORS), ("better", "worse", "null")
    outcomes_by_factor: dict[str, list[dict[str, Any]]] = {}
    for outcome in outcomes:
        outcomes_by_factor.setdefault(outcome.get("factor", "drug"), []).append(outcome)

    def fill(phrase: str, first: str, second: str) -> str:
        text = phrase.replace("{X}", first).replace("{Y}", second)
        return f"{capitalise(text)}."

    for _ in range(count):
        outcome = rng.choice(outcomes)
        kind = outcome.get("factor", "drug")
        factor, rival, stranger = rng.sample(factors[kind], 3)
        mine = rng.choice(sides)
        claim_side = rng.choices(sides, (0.4, 0.4, 0.2))[0]
        first = rng.choice(outcome[claim_side])
        draw = rng.random()
        if draw < 0.13:
            other = rng.choice([one for one in outcomes_by_factor[kind] if one is not outcome])
            second, label = fill(rng.choice(other[mine]), factor, rival), NEUTRAL
        elif draw < 0.2:
            second, label = fill(rng.choice(outcome[mine]), stranger, rival), NEUTRAL
        else:
            if draw < 0.4:
                # About a third of the other draws agree by chance, so support and contradiction are equally frequent.
                mine = claim_side
            rest = [phrase for phrase in outcome[mine] if phrase != first]
            second, label = fill(rng.choice(rest), factor, rival), SUPPORT if mine == claim_side else CONTRADICT
        yield make_short(fill(first, factor, rival), second, "", label, "families")
