"""Papers that report one trial: what tells it, and what only looks like it."""

from __future__ import annotations

import pytest

from counterpoint.nli.text.trials import name_trials
from counterpoint.retrieval.core.values import Document

TRIAL = ("Randomized Controlled Trial",)


def papers(*texts: tuple[str, str], types: tuple[str, ...] = TRIAL) -> list[Document]:
    return [Document(str(place), title, abstract, types=types) for place, (title, abstract) in enumerate(texts, 1)]


@pytest.mark.parametrize(
    ("one", "other", "name"),
    [
        (("Zeta in gout", "Fewer attacks. NCT01234567."), ("Zeta and kidneys", "Fewer stones (NCT 01234567)."), "NCT01234567"),
        (("Zeta in gout: the ZEPHYR trial", "Fewer."), ("Pain in the Zeta for Pain Relief Study (ZEPHYR)", "Less."), "ZEPHYR"),
        (("Zeta in gout", "In the ZEPHYR trial, 3,417 people took zeta."), ("Zeta", "ZEPHYR trial: 3417 people."), "ZEPHYR"),
        (("Zeta in gout", "Of 3417 people 1709 took zeta."), ("Zeta: costs", "3 417 people, 1,709 on zeta."), "the trial of 1"),
    ],
)
def test_reports_of_one_trial_share_its_name(one: tuple[str, str], other: tuple[str, str], name: str) -> None:
    assert name_trials(papers(one, other, ("Zeta", "It helps."))) == [name, name, ""]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("Zeta in gout: the ZEPHYR trial", "NCT01234567"), ("Zeta and kidneys: the ZEPHYR trial", "NCT07654321")),
        (("Zeta in gout", "Attacks fell. NCT01234567."), ("Two trials pooled", "NCT01234567 and NCT07654321.")),
        (("A PET study of zeta", "It binds."), ("Binding of zeta: a PET study", "It binds.")),
        (("A phase III trial of zeta", "Fewer."), ("Zeta: a phase III trial", "Fewer.")),
        (("Zeta in gout", "1,000 people for 250 days in 2014."), ("Zeta", "1000 people in 2014, 250 days.")),
        (("Zeta in gout", "3417 people took it."), ("Zeta again", "3417 others took it.")),
        (("Zeta in gout. doi 10.1007/s13012-0153", "Fewer."), ("Zeta", "Fewer. 10.1007/s13012-0153")),
    ],
)
def test_what_may_be_chance_keeps_papers_apart(one: tuple[str, str], other: tuple[str, str]) -> None:
    assert name_trials(papers(one, other)) == ["", ""]


def test_a_review_is_no_report_of_the_trials_that_it_names() -> None:
    texts = ("Zeta in gout: the ZEPHYR trial", "Fewer."), ("The ZEPHYR trial in context", "All agree.")
    assert name_trials([*papers(texts[0]), *papers(texts[1], types=("Systematic Review",))]) == ["", ""]


def test_papers_are_joined_by_what_either_shares_with_a_third() -> None:
    trial = papers(
        ("Zeta: the ZEPHYR trial", "NCT01234567"), ("Gout: the ZEPHYR trial", "Fewer."), ("Zeta and stones", "NCT01234567"),
    )  # fmt: skip
    assert name_trials(trial) == ["ZEPHYR"] * 3


def test_a_paper_published_twice_is_one_study_a_review_too() -> None:
    said = " ".join(f"word{n}" for n in range(60))
    twice = (("Zeta in gout", f"{said} It helps."), ("Zeta for gout", f"{said} Fewer attacks."))
    assert name_trials(papers(*twice, ("Eta", f"{said[:200]} no more."), types=("Review",))) == [*["the trial of 1"] * 2, ""]
