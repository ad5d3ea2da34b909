"""How a paper studied its question: by its types, else by a model of its words."""

from __future__ import annotations

import pytest

from counterpoint.nli.text.designs import differ_in_people, find_design, find_subjects, has_findings, is_notice
from counterpoint.retrieval.core.values import Document, Notice


@pytest.mark.parametrize(
    ("title", "abstract", "types", "name"),
    [
        ("Zeta", "Adults took zeta.", ("Randomized Controlled Trial",), "trial"),
        ("Zeta in mice", "Mice took zeta.", ("Review",), "opinion"),
        ("Zeta in gout: a meta-analysis", "", (), "review"),
        (
            "Zeta for gout: a systematic review",
            "We searched MEDLINE for randomised trials. Nine trials were included in the meta-analysis.",
            (),
            "review",
        ),
        (
            "Zeta in gout: a double-blind trial",
            "Patients were randomly assigned to zeta or placebo for six weeks. Zeta was better than placebo.",
            (),
            "trial",
        ),
        (
            "Zeta for gout: study protocol for a randomised controlled trial",
            "Two hundred patients will be randomised. The trial will show whether zeta works.",
            (),
            "protocol",
        ),
        ("Zeta in obese mice", "Mice were fed zeta. Gene expression in the liver was measured.", (), "animal"),
        (
            "Zeta and gout: a prospective cohort study",
            "We followed 2,000 sailors for 10 years. Hazard ratios were adjusted for age. Zeta was associated with gout.",
            (),
            "cohort",
        ),
        ("Severe gout after zeta: a case report", "A 45-year-old man developed gout after taking zeta.", (), "case"),
        ("Zeta. A review of its use in gout", "In clinical trials, zeta prevented gout. It is well tolerated.", (), "opinion"),
        ("Zeta in gout: a randomized study", "Forty patients were compared in an open-label, single-center study.", (), "trial"),
        (
            "Zeta in gout: a non-randomised clinical trial",
            "Forty patients took zeta in an open-label study. Pain before and after treatment was compared.",
            (),
            "nonrandomised",
        ),
        ("Zeta in gout", "A retrospective cohort of sailors.", (), "cohort"),
        ("Zeta use among sailors", "A cross-sectional survey of 300 sailors was done by questionnaire.", (), "survey"),
        ("Zeta in gout", "Zeta is a drug.", (), "other"),
        ("Zeta", "", (), "other"),
    ],
)
def test_a_paper_has_one_design(title: str, abstract: str, types: tuple[str, ...], name: str) -> None:
    assert find_design(Document("1", title, abstract, types=types)).name == name


NOTICES = [
    "Retraction: Zeta lowers blood pressure in adults",
    "Retraction for Smith et al., Zeta lowers blood pressure in adults",
    "Partial retraction: Zeta lowers blood pressure",
    "Notice of retraction: Zeta lowers blood pressure",
    "Statement of Retraction: Zeta lowers blood pressure",
    "Erratum for Smith et al., Zeta lowers blood pressure",
    "Published erratum: Zeta lowers blood pressure",
    "Publisher’s correction: Zeta lowers blood pressure",
    "Department of Error",
    "Expression of concern: Zeta lowers blood pressure",
    "Zeta lowers blood pressure [Retraction]",
    "Zeta lowers blood pressure – CORRIGENDUM",
]
PAPERS = [
    "RETRACTED: Zeta lowers blood pressure",
    "Retraction of canines with zeta wires: a randomized trial",
    "Correction of anemia with zeta in kidney disease",
    "Refractive correction: zeta lenses or none",
    "Errata in drug leaflets and zeta",
    "Zeta for canine retraction",
]


@pytest.mark.parametrize("title", NOTICES)
def test_a_notice_is_known_by_its_title(title: str) -> None:
    # The types of the paper that it is about, and its words, make no trial of it.
    document = Document("1", title, "Adults were randomly assigned to zeta.", types=("Randomized Controlled Trial",))
    assert (find_design(document).name, is_notice(document), has_findings(document)) == ("notice", True, False)


@pytest.mark.parametrize("title", PAPERS)
def test_a_paper_with_the_same_words_is_no_notice(title: str) -> None:
    assert not is_notice(Document("1", title, "Zeta lowered pressure."))


@pytest.mark.parametrize(
    ("types", "kind", "notice"),
    [
        (("Published Erratum",), "", True),
        (("Expression of Concern", "Letter"), "", True),
        ((), "RetractionOf", True),
        ((), "ExpressionOfConcernFor", True),
        (("Retracted Publication",), "RetractionIn", False),
        ((), "ErratumIn", False),
    ],
)
def test_a_notice_is_known_by_its_record(types: tuple[str, ...], kind: str, notice: bool) -> None:
    document = Document("1", "Zeta", "Zeta lowered pressure.", types=types, notices=(Notice(kind, "2"),) if kind else ())
    assert is_notice(document) is notice


@pytest.mark.parametrize(
    ("title", "abstract", "subjects"),
    [
        ("Zeta in hypertension", "We gave 40 patients zeta.", "humans"),
        ("Zeta lowers pressure in rats", "Rats were fed zeta. Gene expression in the heart was measured.", "animals"),
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
        ("Zeta in children", "Zeta in patients (aged 6–18 years)", False),
        ("Zeta", "Eta", False),
    ],
)
def test_titles_differ_where_they_name_groups_and_share_none(one: str, other: str, differ: bool) -> None:
    assert differ_in_people(one, other) is differ
    assert differ_in_people(other, one) is differ
