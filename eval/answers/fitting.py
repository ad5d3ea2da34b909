"""Fit the certainty of a verdict to questions whose answer and paper are known (`eval leads --given --fit`).

The certainty is the probability that a lead of yes or no is right, from the log odds of its strongest paper (Platt 1999). Where
each question has one paper, nothing opposes it: the weight of agreement between the sides cannot be estimated and stays.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.linear_model import LogisticRegression

from eval.answers.leads import KnownQuestion, Led
from retrieval.core.errors import BadInput
from retrieval.core.probabilities import log_odds
from service.grounding.weigh import AGREEMENT

FEWEST = 30
"""The fewest leads of yes or no, right and wrong ones, that a fit needs."""


def fit_certainty(questions: Sequence[KnownQuestion], outcomes: Sequence[Led]) -> str:
    """The constants of `service.grounding.weigh`, as a line; raises `BadInput` where there are too few leads."""
    leads = [
        (one.answer == outcome.verdict, max(outcome.whole[0], outcome.whole[2]))
        for one, outcome in zip(questions, outcomes, strict=True)
        if outcome.whole and outcome.verdict in ("yes", "no")
    ]
    if len(leads) < FEWEST or len({right for right, _ in leads}) < 2:
        raise BadInput(f"{len(leads)} leads of yes or no fit no certainty; at least {FEWEST}, right and wrong ones, are needed.")
    odds = np.array([[log_odds(likely, 0.001)] for _, likely in leads])
    model = LogisticRegression().fit(odds, np.array([right for right, _ in leads]))
    constant, strongest = float(model.intercept_[0]) - AGREEMENT, float(model.coef_[0, 0])
    return f"CONSTANT, AGREEMENT, STRONGEST = {constant:.2f}, {AGREEMENT:.2f}, {strongest:.2f}  # fitted on {len(leads)} leads"
