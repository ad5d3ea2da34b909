"""What a question is about: its words without those that merely phrase a question."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from retrieval.core.word_list import read_word_list
from retrieval.words.aboutness import find_rare_words
from retrieval.words.lexical import split_terms

_WORDS = Path(__file__).with_name("asking.txt")


def find_subject(question: str) -> dict[str, float]:
    """The terms of a question that show what it is about, with their rarity (retrieval.words.aboutness)."""
    return {term: weight for term, weight in find_rare_words(question).items() if term not in _load_asking_terms()}


@cache
def _load_asking_terms() -> frozenset[str]:
    """Terms that say nothing about a subject: "What is the best treatment for …", "The patient would like to know …"."""
    return frozenset(term for line in read_word_list(_WORDS) for term in split_terms(line))
