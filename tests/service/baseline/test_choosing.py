"""The paper's penalised score (arXiv 2603.17580, appendix B)."""

from __future__ import annotations

import pytest

from counterpoint.retrieval.core.values import Premise, Verdict
from counterpoint.service.baseline.choosing import choose_most_promising, order_penalised, penalise


def test_the_worked_example_of_appendix_b() -> None:
    # The paper rounds both means, (0.99 + 0.00) / 2 and (0.01 + 1.00) / 2, to 0.50 and counts one cue.
    assert penalise(0.50, 0.50, 1) == pytest.approx(0.267, abs=5e-4)
    assert penalise(0.0, 0.0, 9) == pytest.approx(0.1), "more than six cues count as six"


def test_those_above_the_floor_lead_and_the_rest_is_backfill() -> None:
    verdicts = [Verdict(0.0, 0.7, 0.30), Verdict(0.6, 0.0, 0.40), Verdict(0.0, 0.64, 0.36), Verdict(0.0, 1.0, 0.0)]
    places = [place for place, _ in order_penalised(verdicts, [6, 0, 0, 0])]
    assert places == [2, 1, 0, 3], "0.30 with six cues scores 0.40, more than 0.10 and 0.36, and stays behind the floor"


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
