"""The verdict: what the papers that were read come to for a yes-or-no question, and how it is said."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from counterpoint.generation.question import YesNoQuestion, parse_question
from counterpoint.nli.judge import Abstract, Reading
from counterpoint.retrieval.core.values import (
    Answer,
    Checked,
    Claim,
    Document,
    Evidence,
    Grounding,
    Label,
    Sentence,
    Stance,
    Topic,
    Verdict,
)
from counterpoint.retrieval.index import Index
from counterpoint.service.answering.answer import Answerer
from counterpoint.service.answering.attribution import describe_check
from counterpoint.service.answering.conflicts import find_conflicts_between_sides
from counterpoint.service.answering.schemas import AnswerResponse
from counterpoint.service.answering.verdict import (
    GroundedQuestion,
    list_kinds,
    weigh_question,
    write_verdict,
    write_verdict_sentence,
)
from counterpoint.service.output.terminal import print_answer
from tests.helpers.answer_fakes import ScriptedGenerator, make_answerer
from tests.helpers.fakes import SILENT, WordReader, make_index

QUESTION = "Does zeta lower blood pressure?"
TRIAL, CASE = "A randomised trial", "A case report"
DOCUMENTS: list[dict[str, Any]] = [
    {"pmid": "1", "title": "Zeta: a randomised trial", "types": ["Randomized Controlled Trial"],
     "abstract": "BACKGROUND: Zeta is said not to lower blood pressure. RESULTS: Zeta lowered blood pressure in adults with "
     "hypertension. CONCLUSIONS: Zeta lowers blood pressure in most adults."},
    {"pmid": "2", "title": "Zeta: a randomised trial", "types": ["Randomized Controlled Trial"],
     "abstract": "BACKGROUND: Zeta lowers blood pressure in dogs of old sailors. CONCLUSIONS: Zeta did not lower blood "
     "pressure in most adults with hypertension at all."},
    {"pmid": "4", "title": "Eta: a trial", "abstract": "CONCLUSIONS: Eta did not lower blood pressure in most adults."},
    *({"pmid": f"x{i}", "title": "", "abstract": f"Filler number {i} on something else."} for i in range(20)),
]  # fmt: skip


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return make_index(tmp_path_factory.mktemp("verdicts"), DOCUMENTS)


def evidence(pmid: str, stance: Stance, title: str = TRIAL, label: Label | None = None, retracted: bool = False) -> Evidence:
    text = "Zeta and blood pressure."
    shares = (0.9, 0.05, 0.05) if stance == "support" else (0.05, 0.05, 0.9)
    verdict = Verdict(*shares, decided=label, of="document")
    document = Document(pmid, title, text, retracted=retracted)
    return Evidence(document, stance, Sentence(pmid, 0, 0, len(text), text), 1, 0.9, "reader", verdict)


def ground(*papers: Evidence, silent: tuple[Evidence, ...] = ()) -> GroundedQuestion:
    parsed = parse_question(QUESTION)
    assert parsed is not None
    for_it, against = (tuple(one for one in papers if one.stance == side) for side in ("support", "contradict"))
    return weigh_question(parsed, Grounding(Claim(parsed.claim), against, for_it, Checked(9, 5, 9), silent=silent))


FOR, AGAINST, UNSURE = evidence("1", "support"), evidence("2", "contradict"), evidence("3", "support", label="neutral")


@pytest.mark.parametrize(
    ("papers", "verdict", "cited"),
    [
        ([FOR, UNSURE], "yes", "1"),
        ([AGAINST], "no", "2"),
        ([evidence("3", "support", CASE), AGAINST, evidence("4", "contradict")], "no", "243"),
        ([FOR, evidence("3", "support"), AGAINST, evidence("4", "contradict")], "mixed", "1234"),
        ([FOR, evidence("3", "contradict", retracted=True)], "yes", "1"),
        ([UNSURE], "unclear", "3"),
        ([], None, ""),
        ([evidence("1", "support", retracted=True)], None, ""),
    ],
)
def test_the_weighed_papers_answer_and_those_that_carry_the_answer_stand_first(
    papers: list[Evidence], verdict: str | None, cited: str
) -> None:
    grounded = ground(*papers)
    assert (grounded.verdict.outcome if grounded.verdict else None) == verdict
    listed = [one.document.pmid for one in grounded.papers]
    assert listed == ["1", "2", "3", "4"] if verdict == "mixed" else listed == list(cited)
    if grounded.verdict:
        assert grounded.verdict.certainty == grounded.weighed.certainty


@pytest.mark.parametrize(
    ("title", "conflicts"),
    [
        ("Zeta in children: a randomised trial", 0),
        ("Zeta in adults: a randomised trial", 1),
        ("Zeta in adults: a case report", 0),
    ],
)
def test_only_papers_of_comparable_design_in_the_same_people_are_in_conflict(title: str, conflicts: int) -> None:
    grounded = ground(evidence("1", "support", "Zeta in adults: a randomised trial"), evidence("2", "contradict", title))
    verdict = write_verdict_sentence(QUESTION, grounded, 3)
    assert verdict is not None and len(find_conflicts_between_sides(grounded, [verdict])) == conflicts


@pytest.mark.parametrize(
    ("verdict", "certainty", "pro", "contra", "silent", "text"),
    [
        ("yes", "sure", ["a randomised trial"], [], 0,
         "Yes: zeta lowers blood pressure, by the one paper with a clear finding (a randomised trial)."),
        ("yes", "probable", ["a randomised trial"] * 2, ["a study"], 0,
         "Probably yes: zeta lowers blood pressure, by 2 of 3 papers with a clear finding (2 randomised trials)."),
        ("yes", "probable", ["a randomised trial, in part"] * 2, [], 0,
         "Probably yes, in part: zeta lowers blood pressure, by both papers that take a side "
         "(2 randomised trials, both in part)."),
        ("no", "possible", [], ["a study in animals or cells", "a cohort study"], 0,
         "Possibly not: both papers with a clear finding (a study in animals or cells and a cohort study) did not find "
         "that zeta lowers blood pressure."),
        ("mixed", "possible", ["a study"], ["a randomised trial"] * 2, 0,
         "Mixed: 1 paper (a study) finds that zeta lowers blood pressure, 2 papers (2 randomised trials) do not."),
        ("unclear", "possible", [], [], 2,
         "Unclear: from the 2 papers found on this, the judge cannot tell for sure whether zeta lowers blood pressure."),
    ],
)  # fmt: skip
def test_how_a_lead_is_said(verdict: Any, certainty: str, pro: list[str], contra: list[str], silent: int, text: str) -> None:
    turned = parse_question(QUESTION)
    assert turned is not None and write_verdict(QUESTION, turned, verdict, certainty, pro, contra, silent) == text


@pytest.mark.parametrize(
    ("label", "said"), [("neutral", "; one more is uncertain or mixed."), ("support", "(2 randomised trials).")]
)
def test_the_lead_counts_papers_that_are_uncertain(label: Any, said: str) -> None:
    papers = evidence("1", "support"), evidence("2", "support", label=label)
    verdict = write_verdict_sentence(QUESTION, ground(*papers), 3)
    assert verdict is not None and verdict.text.endswith(said)


def test_a_claim_that_is_no_english_is_not_repeated() -> None:
    unsound = YesNoQuestion("zeta frobnicate gout", sound=False)
    for verdict in ("yes", "no", "mixed", "unclear"):
        text = write_verdict("Does zeta frobnicate gout?", unsound, verdict, "sure", ["a study"], ["a study"], 1)
        assert "“Does zeta frobnicate gout?”" in text
        assert verdict != "mixed" or text.startswith("Mixed: 1 paper (a study) says yes to")
        assert "zeta frobnicate gout" not in text.replace("Does zeta frobnicate gout", "")


class Echo(WordReader):
    """Reads "did not" as a contradiction and "lower" or "prevent" as support, of the claim's subject alone; a paper is what its
    last sentence says."""

    def read_abstracts(self, claim: str, documents: Iterable[Abstract]) -> Iterator[Reading]:
        subject = claim.lower().split()[0]

        def judge(text: str) -> Verdict:
            if subject not in text.lower() or "said" in text:
                return SILENT
            if "did not" in text:
                return Verdict(0.05, 0.05, 0.9)
            return Verdict(0.9, 0.05, 0.05) if "lower" in text or "prevent" in text else SILENT

        for one in documents:
            own = [judge(text) for text in one.sentences]
            yield Reading(own[-1], tuple(own))


def reading_answerer(index: Index) -> Answerer:
    """Our own variant with a fake that reads papers."""
    return make_answerer(index, reader=Echo(), verdict={"grounding": "counterpoint"})


def answered(index: Index, question: str = QUESTION) -> Answer:
    return reading_answerer(index).answer(Topic("7", question))


def test_a_variant_that_reads_sentences_takes_no_number_of_papers(index: Index) -> None:
    answer = make_answerer(index, ScriptedGenerator(), verdict={"grounding": "v5", "papers": 8}).answer(Topic("7", QUESTION))
    assert answer.grounding is not None and answer.grounding.checked.sentences


def test_an_answer_begins_with_its_lead_and_counts_no_other_drug(index: Index) -> None:
    answer = answered(index)
    assert answer.verdict is not None and answer.verdict.outcome == "mixed"
    assert [one.document.pmid for one in (*answer.verdict.supporting, *answer.verdict.contradicting)] == ["1", "2"]
    assert answer.sentences[0].text.startswith("Mixed: 1 paper (a randomised trial) finds that zeta lowers blood pressure")
    assert {c.document.pmid for s in answer.sentences for c in s.citations} == {"1", "2"}
    # The answer leads with what paper 1 found: to that sentence the trial that did not is a contradiction.
    assert [(one.evidence.document.pmid, one.evidence.stance) for one in answer.conflicts] == [("2", "contradict")]
    verdict = answer.conflicts[0].evidence.verdict
    assert verdict is not None and verdict.contradict > verdict.support and verdict.label == "contradict"
    assert min(len(one.citations) for one in answer.sentences) >= 1
    assert answer.words <= 250


def test_reports_of_one_trial_are_one_study_in_the_lead() -> None:
    reports = [replace(evidence(pmid, "support"), trial="ZETA-1") for pmid in "567"]
    one = write_verdict_sentence(QUESTION, ground(*reports), 3)
    assert one is not None
    assert one.text.endswith(
        "zeta lowers blood pressure, by the one study with a clear finding (a randomised trial in 3 reports)."
    )
    two = write_verdict_sentence(QUESTION, ground(*reports, FOR, evidence("8", "contradict", CASE)), 3)
    assert two is not None
    assert "by 2 of 3 studies with a clear finding (a randomised trial in 3 reports and a randomised trial)" in two.text
    other = [replace(evidence(pmid, "support"), trial="ZETA-2") for pmid in ("10", "11", "12")]
    both = write_verdict_sentence(QUESTION, ground(*reports, *other), 3)
    assert both is not None
    assert "by both studies with a clear finding (2 randomised trials in 3 reports each)" in both.text
    assert "paper with a clear finding (a randomised trial)" in (write_verdict_sentence(QUESTION, ground(FOR), 3) or one).text


def test_what_was_checked_of_a_citation_is_said(index: Index) -> None:
    answer = answered(index)
    said = [describe_check(citation) for sentence in answer.sentences for citation in sentence.citations]
    assert all("stand" in one and "in the abstract; by the judge the paper, read as a whole," in one for one in said)
    first = answer.sentences[1].citations[0]
    assert "The words quoted stand in the abstract" in describe_check(first)
    moved = replace(first, sentence=replace(first.sentence, start=first.sentence.start + 1))
    assert describe_check(moved).startswith("The sentence was not found in the abstract")


def test_what_was_not_studied_is_declined_with_the_nearest_papers(index: Index) -> None:
    answer = answered(index, "Does theta lower blood pressure?")
    assert (answer.outcome, answer.sentences, answer.verdict) == ("too little", (), None)
    assert answer.note.startswith("Not studied here: none of the ")
    assert "whether theta lowers blood pressure." in answer.note
    assert "Nearest papers: “" in answer.note


def test_a_sentence_that_the_lead_and_another_cite_is_printed_once(index: Index, capsys: pytest.CaptureFixture[str]) -> None:
    answerer = reading_answerer(index)
    print_answer(AnswerResponse.of(answerer.answer(Topic("7", QUESTION)), answerer))
    evidence = " ".join(capsys.readouterr().out.partition("Evidence")[2].partition("Contradicting")[0].split())
    assert evidence.count("[1] “") == evidence.count("[2] “") == 1


@pytest.mark.parametrize(
    ("studies", "words"),
    [
        (["a randomised trial, in part"], "a randomised trial, in part"),
        (["a study", "a study, in part", "a cohort study"], "2 studies, 1 of them in part, and a cohort study"),
        (["a study, in part", "a study, in part"], "2 studies, both in part"),
    ],
)
def test_papers_that_found_so_in_part_are_counted_with_their_kind(studies: list[str], words: str) -> None:
    assert list_kinds(studies) == words
