"""Questions that ask for more than yes or no: who is cited for them, with which sentence, and when nobody is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from generation.extractive import compile_phrases
from retrieval.core.values import Answer, Topic
from retrieval.index import Index
from service.answering.open_questions import (
    choose_evidence,
    find_aspect,
    is_aside,
    is_combined,
    is_joint,
    state_answer,
    states_aspect,
)
from tests.helpers.answer_fakes import make_answerer
from tests.helpers.fakes import WordReader, make_index

LOWERS = "Does zeta lower blood pressure?"
TREATED = {
    "pmid": "1",
    "title": "Eta in adults with zetoid ovary syndrome",
    "abstract": "BACKGROUND: Zetoid ovary syndrome (ZOS) is a distressing disease of many adults. METHODS: They took eta. "
    "RESULTS: Pain fell with eta in most adults. CONCLUSIONS: Eta helps adults with zetoid ovary syndrome.",
}
COUNTED = {
    "pmid": "2",
    "title": "Zetoid ovary syndrome in an unselected population",
    "abstract": "BACKGROUND: Zetoid ovary syndrome (ZOS) is little known. METHODS: We examined 400 adults at work. "
    "RESULTS: The prevalence of ZOS was 6.6% in these adults. CONCLUSIONS: The disease begins with age.",
}
DOCUMENTS: list[dict[str, Any]] = [
    TREATED,
    COUNTED,
    {"pmid": "3", "title": "Theta against eta after a second stroke: a randomised trial",
     "abstract": "METHODS: Adults were randomised. RESULTS: Strokes recurred in 3% with theta and in 4% with eta. "
     "CONCLUSIONS: Theta was more effective than eta in the prevention of stroke."},
    {"pmid": "4", "title": "Theta against eta after a second stroke in mice",
     "abstract": "CONCLUSIONS: Theta was more effective than eta in the prevention of stroke in mice."},
    {"pmid": "5", "title": "Theta against eta after a second stroke: a study protocol",
     "abstract": "CONCLUSIONS: Theta may be more effective than eta in the prevention of stroke, which this trial will tell."},
    {"pmid": "6", "title": "Iota for newborns with gout: a trial", "abstract": "CONCLUSIONS: Iota prevents gout in newborns."},
    *({"pmid": f"x{i}", "title": "", "abstract": f"Filler number {i} on something else."} for i in range(20)),
]  # fmt: skip


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return make_index(tmp_path_factory.mktemp("open"), DOCUMENTS)


def answered(index: Index, question: str) -> Answer:
    return make_answerer(index, open_questions={"coverage": 0.65}).answer(Topic("7", question))


def cited(answer: Answer) -> list[tuple[str, str]]:
    return [(one.document.pmid, one.sentence.text) for sentence in answer.sentences for one in sentence.citations]


def test_a_paper_is_cited_for_what_is_asked_not_for_its_subject(index: Index) -> None:
    answer = answered(index, "How common is zetoid ovary syndrome?")
    assert cited(answer) == [("2", "RESULTS: The prevalence of ZOS was 6.6% in these adults.")]
    assert [hit.pmid for hit in answer.context] == ["2"]


def test_one_paper_that_answers_is_enough(index: Index) -> None:
    answer = answered(index, "Which is better for preventing a second stroke, theta or eta?")
    assert [pmid for pmid, _ in cited(answer)] == ["3"], "no mice, and nothing that was only planned"


def test_a_study_in_other_people_is_not_cited(index: Index) -> None:
    assert [pmid for pmid, _ in cited(answered(index, "Which drugs prevent gout in newborns?"))] == ["6"]
    assert answered(index, "Which drugs prevent gout in elderly people with iota?").outcome == "too little"


@pytest.mark.parametrize("question", ["How common is gout in zetoid cattle?", "What is nondisjunction of chromosomes?"])
def test_what_no_paper_reports_is_declined_with_the_nearest(index: Index, question: str) -> None:
    answer = answered(index, question)
    assert (answer.outcome, answer.sentences) == ("too little", ())
    assert answer.note.startswith("The index has too little on this: no document")


def test_papers_on_it_that_report_something_else_are_named(index: Index) -> None:
    answer = answered(index, "What are the side effects of eta in zetoid ovary syndrome?")
    assert answer.outcome == "too little"
    assert "papers reports what is asked. Nearest papers: “Eta in adults with zetoid ovary syndrome” (1)" in answer.note


def test_background_answers_only_where_it_is_asked_for(tmp_path: Path) -> None:
    (entry,) = make_index(tmp_path, [TREATED]).entries(["1"])
    assert choose_evidence("How common is zetoid ovary syndrome?", [entry]) == {}
    assert choose_evidence("What is zetoid ovary syndrome?", [entry])["1"].stance is None


@pytest.mark.parametrize(
    ("question", "abstract"),
    [
        (
            "Which drugs relieve gout?",  # a group that only has a number
            "METHODS: Eta was given. RESULTS: Eta relieved gout in most adults. CONCLUSIONS: Gout was better in Group 1.",
        ),
        (
            "How common is gout?",  # a figure before a conclusion
            "METHODS: Adults were seen. RESULTS: Gout was found in 7% of them. CONCLUSIONS: Gout is the most common disease.",
        ),
    ],
)
def test_a_result_may_answer_better_than_the_conclusion(tmp_path: Path, question: str, abstract: str) -> None:
    (entry,) = make_index(tmp_path, [{"pmid": "1", "title": "Gout in adults", "abstract": abstract}]).entries(["1"])
    assert choose_evidence(question, [entry])["1"].sentence == 1


def test_a_reader_passes_over_a_sentence_that_only_shares_the_words(tmp_path: Path) -> None:
    abstract = "METHODS: Eta was given. RESULTS: Eta relieved gout for most adults. CONCLUSIONS: Eta relieved gout, they say."
    papers = [{"pmid": "1", "title": "Eta and gout", "abstract": abstract},
              {"pmid": "2", "title": "Gout", "abstract": "CONCLUSIONS: Drugs that relieve gout were rare."}]  # fmt: skip
    entries = list(make_index(tmp_path, papers).entries(["1", "2"]))
    unread = choose_evidence("Which drugs relieve gout?", entries)
    read = choose_evidence("Which drugs relieve gout?", entries, WordReader())
    assert [one.sentence for one in unread.values()] == [2, 0]
    assert {pmid: one.sentence for pmid, one in read.items()} == {"1": 1}


def test_a_trial_comes_before_a_case_report(tmp_path: Path) -> None:
    case, trial = "Gout relieved by eta: a case report", "Iota in adults: a randomised trial"
    papers = [{"pmid": "1", "title": case, "abstract": "CONCLUSIONS: Eta relieved gout and gout."},
              {"pmid": "2", "title": trial, "abstract": "CONCLUSIONS: Iota relieved gout in adults."}]  # fmt: skip
    answer = answered(make_index(tmp_path, [*papers, *DOCUMENTS[6:]]), "Which drugs relieve gout?")
    assert [hit.pmid for hit in answer.context] == ["2", "1"]


@pytest.mark.parametrize(
    ("question", "statement"),
    [
        ("What are the side effects of using zeta that patients might notice?", "zeta causes side effects"),
        ("How can I lower my uric acid?", "the intervention is effective to lower uric acid"),
        ("Which drugs are used to treat gout?", "the treatment is effective for gout"),
        ("What causes gout?", "the factor causes gout"),
        ("What are the risk factors associated with gout in sailors?", "the factor increases the risk of gout in sailors"),
        ("How does zeta affect the kidneys?", "zeta affects the kidneys"),
        ("What is zeta used for?", "zeta is an effective treatment"),
        ("What is gout and what causes it?", ""),
        ("What is the prevalence of gout during treatment for hypertension?", ""),
        ("Why do sailors limp?", ""),
    ],
)
def test_the_statement_follows_from_the_question(question: str, statement: str) -> None:
    assert state_answer(question) == statement


@pytest.mark.parametrize(
    ("question", "aspect"),
    [
        ("How common is zetosis?", "frequency"),
        ("How accurate is the zeta test for zetosis?", "accuracy"),
        ("Which is better for zetosis, zeta or eta?", "which is better"),
        ("What causes zetosis in adults?", "cause"),
        ("How does zeta lower blood pressure?", "cause"),
        ("How is zetosis treated?", "treatment"),
        ("What are the side effects of zeta?", "harm"),
        ("What is zetosis?", ""),
    ],
)
def test_what_a_question_asks_for(question: str, aspect: str) -> None:
    assert find_aspect(question) == aspect


@pytest.mark.parametrize(
    ("aspect", "stating", "other"),
    [
        ("frequency", "The prevalence of zetosis was 4%.", "Zetosis distresses adults."),
        ("accuracy", "The zeta test had a sensitivity of 88%.", "The zeta test costs little."),
        ("which is better", "Zeta was more effective than eta.", "Zeta was given with eta."),
        ("cause", "Zetosis results from a lack of eta.", "Zetosis-induced pain should be seen in a hospital."),
        ("cause", "There were rises in eta during zetosis.", "Zetosis occurs on the head, involving the ears."),
        ("treatment", "Zeta reduced zetosis.", "Zetosis is found in the head and neck."),
        ("harm", "Zeta raised the risk of bleeding.", "Zeta was given twice a day."),
    ],
)
def test_a_sentence_that_lacks_the_words_states_something_else(aspect: str, stating: str, other: str) -> None:
    assert states_aspect(aspect, stating)
    assert not states_aspect(aspect, other)
    assert states_aspect("", other)


@pytest.mark.parametrize(
    ("text", "question", "share", "aside"),
    [
        ("In the subgroup of smokers zeta lowered blood pressure.", LOWERS, 1.0, True),
        ("In the subgroup of smokers zeta lowered it.", "Does zeta help a subgroup of patients?", 0.5, False),
        ("Zeta lowered blood pressure in all, including the subgroup of smokers.", LOWERS, 1.0, False),
        ("Groups were similar in blood pressure at baseline.", LOWERS, 1.0, True),
        ("Blood pressure fell from baseline by 12 mm Hg.", LOWERS, 1.0, False),
        ("Patients with low blood pressure were significantly older.", LOWERS, 1.0, True),
        ("Previous studies have shown that zeta lowers blood pressure.", LOWERS, 1.0, True),
        ("Three patients discontinued zeta because of a lack of response.", LOWERS, 0.0, True),
        ("Zeta is a very cost-effective way to lower blood pressure.", LOWERS, 1.0, True),
        ("Zeta was well tolerated.", LOWERS, 0.0, True),
        ("Zeta was well tolerated.", "Is zeta well tolerated?", 0.0, False),
        ("Zeta lowered blood pressure.", LOWERS, 1.0, False),
    ],
)
def test_asides_are_known_by_their_words_unless_the_question_has_them_too(
    text: str, question: str, share: float, aside: bool
) -> None:
    assert is_aside(text, question, share) is aside


@pytest.mark.parametrize(
    ("text", "none"),
    [
        ("It remains to be determined whether zeta lowers blood pressure.", True),
        ("This highlights the need for larger trials of zeta.", True),
        ("This has led to speculation that zeta lowers blood pressure.", True),
        ("While those who took eta had only a small rise.", True),
        ("While those who took eta had only a small rise, zeta raised it.", False),
        ("Zeta lowered blood pressure in children who need to sleep.", False),
    ],
)
def test_what_is_still_to_be_studied_is_no_finding(text: str, none: bool) -> None:
    assert bool(compile_phrases("no finding").search(text)) is none


@pytest.mark.parametrize(
    ("finding", "question", "joint"),
    [
        ("Both zeta and eta were effective.", "Does zeta lower blood pressure more than eta?", True),
        ("Pressure fell in all groups.", "Is zeta superior to eta?", True),
        ("Zeta reduced both systolic and diastolic pressure.", "Does zeta lower blood pressure more than eta?", False),
        ("Both lower blood pressure, zeta more than eta.", "Does zeta lower blood pressure more than eta?", False),
        ("Both zeta and eta lower blood pressure.", LOWERS, False),
    ],
)
def test_what_is_said_of_both_does_not_show_which_is_better(finding: str, question: str, joint: bool) -> None:
    assert is_joint(finding, question) is joint


@pytest.mark.parametrize(
    ("finding", "question", "combined"),
    [
        ("Zeta-based triple therapy cured gout.", "Can zeta on its own cure gout?", True),
        ("Zeta plus eta cured gout.", "Does zeta alone cure gout?", True),
        ("Zeta plus eta cured gout, zeta alone did not.", "Does zeta alone cure gout?", False),
        ("Zeta cured gout.", "Does zeta alone cure gout?", False),
        ("Zeta plus eta cured gout.", "Does zeta cure gout?", False),
        ("Zeta plus eta cured gout.", "Is zeta plus eta better than zeta alone?", False),
    ],
)
def test_a_combination_shows_nothing_of_a_treatment_alone(finding: str, question: str, combined: bool) -> None:
    assert is_combined(finding, question) is combined
