"""Fitting the leaning and the certainty of leads: what was put in comes out again."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from eval.answers.fitting import FEWEST, fit
from eval.answers.leads import KnownQuestion, Led
from retrieval.core.errors import BadInput
from retrieval.core.values import Verdict
from service.answering.reading import remove_leaning
from service.configuration.answers import LeadStep, load_answer_config


def step(**changes: Any) -> LeadStep:
    known = load_answer_config("counterpoint").lead
    assert known is not None
    return known.model_copy(update=changes)


def made(count: int, leans: float, known: float = 0.0) -> tuple[list[KnownQuestion], list[Led]]:
    """As many questions of yes as of no, whose margins lie around 2 and -2, moved by `leans`, and read with `known` taken out."""
    random = np.random.default_rng(7)
    asked, found = [], []
    for number in range(count):
        yes = number % 2 == 0
        margin = float(random.normal(2.0 if yes else -2.0, 2.0)) + leans
        support = 1 / (1 + math.exp(-margin))
        verdict = remove_leaning(Verdict(support, 0.0, 1 - support), known)
        said = verdict.leaning == "support"
        asked.append(KnownQuestion(str(number), "Does zeta help?", "yes" if yes else "no", ("1",)))
        whole = (verdict.support, verdict.neutral, verdict.contradict)
        found.append(Led(str(number), "yes" if said else "no", 0.5, 1, True, whole, True))
    return asked, found


@pytest.mark.parametrize("known", [0.0, 0.9])
def test_the_leaning_is_found_whatever_was_taken_out_before(known: float) -> None:
    fitted = fit(*made(400, 1.5, known), step(leaning=known))
    assert fitted.leaning == pytest.approx(1.5, abs=0.4)
    assert fitted.questions == 400


def test_the_certainty_is_the_share_of_leads_that_are_right() -> None:
    asked, found = made(400, 0.0)
    by = fit(asked, found, step(leaning=0.0)).certainty
    assert by.agreement == step().certainty.agreement
    assert by.strongest > 0
    # At a margin of 2 the normal distributions above make yes e^2 times as likely as no.
    sure = 1 / (1 + math.exp(-(by.constant + by.agreement + by.strongest * 2.0)))
    assert sure == pytest.approx(1 / (1 + math.exp(-2.0)), abs=0.08)


def test_too_few_questions_or_one_answer_fit_nothing() -> None:
    asked, found = made(FEWEST - 2, 0.0)
    with pytest.raises(BadInput, match="fit nothing"):
        fit(asked, found, step())
    asked, found = made(2 * FEWEST, 0.0)
    with pytest.raises(BadInput, match="fit nothing"):
        fit(asked[::2], found[::2], step())


def test_the_lines_can_be_written_into_the_configuration() -> None:
    leaning, certainty = fit(*made(400, 1.5), step(leaning=0.0)).lines()
    assert leaning.startswith("leaning: 1.")
    assert certainty.startswith("certainty: {constant: ")
