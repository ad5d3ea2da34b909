"""A choice: each side is a claim against the other, and the answer names the side that the papers are on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from counterpoint.nli.judge import Abstract, Reading
from counterpoint.retrieval.core.values import Answer, Topic, Verdict
from counterpoint.retrieval.index import Index
from tests.helpers.answer_fakes import make_answerer
from tests.helpers.fakes import SILENT, WordReader, make_index

TRIAL = ["Randomized Controlled Trial"]


class Preferring(WordReader):
    """Reads "x beat y" as support of what puts x first and against what puts y first, "did not differ" as against both."""

    def read_abstracts(self, claim: str, documents: Iterable[Abstract]) -> Iterator[Reading]:
        words = claim.lower().rstrip(".").split()

        def judge(text: str) -> Verdict:
            said = text.lower().rstrip(".").split()
            if not {said[0], said[2]} <= {*words} or "was" in said:
                return SILENT
            if said[1] in ("lowers", "raises"):
                return Verdict(0.9, 0.05, 0.05) if said[1] in words else Verdict(0.05, 0.05, 0.9)
            if "differ" in text:
                return Verdict(0.05, 0.05, 0.9)
            return Verdict(0.9, 0.05, 0.05) if words.index(said[0]) < words.index(said[2]) else Verdict(0.05, 0.05, 0.9)

        for one in documents:
            own = [judge(text) for text in one.sentences]
            yield Reading(own[-1], tuple(own))


def answer(folder: Any, findings: list[str], question: str = "Is zeta or eta better for gout?") -> Answer:
    papers = [
        {"pmid": str(at), "title": "Zeta and eta for gout: a randomised trial", "types": TRIAL, "abstract": text}
        for at, text in enumerate(findings, 1)
    ]
    papers += [{"pmid": f"x{at}", "title": "", "abstract": f"Filler number {at} on something else."} for at in range(9)]
    index: Index = make_index(folder, papers)
    return make_answerer(index, reader=Preferring(), verdict={"grounding": "counterpoint"}).answer(Topic("1", question))


FOR_ZETA, FOR_ETA, NEITHER = "Zeta beat eta for gout.", "Eta beat zeta for gout.", "Zeta and eta did not differ for gout."


@pytest.mark.parametrize(
    ("findings", "text", "verdict", "chosen", "cited"),
    [
        ([FOR_ZETA], "Zeta: zeta is better than eta for gout, by the one paper with a clear finding (a randomised trial).",
         "yes", "zeta", "1"),
        ([FOR_ETA, FOR_ETA], "Eta: eta is better than zeta for gout, by both papers with a clear finding (2 randomised trials).",
         "yes", "eta", "12"),
        ([NEITHER], "Probably no clear difference: the one paper with a clear finding (a randomised trial) did not find that "
         "zeta is better than eta for gout, or the reverse.", "no", "no difference", "1"),
        ([FOR_ETA, FOR_ETA, FOR_ETA, NEITHER],
         "Eta: eta is better than zeta for gout, by 3 of 4 papers with a clear finding (3 randomised trials).",
         "yes", "eta", "123"),
        ([FOR_ZETA, FOR_ETA, NEITHER],
         "Mixed: 1 paper (a randomised trial) finds that zeta is better than eta for gout, 1 paper (a randomised trial) finds "
         "that eta is better than zeta for gout, and 1 paper (a randomised trial) finds no clear difference.",
         "mixed", "", "123"),
    ],
)  # fmt: skip
def test_the_answer_names_the_side_that_the_papers_are_on(
    tmp_path: Any, findings: list[str], text: str, verdict: str, chosen: str, cited: str
) -> None:
    found = answer(tmp_path, findings)
    assert found.verdict is not None
    assert (found.sentences[0].text, found.verdict.outcome, found.verdict.chosen) == (text, verdict, chosen)
    assert sorted(one.document.pmid for one in found.sentences[0].citations) == list(cited)
    assert found.verdict.choice == ("zeta", "eta")


def test_every_paper_of_a_choice_is_counted_on_the_claim_of_the_answer(tmp_path: Any) -> None:
    found = answer(tmp_path, [FOR_ETA, FOR_ETA, FOR_ETA, FOR_ZETA, "Eta beat theta for gout."])
    verdict = found.verdict
    assert verdict is not None and verdict.claim == "eta is better than zeta for gout"
    assert sorted(one.document.pmid for one in verdict.supporting) == ["1", "2", "3"]
    assert sorted(one.document.pmid for one in verdict.contradicting) == ["4"]
    assert all(one.verdict and one.verdict.label == one.stance for one in (*verdict.supporting, *verdict.contradicting))


def test_opposites_are_each_a_claim_of_their_own(tmp_path: Any) -> None:
    found = answer(tmp_path, ["Zeta lowers gout in sailors."], "Does zeta raise or lower gout?")
    assert found.sentences[0].text == "Lower: zeta lowers gout, by the one paper with a clear finding (a randomised trial)."
    found = answer(tmp_path / "2", ["Zeta with gout did not differ."], "Does zeta raise or lower gout?")
    assert found.sentences[0].text == (
        "Probably neither: the one paper with a clear finding (a randomised trial) did not find that zeta raises or lowers gout."
    )


def test_papers_on_the_subject_that_settle_nothing_are_named(tmp_path: Any) -> None:
    found = answer(tmp_path, ["Zeta was compared with eta for gout in sailors."])
    assert (found.outcome, found.verdict) == ("too little", None)
    assert found.note.startswith("The papers found do not settle whether zeta or eta is better for gout.")
    assert "“Zeta and eta for gout: a randomised trial” (1)" in found.note


def test_a_paper_on_one_side_alone_has_not_compared_them(tmp_path: Any) -> None:
    found = answer(tmp_path, ["Sailors beat gout with zeta 50 mg."], "Is zeta 50 mg or 100 mg better for gout?")
    assert found.verdict is None or found.verdict.outcome == "unclear"


def test_a_choice_of_which_no_paper_speaks_was_not_studied(tmp_path: Any) -> None:
    found = answer(tmp_path, [FOR_ZETA], "Is yoga or massage better for migraine?")
    assert found.note.startswith("Not studied here: ")
    assert "whether yoga or massage is better for migraine" in found.note
