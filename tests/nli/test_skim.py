"""Skimming: which of many premises a judge is asked about."""

from __future__ import annotations

from nli.decision.skim import choose_most_promising
from retrieval.core.values import Premise

CLAIM = "Hydrocortisone reduces mortality in septic shock."


def test_those_that_share_rare_words_are_kept_in_their_order() -> None:
    premises = [
        (0, Premise("The weather was fine.", "A title")),
        (1, Premise("Hydrocortisone was given.", "A title")),
        (2, Premise("Nothing of the kind.", "Hydrocortisone in septic shock")),
        (3, Premise("Hydrocortisone did not change mortality in septic shock.", "A title")),
    ]
    assert choose_most_promising(CLAIM, premises, 2) == [2, 3]
    assert choose_most_promising(CLAIM, premises, 1) == [3]
    assert choose_most_promising(CLAIM, premises, 9) == [0, 1, 2, 3]


def test_of_equals_the_better_ranked_is_kept() -> None:
    same = Premise("Septic shock was treated.", "A title")
    assert choose_most_promising(CLAIM, [(rank, same) for rank in range(50)], 3) == [0, 1, 2]


def test_nothing_to_share_is_no_error() -> None:
    assert choose_most_promising("of the and", [(0, Premise("a")), (1, Premise("b"))], 1) == [0]
