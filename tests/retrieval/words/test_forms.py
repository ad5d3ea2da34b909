"""British and American spellings mean the same, and words that only look alike are left alone."""

from __future__ import annotations

import pytest

from counterpoint.retrieval.words.forms import (
    add_spellings,
    americanise,
    list_british_forms,
    make_past,
    make_third_person,
    unify_text,
)
from counterpoint.retrieval.words.terms import split_terms


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
    "word",
    (
        "exercise rise premise organism metabolism emphasis analyses them theme mechanism program angioedema xenoestrogen "
        "tracheoesophageal hypothesis"
    ).split(),
)
def test_a_word_that_only_looks_british_stays(word: str) -> None:
    assert americanise(word) == word


def test_a_query_gets_the_other_spelling_of_its_words_once() -> None:
    assert [list_british_forms(word) for word in ("diarrhea", "mechanism")] == [("diarrhoea",), ()]
    assert add_spellings("Probiotics prevent diarrhoea") == "Probiotics prevent diarrhea diarrhoea"
    assert add_spellings("anemia and anaemia") == "anemia and anemia anaemia"
    assert add_spellings("Zinc shortens colds") == "Zinc shortens colds"


@pytest.mark.parametrize(
    ("written", "other"),
    [("TNF-α", "TNF alpha"), ("TNFα", "TNFalpha"), ("β-blocker", "beta-blocker"), ("IL-1β", "IL-1 beta"),
     ("NF-κB", "NF-kappa B"), ("interferon-γ", "interferon gamma"), ("α1-antitrypsin", "alpha1-antitrypsin"),
     ("angio-oedema", "angioedema"), ("gastro-oesophageal reflux", "gastroesophageal reflux"), ("pre-eclampsia", "preeclampsia"),
     ("Post-operative pain", "Postoperative pain"), ("cardio-vascular disease", "cardiovascular disease"),
     ("Tumours in anaemic children", "Tumors in anemic children")],
)  # fmt: skip
def test_greek_letters_hyphens_and_spellings_make_no_difference(written: str, other: str) -> None:
    assert unify_text(written) == unify_text(other)
    assert split_terms(written) == split_terms(other)


def test_a_micro_sign_is_no_letter() -> None:
    assert unify_text("5 μg and 3 µmol") == "5 μg and 3 μmol"
    assert unify_text("µ-opioid receptor") == "mu-opioid receptor"


@pytest.mark.parametrize(
    ("verb", "third_person", "past"),
    [
        ("carry", "carries", "carried"), ("reach", "reaches", "reached"), ("have", "has", "had"), ("play", "plays", "played"),
        ("undergo", "undergoes", "underwent"), ("reduce", "reduces", "reduced"), ("begin", "begins", "began"),
    ],
)  # fmt: skip
def test_verbs_are_inflected(verb: str, third_person: str, past: str) -> None:
    assert (make_third_person(verb), make_past(verb)) == (third_person, past)
