"""How a paper studied its question: by its types, else by its words."""

from __future__ import annotations

import pytest

from nli.text.designs import are_comparable, find_design, has_findings, names_animals
from nli.text.populations import differ_in_people
from nli.text.subjects import find_subjects
from retrieval.core.values import Document


@pytest.mark.parametrize(
    ("title", "abstract", "types", "name"),
    [
        ("Zeta", "Adults took zeta.", ("Randomized Controlled Trial",), "trial"),
        ("Zeta in gout: a meta-analysis", "", (), "review"),
        ("Zeta in gout", "Adults were randomly assigned to zeta or placebo.", (), "trial"),
        ("Zeta for gout: study protocol for a randomised trial", "", (), "protocol"),
        ("Zeta for gout: rationale, design and baseline characteristics of a trial", "", (), "protocol"),
        ("Zeta in gout", "The results of this study will show whether zeta works.", (), "protocol"),
        ("Zeta in gout", "Eligible patients will be randomised to zeta or placebo.", (), "protocol"),
        ("Zeta in gout", "Adults were randomly assigned. The results of this trial will be useful.", (), "trial"),
        ("Zeta in obese mice", "Mice were randomised.", (), "animal"),
        ("Zeta in gout", "We followed a cohort of sailors.", (), "cohort"),
        ("Zeta in gout", "We report a case of gout.", (), "case"),
        ("Zeta in gout", "Zeta is a drug.", (), "other"),
    ],
)
def test_a_paper_has_one_design(title: str, abstract: str, types: tuple[str, ...], name: str) -> None:
    assert find_design(Document("1", title, abstract, types=types)).name == name


def test_trials_and_reviews_can_disagree_and_a_case_with_no_trial() -> None:
    kinds = {
        name: find_design(Document("1", title, ""))
        for name, title in {"trial": "A randomised trial", "review": "A meta-analysis", "case": "A case of gout"}.items()
    }
    assert are_comparable(kinds["trial"], kinds["review"])
    assert not are_comparable(kinds["trial"], kinds["case"])
    assert not are_comparable(find_design(Document("1", "Zeta: study protocol", "")), kinds["trial"])


def test_a_protocol_has_no_findings() -> None:
    assert not has_findings(Document("1", "Zeta: study protocol", "Zeta may lower pressure."))
    assert has_findings(Document("1", "Zeta in sailors", "Zeta lowered pressure."))


def test_a_question_may_name_animals() -> None:
    assert names_animals("Does zeta lower weight in mice?")
    assert not names_animals("Does zeta lower weight in sailors?")


@pytest.mark.parametrize(
    ("title", "abstract", "subjects"),
    [
        ("Zeta in hypertension", "We gave 40 patients zeta.", "humans"),
        ("Zeta lowers pressure in rats", "Patients may profit.", "animals"),
        ("Zeta binds to its receptor", "The structure was solved.", "unknown"),
    ],
)
def test_people_and_animals_are_told_apart(title: str, abstract: str, subjects: str) -> None:
    assert find_subjects(Document("1", title, abstract)) == subjects


@pytest.mark.parametrize(
    ("one", "other", "differ"),
    [
        ("Zeta in children", "Zeta in elderly patients", True),
        ("Zeta in pregnant women", "Zeta in older men", True),
        ("Zeta in healthy volunteers", "Zeta in patients with gout", True),
        ("Zeta in children and adults", "Zeta in older women", False),
        ("Zeta in women", "Zeta: a randomised trial", False),
        ("Zeta", "Eta", False),
    ],
)
def test_titles_differ_where_they_name_groups_and_share_none(one: str, other: str, differ: bool) -> None:
    assert differ_in_people(one, other) is differ
    assert differ_in_people(other, one) is differ
