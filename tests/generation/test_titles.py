"""What a title asks: a question in English that can be asked again, or nothing."""

from __future__ import annotations

import pytest

from counterpoint.generation.titles import ask_title


@pytest.mark.parametrize(
    ("title", "question"),
    [
        ("Zetapril for the prevention of stroke: a randomised trial.", "Does zetapril prevent stroke?"),
        ("Efficacy and safety of statins in elderly patients", "Are statins effective in elderly patients?"),
        (
            "The effect of a combination of zeta and eta on bone density",
            "Does a combination of zeta and eta affect bone density?",
        ),
        ("Effects of zeta and eta on sleep in shift workers: a pilot study", "Do zeta and eta affect sleep in shift workers?"),
        ("Zetamab versus etamab for psoriasis", "Is zetamab better than etamab for psoriasis?"),
        ("A Double-Blind Trial of Zetapril to Reduce Relapse in Gout", "Does zetapril reduce relapse in gout?"),
        ("Association between coffee and bladder cancer", "Is coffee associated with bladder cancer?"),
        ("Do antibiotics shorten otitis? A cohort study", "Do antibiotics shorten otitis?"),
        ("[Obesity as an independent risk factor for gout].", "Is obesity a risk factor for gout?"),
    ],
)
def test_a_title_asks(title: str, question: str) -> None:
    assert ask_title(title, "In this trial, zetapril and coffee were given to patients with gout.") == question


@pytest.mark.parametrize(
    "title",
    [
        "Treatment of hypertension in the elderly",
        "Zeta is effective in treating ulcers",
        "Guidelines for the prevention of stroke",
        "Gout: is it rising?",
        "Efficacy of zetapril or etapril in asthma",
        "Toxicity of zeta versus eta in gout",
        "Effect of zetapril on pressure in 24 patients",
        "",
        "?",
    ],
)
def test_a_title_that_no_rule_is_sure_of_asks_nothing(title: str) -> None:
    assert ask_title(title, "") == ""


def test_capitals_of_a_title_go_and_names_keep_theirs() -> None:
    abstract = "Patients with Parkinson disease took levodopa; in Parkinson disease, sleep is poor."
    assert ask_title("Levodopa for Preventing Falls in Parkinson Disease", abstract) == (
        "Does levodopa prevent falls in Parkinson disease?"
    )
