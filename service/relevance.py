"""Whether documents are about a question at all: an absolute measure, where a ranking only says which is the better one."""

from __future__ import annotations

from collections.abc import Sequence

from retrieval.aboutness import share, words
from retrieval.subject import subject


def about(question: str, texts: Sequence[str]) -> list[float]:
    """For each text the share of the question's telling words that it holds, weighted by their rarity, 0 to 1."""
    wanted = subject(question)
    return [share(wanted, words(text)) for text in texts]
