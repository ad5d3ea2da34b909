"""Fit the constants of leads to another reader: its bias towards yes, and the calibration of its probabilities.

The fit uses questions whose answer and paper are known (`eval leads --given --fit`). The leaning is the margin of support over
contradiction at which yes and no are equally likely, with equal weight for both classes (a balanced logistic regression). The
certainty is the probability that a lead of yes or no is right, from the log odds of its strongest paper (Platt 1999). Where each
question has one paper, nothing opposes it: the weight of agreement between the sides cannot be estimated and stays as it is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.linear_model import LogisticRegression

from eval.answers.leads import KnownQuestion, Led
from retrieval.core.errors import BadInput
from retrieval.core.values import Verdict
from service.answering.reading import remove_leaning
from service.configuration.answers import Certainty, LeadStep

FEWEST = 30
"""The fewest yes or no questions, each with a paper that was read, that a fit needs."""


@dataclass(frozen=True, slots=True)
class FittedConstants:
    """The constants, and how many questions each was fitted on."""

    leaning: float
    certainty: Certainty
    questions: int
    leads: int

    def lines(self) -> list[str]:
        """The two lines for configs/answers/counterpoint.yaml."""
        by = self.certainty
        return [
            f"leaning: {self.leaning:.2f}  # fitted on {self.questions} questions",
            f"certainty: {{constant: {by.constant:.2f}, agreement: {by.agreement:.2f}, strongest: {by.strongest:.2f}}}  "
            f"# fitted on {self.leads} leads",
        ]


def fit(questions: Sequence[KnownQuestion], outcomes: Sequence[Led], step: LeadStep) -> FittedConstants:
    """The constants that fit these leads, which were made with the constants of `step`.

    Raises `BadInput` where there are too few questions, or where all have the same answer.
    """
    readings = [
        (one.answer == "yes", remove_leaning(Verdict(*outcome.whole), -step.leaning))
        for one, outcome in zip(questions, outcomes, strict=True)
        if outcome.whole and one.answer != "maybe"
    ]
    if len(readings) < FEWEST or len({yes for yes, _ in readings}) < 2:
        raise BadInput(
            f"{len(readings)} questions of yes or no whose paper was read fit nothing; at least {FEWEST} of both are needed."
        )
    leaning = _fit_leaning([yes for yes, _ in readings], [_margin(verdict) for _, verdict in readings])
    leads = [
        (one.answer == lead, strongest)
        for one, outcome in zip(questions, outcomes, strict=True)
        if outcome.whole and outcome.told
        for lead, strongest in [_lead(remove_leaning(Verdict(*outcome.whole), leaning - step.leaning))]
        if strongest >= step.takes
    ]
    return FittedConstants(leaning, _fit_certainty(leads, step.certainty), len(readings), len(leads))


def _fit_leaning(yes: Sequence[bool], margins: Sequence[float]) -> float:
    model = LogisticRegression(class_weight="balanced").fit(np.array(margins)[:, None], np.array(yes))
    slope, constant = float(model.coef_[0, 0]), float(model.intercept_[0])
    if slope <= 0:
        raise BadInput(
            "What the reader says has nothing to do with the known answers; check that the questions name their papers."
        )
    return -constant / slope


def _fit_certainty(leads: Sequence[tuple[bool, float]], certainty: Certainty) -> Certainty:
    if len(leads) < FEWEST or len({right for right, _ in leads}) < 2:
        raise BadInput(f"{len(leads)} leads of yes or no fit no certainty; at least {FEWEST}, right and wrong ones, are needed.")
    odds = np.array([[math.log(p / (1 - p))] for p in (min(max(one, 0.001), 0.999) for _, one in leads)])
    model = LogisticRegression().fit(odds, np.array([right for right, _ in leads]))
    constant = float(model.intercept_[0]) - certainty.agreement
    return Certainty(constant=constant, agreement=certainty.agreement, strongest=float(model.coef_[0, 0]))


def _margin(verdict: Verdict) -> float:
    return math.log(max(verdict.support, 1e-6) / max(verdict.contradict, 1e-6))


def _lead(verdict: Verdict) -> tuple[str, float]:
    """The lead that a paper with this verdict gives, and how probable its side is."""
    return ("yes", verdict.support) if verdict.leaning == "support" else ("no", verdict.contradict)
