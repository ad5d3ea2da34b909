"""What was typed is told, and what is done with it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from counterpoint.retrieval.core.errors import BadInput
from counterpoint.retrieval.index import Index
from counterpoint.service.queries.classify import classify_query, find_language, refuse_keywords
from counterpoint.service.queries.interpret import describe_query
from counterpoint.service.queries.papers import find_paper
from counterpoint.service.queries.spelling import suggest_words
from tests.helpers.fakes import ground_text, make_index, make_reading_grounder

OTHER = Path(__file__).with_name("other_languages.tsv")
MISSED = 2
"""Claims of three or four words in other languages that are taken for English."""
TEXT = (
    "Vitamin E is said to protect the heart. In one trial vitamin E did not reduce cardiovascular events."
    " Beta-carotene increased lung cancer in smokers. Niacin added to statin therapy did not reduce "
    "cardiovascular events. Folic acid lowered homocysteine, but it did not lower the risk of infarction,"
    " and there was more heart failure."
)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Aspirin reduces fever.", "claim"), ("Statins work", "claim"), ("When given early, aspirin reduces death.", "claim"),
        ("Does aspirin reduce fever?", "question"), ("does aspirin reduce fever", "question"),
        ("What is the best treatment for sepsis", "question"), ("aspirin", "keywords"),
        ("hormone therapy coronary heart disease", "keywords"), 
        ("probiotics antibiotic-associated diarrhoea", "keywords"), ("12117397", "paper"), ("PMID: 12117397", "paper"),
        ("https://pubmed.ncbi.nlm.nih.gov/12117397/", "paper"), ("doi:10.1056/NEJMoa2022926", "paper"),
        ("https://doi.org/10.1056/NEJMoa2022926", "paper"), (TEXT, "text"),
        ("La vitamina D no previene las fracturas en personas mayores.", "language"),
        ("激素治疗可降低冠心病的风险。", "language"),
    ],
)  # fmt: skip
def test_what_was_typed_is_told(text: str, kind: str) -> None:
    assert classify_query(text).kind == kind


CLAIMS = (
    "COVID-19 causes anosmia", "Statins cause myopathy", "GLP-1 agonists lower HbA1c", "Zinc shortens colds",
    "IL-6 drives inflammation", "Steroids thin the skin", "Warfarin interacts with grapefruit", "Masks stop transmission",
    "Mitochondria play a role in ageing", "miR-21 up-regulates PTEN", "Honey soothes coughs", "TNF-alpha rises after sepsis",
    "Clozapine results in weight gain", "Vitamin D does NOT prevent fractures", "Statins work", "SARS-CoV-2 infects neurons",
    "Statins and fibrates cause myopathy", "Sailors benefit from zetaril", "Low doses of zetaril cause falls",
    "Drugs such as zetaril cause gout", "Zetaril reduces gout [1]", "The OR of relapse was higher with zetaril",
    "Zetaril was associated with gout (OR 1.4, 95% CI 1.2 to 1.6)", "Dibenz[a,h]anthracene causes lung cancer",
    "Aspirin benefits outweigh harms", "No link between zetaril and gout", "Zetaril no better than placebo for gout",
    "Zetaril shortens colds, p = 0.03", "Never give zetaril to children", "Zetaril really works!",
    "Vitamin A lowers child mortality", "Hepatitis A causes jaundice",
)  # fmt: skip
KEYWORDS = (
    "lung cancer", "lung cancer causes", "statin side effects", "exercise induced asthma",
    "treatment of sepsis with reduced doses", "breast cancer screening benefits and harms", "niacin AND statins",
    "COVID-19 anosmia", "drug use in pregnancy", "aspirin", "cancer causes", "statin trial results",
    "low-dose aspirin and colorectal cancer", "how to prevent stroke by", "vitamin A benefits", "exercise as a means to health",
    "vitamin D supplementation older adults hip injuries trial meta-analysis 2020",
)  # fmt: skip


@pytest.mark.parametrize("change", [str, str.lower, str.upper, "{}.".format, "Finally, {}.".format, "In conclusion, {}".format])
def test_neither_capitals_a_stop_nor_a_lead_make_a_claim_of_keywords(change: Callable[[str], str]) -> None:
    assert [text for text in CLAIMS if classify_query(change(text)).kind != "claim"] == []
    # Whatever might be a claim is grounded; of keywords, it is said that they look like keywords.
    typed = [classify_query(change(text)) for text in KEYWORDS]
    assert [one.text for one in typed if one.kind == "claim" and not one.unsure] == []
    assert sum(one.kind == "claim" for one in typed) <= 5


def test_keywords_get_no_verdict(demo_index: Index) -> None:
    for text in ("lung cancer", "Lung cancer.", "Taken together, lung cancer risk."):
        with pytest.raises(BadInput, match="no claim but keywords, so there is no verdict"):
            ground_text(make_reading_grounder(demo_index), text)
        with pytest.raises(BadInput, match="no verdict"):
            refuse_keywords(text)
    with pytest.raises(BadInput, match="contains “cnacer”: did you mean “cancer”"):
        ground_text(make_reading_grounder(demo_index), "lung cnacer")


def test_what_may_be_a_claim_is_grounded_with_a_word_on_how_it_was_read(demo_index: Index) -> None:
    typed = describe_query(demo_index, "cancer causes")
    assert (typed.kind, typed.offers) == ("claim", ["ground", "search"])
    assert typed.detail == "Read as a claim; if you meant keywords, use search."
    assert describe_query(demo_index, "Beta-carotene prevents lung cancer.").offers == ["ground"]


def test_a_spelling_is_offered_before_a_language_is_guessed(demo_index: Index) -> None:
    for text in ("Betacarotine reduces lung cancer.", "Betacarotine reduces lung cancr", "mobile phones brain tumours"):
        assert find_language(text) == ""
    for text in ("beta-carotene lung cancer", "beta-carotene lung cnacer"):
        assert describe_query(demo_index, text).kind == "keywords"
    assert [one.instead for one in describe_query(demo_index, "beta-carotene lung cnacer").suggestions] == ["cancer"]
    typed = describe_query(demo_index, "Betacarotine reduces lung cancer.")
    assert typed.kind == "claim" and [one.instead for one in typed.suggestions] == ["Beta-carotene"]


def test_a_claim_brings_back_the_same_however_it_is_typed(demo_index: Index) -> None:
    grounder = make_reading_grounder(demo_index)

    def list_found(text: str) -> list[tuple[str, str, str]]:
        response = ground_text(grounder, text)
        assert response.claim.text == text
        lists = [*response.contradicting, *response.supporting, *response.uncertain, *response.more]
        return [(one.pmid, one.side, one.sentence.text if one.sentence else "") for one in lists]

    claim = "Beta-carotene reduces the risk of lung cancer"
    first = list_found(claim)
    assert first
    ways = (
        f"{claim}.", claim.lower(), claim.upper(), f"Finally, {claim.lower()}.", f"In conclusion, {claim}.", f"“{claim}.”",
        f"Taken together, these findings suggest that {claim.lower()}.", f"CONCLUSION: {claim}!", f"- {claim}",
        f"Overall: {claim} …",
    )  # fmt: skip
    assert [way for way in ways if list_found(way) != first] == []


def test_a_choice_is_said_to_be_one_and_its_first_side_is_the_claim(demo_index: Index) -> None:
    typed = describe_query(demo_index, "Does aspirin or warfarin prevent more strokes?")
    assert typed.detail.startswith("This is a choice between “aspirin” and “warfarin”. It can be answered, or its first side")
    assert (typed.kind, typed.claim, typed.offers) == (
        "question",
        "Aspirin prevents more strokes than warfarin.",
        ["answer", "ground"],
    )


@pytest.mark.parametrize(
    ("question", "detail"),
    [
        ("Does aspirin reduce fever?", "It can be answered, or check the claim “Aspirin reduces fever”."),
        ("What is hope?", "It can be answered."),
    ],
)
def test_a_question_offers_its_claim_if_it_has_one(demo_index: Index, question: str, detail: str) -> None:
    assert describe_query(demo_index, question).detail == f"This is a question. {detail}"


def test_other_languages_are_found() -> None:
    lines = [line.split("\t") for line in OTHER.read_text("utf-8").splitlines()]
    missed = [text for _, text in lines if not find_language(text)]
    assert len(missed) <= MISSED, missed


def test_a_word_of_no_document_gets_an_offer_and_a_right_name_none(demo_index: Index) -> None:
    offers = {one.word: one.instead for one in suggest_words(demo_index, "Hydroxycloroquine helps postmenopusal women")}
    assert offers == {"Hydroxycloroquine": "Hydroxychloroquine", "postmenopusal": "postmenopausal"}
    assert [one.instead for one in suggest_words(demo_index, "Niacin preventts and redcued it")] == ["prevents", "reduced"]
    assert suggest_words(demo_index, "Oestrogen, tirzepatide and hypotension lower fever; probiotics too") == ()


def test_a_paper_is_opened_by_what_it_finds(demo_index: Index) -> None:
    pmid = "demo-hcq-recovery-2020"
    typed = describe_query(demo_index, pmid)
    assert typed.kind == "paper" and typed.paper and typed.paper.finding and typed.claim
    response = ground_text(make_reading_grounder(demo_index), pmid)
    assert response.claim.text == typed.claim and response.input.paper
    shown = [*response.contradicting, *response.supporting, *response.uncertain]
    assert pmid not in [one.pmid for one in shown]


DOI_DOCUMENTS = [
    {
        "pmid": "21",
        "doi": "10.1000/Zeta.(2001)7",
        "title": "Zeta",
        "abstract": "Adults took zeta. Zeta lowered blood pressure by 5 mmHg.",
    },
    {"pmid": "10.1000/omega-1", "title": "Omega", "abstract": "Adults took omega. Omega raised blood sugar by 2 mmol/l."},
    {"pmid": "22", "title": "Kappa", "abstract": "Adults took kappa. Kappa was well tolerated by all."},
]


@pytest.mark.parametrize(
    ("written", "pmid"),
    [
        ("10.1000/zeta.(2001)7", "21"),
        (" https://doi.org/10.1000/Zeta.(2001)7 ", "21"),
        # An export without PMIDs has DOIs for ids.
        ("https://doi.org/10.1000/omega-1", "10.1000/omega-1"),
    ],
)
def test_a_typed_doi_opens_its_paper(tmp_path: Path, written: str, pmid: str) -> None:
    with closing(make_index(tmp_path, DOI_DOCUMENTS)) as index:
        typed = describe_query(index, written)
        assert typed.kind == "paper" and typed.paper and typed.paper.pmid == pmid
        assert typed.claim and typed.claim in {str(one["abstract"]).partition(". ")[2] for one in DOI_DOCUMENTS}
        assert find_paper(index.store, written, 3).pmid == pmid
        response = ground_text(make_reading_grounder(index), written)
        assert response.claim.text == typed.claim and response.input.paper and response.input.paper.pmid == pmid
        assert pmid not in [one.pmid for one in (*response.contradicting, *response.supporting, *response.uncertain)]


def test_a_paper_that_the_index_lacks_is_told(demo_index: Index) -> None:
    with pytest.raises(BadInput, match="PMID 999999 is not among the"):
        describe_query(demo_index, "PMID 999999")


def test_a_long_sentence_is_a_text_of_one_sentence(demo_index: Index) -> None:
    typed = describe_query(demo_index, f"Aspirin reduces {'very ' * 500}high fever in adults.")
    assert typed.detail.startswith("This is a text of 1 sentence. ")
