"""A question is met by a paper that says the same in other words, and by no paper that says something near it."""

from __future__ import annotations

import pytest

from retrieval.core.values import Document
from retrieval.words.terms import find_subject, weigh_shared_terms
from service.answering.open_questions import drop_study_group
from service.answering.retrieve import is_same_kind


def test_other_words_for_the_same_are_held() -> None:
    question = "Does aspirin prevent heart attacks?"
    wanted = find_subject(question)
    assert weigh_shared_terms(question, wanted, "Acetylsalicylic acid prevents myocardial infarction") == 1.0
    assert weigh_shared_terms(question, wanted, "Acetylsalicylic acid in the kitchen") < 0.6


def test_a_class_is_met_by_its_members_and_a_member_by_no_other() -> None:
    text = "Paroxetine and obsessions"
    for question, share in (("Do SSRIs help?", 1.0), ("Does fluoxetine help?", 0.0), ("Does paroxetine help?", 1.0)):
        assert weigh_shared_terms(question, find_subject(question), text) == share


def test_patients_words_meet_those_of_papers() -> None:
    for question, text in (
        ("Do water pills help a weak heart?", "Furosemide in congestive heart failure"),
        ("Does having tonsils out cure bad sleep in kids?", "Adenotonsillectomy and sleep quality in pediatric patients"),
        ("Does music ease the pain afterwards?", "Relief of postoperative soreness by musical intervention"),
    ):
        assert weigh_shared_terms(question, find_subject(question), text) > 0.5, question


def test_a_name_of_several_words_is_met_as_a_whole() -> None:
    question = "Does zeta help people with stomach cancer live longer?"
    wanted, text = find_subject(question), "Zeta for gastric carcinoma"
    assert weigh_shared_terms(question, wanted, text) > weigh_shared_terms(question, wanted, "Zeta for cancer")


@pytest.mark.parametrize("question", ["Does zeta clear H. pylori?", "Do antibodies to H. pylori cause gout?"])
def test_the_letter_of_a_genus_does_not_belong_to_the_word_before_it(question: str) -> None:
    wanted = {"pylori": 1.0}
    assert weigh_shared_terms(question, wanted, "H. pylori was eradicated in half of the sailors.") == 1.0
    assert weigh_shared_terms(question, wanted, "Helicobacter pylori was eradicated in half of the sailors.") == 1.0


def test_vitamin_c_is_not_vitamin_e() -> None:
    question = "Does vitamin E help?"
    assert weigh_shared_terms(question, find_subject(question), "A trial of vitamin E in sailors") == 1.0
    assert weigh_shared_terms(question, find_subject(question), "A trial of vitamin C, with the letter E") == 0.0


def test_a_study_group_that_signs_a_title_is_not_what_was_studied() -> None:
    assert drop_study_group("Outcomes in sailors. Zeta for Gout Study Group.") == "Outcomes in sailors."
    assert drop_study_group("Zeta for gout in a group of sailors.") == "Zeta for gout in a group of sailors."


def test_a_study_in_animals_answers_only_what_is_asked_of_animals() -> None:
    mice = Document("1", "Zeta in obese mice", "")
    assert not is_same_kind("Does zeta lower weight?", mice)
    assert is_same_kind("Does zeta lower weight in mice?", mice)


def test_those_whom_a_question_compares_with_need_not_be_in_the_title() -> None:
    patients = Document("1", "Weight of patients with gout", "")
    assert is_same_kind("Do people with gout weigh more than healthy people?", patients)
    assert not is_same_kind("Do healthy people with many sisters weigh more than others?", patients)
