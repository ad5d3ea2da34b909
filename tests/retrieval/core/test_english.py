"""Counts, verbs and lists of words in sentences."""

from __future__ import annotations

import pytest

from counterpoint.retrieval.core.english import choose_form, format_count, list_words


@pytest.mark.parametrize(("count", "said"), [(0, "0 papers"), (1, "1 paper"), (2, "2 papers"), (2000, "2,000 papers")])
def test_a_count_agrees_with_its_noun(count: int, said: str) -> None:
    assert format_count(count, "paper") == said


def test_a_plural_can_be_irregular() -> None:
    assert format_count(3, "reply", "replies") == "3 replies"
    assert choose_form(1, "is", "are") == "is"


@pytest.mark.parametrize(("words", "said"), [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")])
def test_words_make_a_list(words: list[str], said: str) -> None:
    assert list_words(words) == said
