"""Questions that ask for more than yes or no: who is cited for them, with which sentence, and when nobody is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from retrieval.core.answers import Answer
from retrieval.core.values import Topic
from retrieval.index import Index
from service.answering.evidence import choose_evidence
from tests.helpers.answer_fakes import make_answerer
from tests.helpers.fakes import WordReader, make_index

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
    return make_answerer(index, enough={"about": 0.65}).answer(Topic("7", question))


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
def test_what_no_paper_tells_is_declined_with_the_nearest(index: Index, question: str) -> None:
    answer = answered(index, question)
    assert (answer.outcome, answer.sentences) == ("too little", ())
    assert answer.note.startswith("The index has too little on this: no document")


def test_papers_on_it_that_tell_something_else_are_named(index: Index) -> None:
    answer = answered(index, "What are the side effects of eta in zetoid ovary syndrome?")
    assert answer.outcome == "too little"
    assert "papers reports what is asked. Nearest papers: “Eta in adults with zetoid ovary syndrome” (1)" in answer.note


def test_background_answers_only_where_it_is_asked_for(tmp_path: Path) -> None:
    (entry,) = make_index(tmp_path, [TREATED]).entries(["1"])
    assert choose_evidence("How common is zetoid ovary syndrome?", [entry]) == {}
    found = choose_evidence("What is zetoid ovary syndrome?", [entry]).get(entry.pmid)
    assert found is not None
    assert found.stance is None


def test_a_group_that_only_has_a_number_tells_nobody_anything(tmp_path: Path) -> None:
    abstract = "METHODS: Eta was given. RESULTS: Eta relieved gout in most adults. CONCLUSIONS: Gout was better in Group 1."
    (entry,) = make_index(tmp_path, [{"pmid": "1", "title": "Eta for gout", "abstract": abstract}]).entries(["1"])
    found = choose_evidence("Which drugs relieve gout?", [entry]).get(entry.pmid)
    assert found is not None
    assert found.sentence == 1


def test_a_reader_passes_over_a_sentence_that_only_shares_the_words(tmp_path: Path) -> None:
    abstract = "METHODS: Eta was given. RESULTS: Eta relieved gout for most adults. CONCLUSIONS: Eta relieved gout, they say."
    papers = [{"pmid": "1", "title": "Eta and gout", "abstract": abstract},
              {"pmid": "2", "title": "Gout", "abstract": "CONCLUSIONS: Drugs that relieve gout were rare."}]  # fmt: skip
    entries = list(make_index(tmp_path, papers).entries(["1", "2"]))
    unread = choose_evidence("Which drugs relieve gout?", entries)
    read = choose_evidence("Which drugs relieve gout?", entries, WordReader())
    assert [one.sentence for one in unread.values()] == [2, 0]
    assert {pmid: one.sentence for pmid, one in read.items()} == {"1": 1}


def test_where_a_frequency_is_asked_a_figure_is_worth_more_than_a_conclusion(tmp_path: Path) -> None:
    abstract = "METHODS: Adults were seen. RESULTS: Gout was found in 7% of them. CONCLUSIONS: Gout is the most common disease."
    (entry,) = make_index(tmp_path, [{"pmid": "1", "title": "Gout in adults", "abstract": abstract}]).entries(["1"])
    found = choose_evidence("How common is gout?", [entry]).get(entry.pmid)
    assert found is not None
    assert found.sentence == 1


def test_a_trial_is_told_before_a_case_report(tmp_path: Path) -> None:
    papers = [
        {
            "pmid": "1",
            "title": "Gout relieved by eta: a case report",
            "abstract": "CONCLUSIONS: Eta relieved gout and gout.",
        },
        {
            "pmid": "2",
            "title": "Iota in adults: a randomised trial",
            "abstract": "CONCLUSIONS: Iota relieved gout in adults.",
        },
    ]
    answer = answered(make_index(tmp_path, [*papers, *DOCUMENTS[6:]]), "Which drugs relieve gout?")
    assert [hit.pmid for hit in answer.context] == ["2", "1"]
