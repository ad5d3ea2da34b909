"""Fitting the certainty of a verdict: what was put in comes out again."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from eval.answers.leads import FEWEST, KnownQuestion, Led, fit_certainty
from retrieval.core.errors import BadInput
from service.grounding.weigh import AGREEMENT


def made(count: int) -> tuple[list[KnownQuestion], list[Led]]:
    """As many questions of yes as of no, whose papers' log odds lie around 2 and -2."""
    random = np.random.default_rng(7)
    asked, found = [], []
    for number in range(count):
        yes = number % 2 == 0
        support = 1 / (1 + math.exp(-float(random.normal(2.0 if yes else -2.0, 2.0))))
        asked.append(KnownQuestion(str(number), "Does zeta help?", "yes" if yes else "no", ("1",)))
        found.append(Led(str(number), "yes" if support > 0.5 else "no", 0.5, 1, True, (support, 0.0, 1 - support), True))
    return asked, found


def test_the_certainty_is_the_share_of_leads_that_are_right() -> None:
    line = fit_certainty(*made(600))
    constant, agreement, strongest = map(float, re.findall(r"-?\d+\.\d+", line))
    assert line.endswith("# fitted on 600 leads")
    assert agreement == pytest.approx(AGREEMENT, abs=0.01), "with one paper a question, nothing opposes it"
    # At a margin of 2 the normal distributions above make the side e^2 times as likely to be right as wrong.
    sure = 1 / (1 + math.exp(-(constant + agreement + strongest * 2.0)))
    assert sure == pytest.approx(1 / (1 + math.exp(-2.0)), abs=0.08)


def test_too_few_leads_or_only_right_ones_fit_nothing() -> None:
    for asked, found in (made(FEWEST - 2), ([], [])):
        with pytest.raises(BadInput, match="fit no certainty"):
            fit_certainty(asked, found)
    asked, found = made(4 * FEWEST)
    right = [place for place, one in enumerate(asked) if one.answer == found[place].verdict]
    with pytest.raises(BadInput, match="right and wrong ones"):
        fit_certainty([asked[place] for place in right], [found[place] for place in right])
