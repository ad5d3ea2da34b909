"""What a paper must mention to be cited for a sentence."""

from __future__ import annotations

import pytest

from generation.replies.mentions import find_missing_content, find_other_figures
from retrieval.core.values import Document

PAPER = Document(
    "1",
    "Exercise and cortisol in men with HIV",
    "Six weeks of moderate exercise lowered salivary cortisol by 22.6 % in 1,250 men. Performance improved in twelve weeks.",
)


@pytest.mark.parametrize(
    ("sentence", "missing"),
    [
        ("Moderate exercise can lower cortisol in the saliva of men with HIV.", ""),
        ("In 1250 men, exercise lowered salivary cortisol by 23 % within 12 weeks.", ""),
        ("Exercise lowered salivary cortisol in men by 30 %.", "does not give the figure 30"),
        ("Caffeine raises salivary cortisol in men who exercise.", "does not mention Caffeine"),
        ("A consultation with professional advisers offers personalised guidance against cortisol.", "has too few of its words"),
    ],
)
def test_names_figures_and_most_words_must_be_there(sentence: str, missing: str) -> None:
    assert find_missing_content(sentence, PAPER) == missing


def test_a_figure_may_be_rounded_but_not_made_more_exact() -> None:
    assert find_other_figures("It fell by 3 mm and 0.9 cm.", "It fell by 2.7 mm and 0.94 cm.") == ()
    assert find_other_figures("It fell by 2.71 mm.", "It fell by 2.7 mm.") == ("2.71",)
    assert find_other_figures("It cost 39,000 or 40.", "It cost 38,879 or 39.") == ("40",)
    assert find_other_figures("It was 65 % less likely.", "The odds ratio was 0.35.") == ()
    assert find_other_figures("It fell in type-2 disease by three.", "It fell.") == ()
