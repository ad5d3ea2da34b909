"""British and American spellings mean the same, and words that only look alike are left alone."""

from __future__ import annotations

import pytest

from retrieval.words.forms import add_other_forms, unify_text
from retrieval.words.lexical import split_terms
from retrieval.words.spelling import americanise, americanise_text, list_british_forms


@pytest.mark.parametrize(
    ("written", "form"),
    [
        ("diarrhoea", "diarrhea"), ("haemoglobin", "hemoglobin"), ("ischaemic", "ischemic"), ("anaesthesia", "anesthesia"),
        ("oesophageal", "esophageal"), ("leukaemia", "leukemia"), ("tumours", "tumors"), ("paediatric", "pediatric"),
        ("randomised", "randomized"), ("hospitalisation", "hospitalization"), ("analysed", "analyzed"), ("centred", "centered"),
        ("multicentre", "multicenter"), ("anaesthetised", "anesthetized"), ("gastrooesophageal", "gastroesophageal"),
        ("programme", "program"), ("fibre", "fiber"), ("sulphate", "sulfate"), ("behavioural", "behavioral"),
    ],
)  # fmt: skip
def test_a_british_word_has_its_american_form(written: str, form: str) -> None:
    assert americanise(written) == form
    assert americanise(form) == form


@pytest.mark.parametrize(
    "word", "exercise rise premise organism metabolism emphasis analyses them theme mechanism program".split()
)
def test_a_word_that_only_looks_british_stays(word: str) -> None:
    assert americanise(word) == word


def test_a_text_keeps_its_capitals_and_everything_else() -> None:
    assert (
        americanise_text("Haemorrhage (3.5%) after randomised DIARRHOEA-control.")
        == "Hemorrhage (3.5%) after randomized Diarrhea-control."
    )


def test_a_word_is_found_in_its_other_spelling() -> None:
    assert list_british_forms("diarrhea") == ("diarrhoea",)
    assert list_british_forms("mechanism") == ()


def test_a_query_gets_the_other_spelling_of_its_words_once() -> None:
    assert add_other_forms("Probiotics prevent diarrhoea") == "Probiotics prevent diarrhea diarrhoea"
    assert add_other_forms("anemia and anaemia") == "anemia and anemia anaemia"
    assert add_other_forms("Zinc shortens colds") == "Zinc shortens colds"


def test_a_query_is_searched_alike_in_every_spelling() -> None:
    spelt = ["gastro-oesophageal", "gastro-esophageal", "gastrooesophageal", "gastroesophageal"]
    assert len({add_other_forms(f"Proton pumps and {word} reflux") for word in spelt}) == 1


def test_two_spellings_are_one_term() -> None:
    assert split_terms("Tumours in anaemic children") == split_terms("Tumors in anemic children")


@pytest.mark.parametrize("word", ["angioedema", "xenoestrogen", "tracheoesophageal", "hypothesis", "analyses"])
def test_an_american_word_that_holds_a_british_part_stays(word: str) -> None:
    assert americanise(word) == word


@pytest.mark.parametrize(
    ("one", "other"),
    [("TNF-α", "TNF alpha"), ("TNFα", "TNFalpha"), ("β-blocker", "beta-blocker"), ("IL-1β", "IL-1 beta"),
     ("NF-κB", "NF-kappa B"), ("interferon-γ", "interferon gamma"), ("α1-antitrypsin", "alpha1-antitrypsin")],
)  # fmt: skip
def test_greek_letters_and_their_names_meet(one: str, other: str) -> None:
    assert unify_text(one) == unify_text(other)
    assert sorted(add_other_forms(one).lower().replace("-", " ").split()) == sorted(
        add_other_forms(other).lower().replace("-", " ").split()
    )
    assert split_terms(one) == split_terms(other)


def test_a_micro_sign_is_no_letter() -> None:
    assert unify_text("5 μg and 3 µmol") == "5 μg and 3 μmol"
    assert unify_text("µ-opioid receptor") == "mu-opioid receptor"


@pytest.mark.parametrize(
    ("one", "other"),
    [("angio-oedema", "angioedema"), ("gastro-oesophageal reflux", "gastroesophageal reflux"), ("pre-eclampsia", "preeclampsia"),
     ("Post-operative pain", "Postoperative pain"), ("cardio-vascular disease", "cardiovascular disease")],
)  # fmt: skip
def test_words_with_and_without_a_hyphen_meet(one: str, other: str) -> None:
    assert unify_text(one) == unify_text(other)
    assert split_terms(one) == split_terms(other)
    searched = [set(add_other_forms(text).lower().replace("-", " ").split()) for text in (one, other)]
    assert set(one.lower().replace("-", " ").split()) <= searched[1]
    assert set(other.lower().split()) <= searched[0]


def test_other_hyphens_stay() -> None:
    assert unify_text("non-small-cell lung cancer after follow-up") == "non-small-cell lung cancer after follow-up"
