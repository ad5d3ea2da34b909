"""Find the abstract of a paper whose source does not mark it: a list of sentences, or text without the heading.

The authors' own summary provides most of what is chosen as evidence, so a paper should not lose it for lack of a heading. Three
layouts are handled: a structured abstract, which goes through the kinds of section once before the paper does; sentences before
the introduction's heading; and sentences before the first other heading, of which the first are the abstract and the rest are an
introduction without a heading.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nli.text.headings import Part, find_heading_kind
from nli.text.roles import ROLES, load_role_model, locate_stretch

LONGEST = 25
"""The most sentences that an abstract may have, headings included."""
_LONGEST_CONCLUSION = 2
"""The most sentences that a conclusion may have where nothing marks its end."""
SHORTEST = 3
"""The fewest sentences that an unmarked abstract must have."""
_BACKGROUND = 0.17
"""The share of background among the sentences that the role model was trained on (1,959 of 11,182 in PubMedQA)."""


def find_abstract_end(text: str, parts: Sequence[Part]) -> int:
    """The number of parts up to the end of the abstract, including any that precede it; 0 where no abstract is recognised."""
    headings = [(row, find_heading_kind(text[part.start : part.end])) for row, part in enumerate(parts) if part.heading]
    sections = [(row, kind) for row, kind in headings if kind and kind != "other"]
    if not sections:
        return 0
    end = _find_structured_end(sections, parts)
    if end:
        return end
    first, kind = sections[0]
    if kind == "introduction":
        return first if first <= LONGEST else 0
    return _find_end_before_introduction(text, parts[:first])


def _find_structured_end(sections: Sequence[tuple[int, str | None]], parts: Sequence[Part]) -> int:
    """The end of a structured abstract: results and a short conclusion, before any section that is marked as one."""
    kinds: list[str | None] = []
    for at, (row, kind) in enumerate(sections):
        if row > LONGEST or parts[row].marked:
            return 0
        kinds.append(kind)
        if kind in ("conclusion", "discussion") and "results" in kinds:
            next_row = sections[at + 1][0] if at + 1 < len(sections) else len(parts)
            return min(next_row, row + 1 + _LONGEST_CONCLUSION)
    return 0


def _find_end_before_introduction(text: str, parts: Sequence[Part]) -> int:
    """The likeliest end of an abstract followed by an introduction, by the role of each sentence.

    An abstract's sentences have the roles typical of their positions, an introduction's give background; each term is a
    likelihood ratio against a sentence about which nothing is known.
    """
    sentences = [(row, part) for row, part in enumerate(parts) if not part.heading]
    if len(sentences) < SHORTEST:
        return 0
    model = load_role_model()
    shares = np.array([model.score_text(text[part.start : part.end]) for _, part in sentences])
    behind = np.log(np.maximum(shares[:, ROLES.index("background")], 1e-6) / _BACKGROUND)
    place = np.exp(model.places.astype(np.float64))

    def fit(end: int) -> float:
        likelihoods = (shares[:end] * place[[locate_stretch(row, end) for row in range(end)]]).sum(axis=1)
        return float(np.log(np.maximum(likelihoods, 1e-6)).sum() + behind[end:].sum())

    best = max(range(SHORTEST, min(LONGEST, len(sentences)) + 1), key=lambda end: (fit(end), -end))
    return sentences[best - 1][0] + 1
