"""Questions that ask for more than yes or no: what is asked of each paper, what the papers say, and when that is too little."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nli.text.studied import Studied, find_studied
from retrieval.core.values import Answer, Topic
from retrieval.index import Index
from retrieval.runtime.chat import ChatUnanswered
from service.answering.open_questions import parse_open_question
from tests.helpers.answer_fakes import ScriptedGenerator, make_answerer
from tests.helpers.fakes import WordReader, make_index

DOCUMENTS: list[dict[str, Any]] = [
    {"pmid": "1", "title": "Verapamil for gout in sailors: a randomised trial", "year": 2001,
     "abstract": "METHODS: Sailors were given verapamil. RESULTS: There was less gout with verapamil."},
    {"pmid": "2", "title": "Oral verapamil against gout",
     "abstract": "METHODS: Adults with gout took oral verapamil. CONCLUSIONS: There was as much gout with it."},
    {"pmid": "3", "title": "Melatonin tablets for gout",
     "abstract": "METHODS: Adults took melatonin tablets. CONCLUSIONS: Melatonin was good in most adults."},
    {"pmid": "4", "title": "Lithium in gout: a study protocol", "abstract": "CONCLUSIONS: Lithium will be good for gout."},
    {"pmid": "5", "title": "Lithium for gout in mice", "abstract": "CONCLUSIONS: Lithium was good for gout in mice."},
    {"pmid": "6", "title": "The burden of gout for the elderly", "abstract": "RESULTS: It was high."},
    {"pmid": "7", "title": "Aspirin for croup", "abstract": "RESULTS: Aspirin was good for croup."},
    *({"pmid": f"x{i}", "title": "", "abstract": f"Filler number {i} on something else."} for i in range(20)),
]  # fmt: skip


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return make_index(tmp_path_factory.mktemp("open"), DOCUMENTS)


def answered(index: Index, question: str, generator: ScriptedGenerator | None = None) -> Answer:
    rules = {"open_questions": {"coverage": 0.65}, "lead": {"grounding": "counterpoint"}}
    return make_answerer(index, generator, WordReader(), **rules).answer(Topic("7", question))


def test_each_row_is_a_claim_on_what_a_paper_studied_with_its_words(index: Index) -> None:
    answer = answered(index, "What helps against gout?")
    rows = [(one.studied, one.claim, one.evidence.stance, one.evidence.document.pmid) for one in answer.rows]
    assert rows == [
        ("verapamil", "Verapamil helps against gout.", "support", "1"),
        ("oral verapamil", "Oral verapamil helps against gout.", "contradict", "2"),
        ("melatonin tablets", "Melatonin tablets help against gout.", "support", "3"),
    ]
    assert [sentence.text for sentence in answer.sentences] == [
        "By a randomised trial, verapamil helps against gout; by a study, it does not.",
        "By a study, melatonin tablets help against gout.",
    ]
    assert [[one.document.pmid for one in sentence.citations] for sentence in answer.sentences] == [["1", "2"], ["3"]]
    for row in answer.rows:
        assert row.evidence.sentence is not None
        assert row.evidence.sentence.text in row.evidence.document.abstract


def test_a_language_model_writes_from_the_rows(index: Index) -> None:
    answer = answered(index, "What helps against gout?", ScriptedGenerator("There was less gout with verapamil [1]."))
    assert [sentence.text for sentence in answer.sentences] == ["There was less gout with verapamil."]
    assert len(answer.rows) == 3


def test_no_generator_is_asked_where_too_little_is_reported(index: Index) -> None:
    assert answered(index, "What eases croup?", ScriptedGenerator(error=ChatUnanswered("was asked"))).outcome == "too little"


@pytest.mark.parametrize(
    ("question", "why"),
    [
        ("What eases croup?", "The index has too little on this: of 1 paper read, only one reports what eases croup."),
        ("What prevents scurvy?", "Not studied here: no paper on this names something of which it studied whether it prevents"),
        ("How common is gout?", "No claim can be made of this question"),
        ("What is gout?", "No claim can be made of this question"),
    ],
)
def test_too_little_is_declined_with_the_nearest_and_why(index: Index, question: str, why: str) -> None:
    answer = answered(index, question)
    assert (answer.outcome, answer.sentences, answer.rows) == ("too little", (), ())
    assert answer.note.startswith(why)
    assert ("Nearest papers: “" in answer.note) == bool(answer.context)


@pytest.mark.parametrize(
    ("question", "claim"),
    [
        ("What helps against gout?", "zeta helps against gout"),
        ("Which foods can lower uric acid in sailors?", "zeta lowers uric acid in sailors"),
        ("What prevents falls in older people?", "zeta prevents falls in older people"),
        ("What is associated with gout?", "zeta is associated with gout"),
        ("How can I lower my uric acid?", "zeta lowers uric acid"),
        ("How can people with gout ease their pain?", "zeta eases pain in people with gout"),
        ("Which drugs are used to treat gout?", "zeta is effective for gout"),
        ("How is gout treated?", "zeta is effective for gout"),
        ("What are the risk factors associated with gout in sailors?", "zeta increases the risk of gout in sailors"),
        ("What is the prevalence of gout?", ""),
        ("What are the side effects of zeta?", ""),
        ("Why do sailors limp?", ""),
    ],
)
def test_a_question_becomes_a_claim_with_a_place_for_what_was_studied(question: str, claim: str) -> None:
    asked = parse_open_question(question)
    assert (asked.state(Studied("zeta", False, "zeta")) if asked else "") == claim


def test_claims_agree_in_number_and_can_be_denied() -> None:
    asked, are = parse_open_question("What carries a risk?"), parse_open_question("What is good for gout?")
    assert asked is not None
    assert are is not None
    many = Studied("statins", True, "statin")
    assert [asked.state(many), asked.state(many, yes=False), asked.deny(many)] == [
        "statins carry a risk", "statins do not carry a risk", "they do not",
    ]  # fmt: skip
    assert (are.state(many, yes=False), are.deny(many)) == ("statins are not effective for gout", "they are not")


@pytest.mark.parametrize(
    ("title", "abstract", "studied"),
    [
        ("The effect of yoga on gout in older patients", "RESULTS: Gout improved with yoga.", "yoga"),
        ("[A double-blind trial of high-dose oxygen versus placebo in gout]", "Oxygen helped.", "high-dose oxygen"),
        ("Effects of Deep Tissue Massage on Gout", "RESULTS: Gout was eased by deep tissue massage.", "deep tissue massage"),
        ("", "METHODS: It was given daily. RESULTS: Gout was eased by lithium.", "lithium"),
        ("The burden of gout. Verapamil Gout Study Group.", "RESULTS: Gout was not eased by lithium.", None),
        ("The burden of gout in patients with diabetes", "RESULTS: It was high in women.", None),
    ],
)
def test_what_was_studied_is_a_phrase_of_the_paper(tmp_path: Path, title: str, abstract: str, studied: str | None) -> None:
    (entry,) = make_index(tmp_path, [{"pmid": "1", "title": title, "abstract": abstract}]).entries(["1"])
    found = find_studied(entry, {"gout"})
    assert (found.text if found else None) == studied
