"""British and American spellings mean the same, and words that only look alike are left alone."""

from __future__ import annotations

import pytest

from retrieval.words.lexical import split_terms
from retrieval.words.spelling import add_other_spellings, americanise, americanise_text, list_british_forms


@pytest.mark.parametrize(
    ("written", "form"),
    [
        ("diarrhoea", "diarrhea"), ("haemoglobin", "hemoglobin"), ("ischaemic", "ischemic"), ("anaesthesia", "anesthesia"),
        ("oesophageal", "esophageal"), ("leukaemia", "leukemia"), ("tumours", "tumors"), ("paediatric", "pediatric"),
        ("randomised", "randomized"), ("hospitalisation", "hospitalization"), ("analysed", "analyzed"), ("centred", "centered"),
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
    assert add_other_spellings("Probiotics prevent diarrhoea") == "Probiotics prevent diarrhoea diarrhea"
    assert add_other_spellings("anemia and anaemia") == "anemia and anaemia"
    assert add_other_spellings("Zinc shortens colds") == "Zinc shortens colds"


def test_two_spellings_are_one_term() -> None:
    assert split_terms("Tumours in anaemic children") == split_terms("Tumors in anemic children")
