"""Questions in other words than the papers use: a second look at papers on the subject, of which the reader must be sure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from generation.leads.question import YesNoQuestion, parse_question
from nli.decision.document import PLAIN
from nli.judges.judge import Abstract, Reading
from retrieval.core.values import Verdict
from service.answering.candidates import Candidates
from service.answering.reading import read_findings
from tests.helpers.fakes import WordJudge, make_index

QUESTION = "Does zeta help frightened sailors?"


def parse(question: str) -> YesNoQuestion:
    parsed = parse_question(question)
    assert parsed is not None
    return parsed


def test_a_second_look_takes_papers_on_the_subject_in_other_words(tmp_path: Path) -> None:
    papers = [
        {"pmid": "1", "title": "Zeta on board", "abstract": "CONCLUSIONS: Zeta eased unrest."},
        {"pmid": "2", "title": "Eta helps sailors", "abstract": "CONCLUSIONS: Eta helps frightened sailors."},
    ]
    candidates = Candidates(make_index(tmp_path, papers), QUESTION, parse(QUESTION), 0.34)
    assert candidates(["1", "2"]) == set()
    assert candidates.look_wider()
    assert candidates(["1", "2"]) == {"1"}, "the other paper lacks the subject"


def test_a_second_look_takes_no_paper_that_lacks_the_place_or_the_year(tmp_path: Path) -> None:
    question = "Did zeta calm the frightened sailors of Ruritania in 1894?"
    papers = [
        {"pmid": "1", "title": "Zeta on board", "abstract": "CONCLUSIONS: Zeta eased unrest."},
        {"pmid": "2", "title": "Zeta on Ruritanian ships, 1894", "abstract": "CONCLUSIONS: Zeta eased unrest."},
    ]
    candidates = Candidates(make_index(tmp_path, papers), question, parse(question), 0.34)
    assert candidates(["1", "2"]) == set()
    candidates.look_wider()
    assert candidates(["1", "2"]) == {"2"}


class Steady(WordJudge):
    """Gives every paper, and every sentence within it, one verdict; alone, a sentence says something else."""

    decision = PLAIN

    def __init__(self, within: Verdict, alone: Verdict) -> None:
        super().__init__()
        self.within, self.alone = within, alone

    def read_abstracts(self, claim: str, documents: Iterable[Abstract]) -> Iterator[Reading]:
        for one in documents:
            verdict = self.alone if len(one.sentences) == 1 else self.within
            yield Reading(verdict, tuple(verdict for _ in one.sentences))


SURE, LIKELY, SILENT = Verdict(0.95, 0.04, 0.01), Verdict(0.6, 0.3, 0.1), Verdict(0.1, 0.85, 0.05)


@pytest.mark.parametrize(
    ("within", "alone", "quoted"),
    [(SURE, LIKELY, True), (SURE, SILENT, False), (LIKELY, SURE, True), (LIKELY, LIKELY, False)],
)
def test_a_sentence_in_other_words_must_say_so_alone_the_more_clearly_the_less_sure_the_reader_is(
    tmp_path: Path, within: Verdict, alone: Verdict, quoted: bool
) -> None:
    abstract = "METHODS: Adults took it. RESULTS: Unrest eased with zeta in adults. CONCLUSIONS: Zeta eases unrest."
    index = make_index(tmp_path, [{"pmid": "1", "title": "On board", "abstract": abstract}])
    (found,) = read_findings(Steady(within, alone), QUESTION, parse(QUESTION), list(index.entries(["1"])))
    assert (found.sentence is not None) is quoted


@pytest.mark.parametrize(("title", "quoted"), [("Zeta plus eta on board", False), ("Zeta on board", True)])
def test_a_combination_named_in_the_title_alone_is_no_finding_on_one_treatment(tmp_path: Path, title: str, quoted: bool) -> None:
    question = "Does zeta alone help frightened sailors?"
    abstract = "METHODS: Adults took it. RESULTS: Unrest eased with zeta in adults. CONCLUSIONS: Zeta eases unrest."
    index = make_index(tmp_path, [{"pmid": "1", "title": title, "abstract": abstract}])
    (found,) = read_findings(Steady(SURE, LIKELY), question, parse(question), list(index.entries(["1"])))
    assert (found.sentence is not None) is quoted
