"""Whether documents are about a question at all: an absolute measure, whereas a ranking only says which is better."""

from __future__ import annotations

from collections.abc import Sequence

from nli.text.designs import ANIMAL, find_design, names_animals, studied_others
from retrieval.core.values import Document
from retrieval.words.terms import find_subject, weigh_shared_terms


def about(question: str, texts: Sequence[str]) -> list[float]:
    """The share of the question's informative words that each text contains, in the same or other words, 0 to 1.

    Words are weighted by their rarity.
    """
    wanted = find_subject(question)
    return [weigh_shared_terms(question, wanted, text) for text in texts]


def is_same_kind(question: str, document: Document) -> bool:
    """Whether a paper studied those whom the question is about, apart from those with whom it compares them.

    A paper on animals or cells answers only a question that names them; one on adults answers none on children.
    """
    same = find_design(document).name != ANIMAL or names_animals(question)
    return same and not studied_others(question, document.title)
